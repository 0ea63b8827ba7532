"""The pseudo-labels of one task and iteration, as columns: what every plot and count of the report is made from."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from friend_training.analysis.agreement import error_correlation
from friend_training.core.selector import Reason
from friend_training.core.task import draws
from friend_training.report.label_text import Drawing, Piece, draw
from friend_training.runs.store import Store
from friend_training.tasks.label_text import label_line

Floats = npt.NDArray[np.float64]

Bools = npt.NDArray[np.bool_]


NUMBERS = ["task", "input", "confidence", "match", "overall", "threshold", "chosen", "reason", "correct"]
"""The columns of the store that are read for every iteration; the others only where examples are shown."""


SCORED = (
    Reason.CHOSEN,
    Reason.FILLS_QUOTA,
    Reason.QUOTA_FULL,
    Reason.BELOW_THRESHOLD,
    Reason.BELOW_AGREEMENT,
    Reason.NOT_DRAWN,
)
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


# Pseudo-labels to look at: some that were chosen, some that match kept out, some that confidence kept out.


COUNT = 20


MISSED = pa.array([Reason.BELOW_THRESHOLD.value, Reason.BELOW_AGREEMENT.value, Reason.QUOTA_FULL.value])
"""Why units are rejected that could have been chosen, had their scores been better."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row of the store, and the label drawn with its text. `gold` is the hidden answer where the label is wrong;
    `friends` are what other tasks predicted for the same input, each as (task, label in words)."""

    row: Mapping[str, Any]
    drawing: Drawing
    gold: tuple[Piece, ...] = ()
    friends: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """Some units of one kind: how many there are, and which rows are shown."""

    name: str
    explanation: str
    total: int
    rows: tuple[Mapping[str, Any], ...]


def kinds_of(units: Units, *, count: int = COUNT) -> list[Kind]:
    """A unit that was not chosen is rejected by whichever of its scores is lower.

    They are drawn by a hash of the unit, not picked for their scores: a fair sample, the same whenever it is drawn.
    Labels that say something come first.
    """
    missed = pc.is_in(units.rows["reason"], MISSED).to_numpy()
    by_match = missed & (units.match < units.confidence)
    right, wrong = units.correct == 1, units.correct == 0
    audited = (
        ("chosen, but wrong", "Wrong labels that the next model was trained on.", units.chosen & wrong),
        ("rejected, though right", "What a better score would have added.", missed & right),
    )
    found = (
        *(audited if units.audited else ()),
        ("chosen", "What the next model was trained on.", units.chosen),
        ("rejected by match", "The model is surer of these than its friend agrees with them.", by_match),
        ("rejected by confidence", "The friend agrees more than the model is sure of them.", missed & ~by_match),
    )
    return [Kind(name, words, int(among.sum()), _some(units, among, count)) for name, words, among in found]


def examples_of(
    kind: Kind, inputs: Mapping[str, str], gold: Mapping[str, str], friends: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[Example]:
    """`gold` is by unit; `friends` are the labels of other tasks, by task and input."""
    found = []
    for row in kind.rows:
        given = json.loads(inputs[row["input"]]) if row["input"] in inputs else None
        answer: tuple[Piece, ...] = ()
        if row["correct"] is False and row["unit"] in gold:
            answer = draw(json.loads(gold[row["unit"]]), given).answer
        told = tuple(
            (task, label_line(json.loads(label), given))
            for task, labels in friends.items()
            for label in labels.get(row["input"], ())
        )
        found.append(Example(row, draw(json.loads(row["label"]), given), answer, told))
    return found


MOST_ANSWERS = 3
"""A dialogue may have many predicates: so many labels of a friend are shown beside one of ours."""


def labels_by_input(units: Units, wanted: Collection[str]) -> dict[str, list[str]]:
    """What a task predicted for these inputs."""
    rows = units.rows.select(["input", "label"]).filter(
        pc.is_in(units.rows["input"], pa.array(sorted(wanted), pa.string()))
    )
    found: dict[str, list[str]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["input"], []).append(row["label"])
    return {name: labels[:MOST_ANSWERS] for name, labels in found.items()}


def _some(units: Units, among: Bools, count: int) -> tuple[Mapping[str, Any], ...]:
    rows = units.rows.filter(pa.array(among))
    if not len(rows):
        return ()
    order = np.lexsort((draws(rows["unit"].to_pylist(), "example"), ~rows["content"].to_numpy()))[:count]
    return tuple(rows.take(order).to_pylist())


# What every other pick threshold would have done: how many units it chooses, and how many of those are right.


GRID = tuple(round(0.05 * step, 2) for step in range(21))


@dataclass(frozen=True, slots=True)
class Effect:
    """The units whose overall score reaches `threshold`; `precision` is None where nobody knows."""

    threshold: float
    chosen: int
    precision: float | None


def effects(units: Units, thresholds: Sequence[float]) -> list[Effect]:
    """Labels without content, say, stay out at any threshold, and what was chosen by hand stays in."""
    possible = units.candidate & np.isfinite(units.overall)
    by_hand = units.chosen & ~units.candidate
    found = []
    for threshold in thresholds:
        reached = by_hand | possible & (units.overall >= threshold)
        found.append(Effect(threshold, int(reached.sum()), share_right(units, reached)))
    return found


def grid_with(*thresholds: float | None) -> list[float]:
    """The thresholds to show: every 0.05, and those that were used."""
    return sorted({*GRID, *(threshold for threshold in thresholds if threshold is not None)})
