"""The pseudo-labels of one task and iteration, as columns: what every plot and count of the report is made from."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.diagnostics import error_correlation
from friend_training.core.picks import Reason
from friend_training.core.store import Store

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NUMBERS = ["task", "input", "confidence", "match", "overall", "threshold", "chosen", "reason", "correct"]
"""The columns of the store that are read for every iteration; the others only where examples are shown."""

SCORED = (Reason.CHOSEN, Reason.BELOW_THRESHOLD, Reason.BELOW_AGREEMENT, Reason.NOT_DRAWN)
"""Reasons of units whose scores decided, or could have: the others no threshold chooses or rejects."""


@dataclass(frozen=True, slots=True)
class Units:
    """NaN: nothing to match, no overall score, nobody knows whether it is right (`correct` is 1, 0 or NaN)."""

    task: str
    rows: pa.Table
    confidence: Floats
    match: Floats
    overall: Floats
    correct: Floats
    chosen: Bools
    candidate: Bools

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def audited(self) -> bool:
        return bool(np.isfinite(self.correct).any())

    @property
    def threshold(self) -> float | None:
        """The pick threshold, where all units were held against one and the same."""
        found = pc.unique(self.rows["threshold"].drop_null()).to_pylist()
        return float(found[0]) if len(found) == 1 else None

    @property
    def confidence_weight(self) -> float | None:
        """w of overall = w·confidence + (1 − w)·match, read off the scores; None where they leave it open."""
        apart = np.abs(self.confidence - self.match) > 0.05
        known = apart & np.isfinite(self.overall)
        if not known.any():
            return None
        weights = (self.overall - self.match)[known] / (self.confidence - self.match)[known]
        return float(np.median(weights))


def units_of(store: Store, iteration: int, *, whole: bool = False) -> dict[str, Units]:
    """By task, in the order of the store. `whole` has every column of the rows, labels too."""
    rows = store.read(iteration, None if whole else NUMBERS)
    tasks: list[str] = pc.unique(rows["task"]).to_pylist()
    return {task: _units(task, rows.filter(pc.equal(rows["task"], task))) for task in tasks}


def share_right(units: Units, among: Bools) -> float | None:
    """How many of some units are right, where that is known."""
    known = units.correct[among & np.isfinite(units.correct)]
    return float(known.mean()) if known.size else None


def total_agreement(units: Units) -> float | None:
    """The share of units on which the friends agree entirely, of those that had something to match."""
    matched = units.match[np.isfinite(units.match)]
    return float((matched == 1.0).mean()) if matched.size else None


def errors_together(first: Units, second: Units) -> float | None:
    """φ: how the errors of two tasks hang together. An input is right where all its known units are."""
    a, b = _right_by_input(first), _right_by_input(second)
    both = [name for name in a if name in b]
    found = error_correlation([a[name] for name in both], [b[name] for name in both])
    return None if found is None else found.phi


def _right_by_input(units: Units) -> dict[str, bool]:
    known = units.rows.select(["input", "correct"]).filter(pc.is_valid(units.rows["correct"]))
    grouped = known.group_by("input").aggregate([("correct", "all")])
    return dict(zip(grouped["input"].to_pylist(), grouped["correct_all"].to_pylist(), strict=True))


def _units(task: str, rows: pa.Table) -> Units:
    return Units(
        task=task,
        rows=rows,
        confidence=_floats(rows["confidence"]),
        match=_floats(rows["match"]),
        overall=_floats(rows["overall"]),
        correct=_floats(rows["correct"]),
        chosen=rows["chosen"].to_numpy(),
        candidate=pc.is_in(rows["reason"], pa.array([reason.value for reason in SCORED])).to_numpy(),
    )


def _floats(column: pa.ChunkedArray) -> Floats:
    """Null becomes NaN."""
    found: Floats = pc.cast(column, pa.float64()).to_numpy()
    return found
