"""The pseudo-labels of a run in memory: their scores as columns, their labels only once they are asked for."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.selector import Decisions, Scores
from friend_training.core.store import DECISIONS, Store, scores_of
from friend_training.errors import RunError

SCORES = ["unit", "input", "task", "confidence", "content", "match", *DECISIONS.names, "correct"]
KEPT = 4
"""Iterations that stay in memory; a hundred thousand units take some tens of megabytes."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one task in one iteration. `rows` has every column but label and matches."""

    task: str
    iteration: int
    rows: pa.Table
    labels: pa.Table

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def scores(self) -> Scores:
        return scores_of(self.rows)

    @cached_property
    def correct(self) -> Floats:
        """1, 0, or NaN where nobody knows."""
        found: Floats = pc.cast(self.rows["correct"], pa.float64()).to_numpy()
        return found

    @cached_property
    def recorded(self) -> Decisions:
        """What the run decided."""
        columns = {name: self.rows[name].to_numpy(zero_copy_only=False) for name in DECISIONS.names}
        return Decisions(**columns | {"reason": columns["reason"].astype(str)})

    def place(self, unit: str) -> int:
        """The row of a unit, -1 if it is not there."""
        return int(pc.index(self.rows["unit"], unit).as_py())

    def of_input(self, name: str) -> list[int]:
        """The rows of an input's units, in the order of its predictions."""
        found: list[int] = np.flatnonzero(pc.equal(self.rows["input"], name).to_numpy()).tolist()
        return found


class UnitReader:
    """Reads the store, an iteration at a time. What a finished selection wrote never changes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = Lock()
        self._read = lru_cache(KEPT)(self._read_iteration)

    def iterations(self) -> list[int]:
        return self.store.iterations()

    def of_iteration(self, iteration: int) -> dict[str, Units]:
        """By task, in the order of the store."""
        if iteration not in self.iterations():
            raise RunError(f"there is no iteration {iteration}; there are {self.iterations()}")
        with self._lock:
            return self._read(iteration)

    def of(self, task: str, iteration: int) -> Units:
        found = self.of_iteration(iteration)
        if task not in found:
            raise RunError(f"there is no task {task!r} in iteration {iteration}; there are {', '.join(found)}")
        return found[task]

    def _read_iteration(self, iteration: int) -> dict[str, Units]:
        whole = self.store.read(iteration, [*SCORES, "label", "matches"])
        found = {}
        for task in pc.unique(whole["task"]).to_pylist():
            rows = whole.filter(pc.equal(whole["task"], task)).combine_chunks()
            found[task] = Units(task, iteration, rows.select(SCORES), rows.select(["label", "matches"]))
        return found
