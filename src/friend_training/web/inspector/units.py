"""The pseudo-labels of a run in memory: their scores as columns, their labels only once they are asked for."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.selector import Decisions, Scores
from friend_training.errors import FriendTrainingError, RunError
from friend_training.runs.inputs import INPUTS, all_inputs, has_inputs
from friend_training.runs.store import DECISIONS, Store, scores_of

# The texts that the pseudo-labels are about. The store knows them by their ids, runs/inputs.py reads them.
#
# A run that was made before texts were saved, or is not that far yet, has its data read again, once, in the background:
# the page is there meanwhile, without texts.


MakeInputs = Callable[[], None]
"""Writes inputs.parquet into the study's folder."""


class Texts:
    """The inputs of a pool by id. `state` is "ready", "reading", or why there are none."""

    def __init__(self, study: Path, make: MakeInputs | None = None) -> None:
        self.study = study
        self.state = "reading"
        self._ids, self._inputs, self._texts = (pa.array([], pa.string()) for _ in range(3))
        self._places: dict[str, int] = {}
        self._thread = Thread(target=self._make_and_read, args=(make,), daemon=True)
        if has_inputs(study):
            self._read()
        elif make is not None:
            self._thread.start()
        else:
            self.state = f"this run keeps no texts: it has no {INPUTS}"

    def get(self, name: str) -> dict[str, Any] | None:
        """An input as JSON says it, or None while, or where, it is not known."""
        place = self._places.get(name)
        if place is None:
            return None
        found: dict[str, Any] = json.loads(self._inputs[place].as_py())
        return found

    def containing(self, search: str) -> pa.Array:
        """The ids of the inputs whose text has these characters, upper case or lower."""
        return self._ids.filter(pc.match_substring(self._texts, search, ignore_case=True))

    def wait(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def _make_and_read(self, make: MakeInputs) -> None:
        try:
            make()
            self._read()
        except (FriendTrainingError, OSError) as error:
            self.state = f"the texts of this run cannot be read: {error}"

    def _read(self) -> None:
        table = all_inputs(self.study)
        self._inputs = table["input"].combine_chunks()
        self._texts = pa.array((text_of(json.loads(given)) for given in self._inputs.to_pylist()), pa.string())
        self._ids = table["id"].combine_chunks()
        self._places = {name: row for row, name in enumerate(self._ids.to_pylist())}
        self.state = "ready"


def text_of(given: dict[str, Any]) -> str:
    """What of an input can be searched: turns line by line, or words with spaces between them."""
    if "turns" in given:
        return "\n".join(turn["text"] for turn in given["turns"])
    if "words" in given:
        return " ".join(given["words"])
    return str(given.get("text", ""))


def utterances(texts: Texts, names: Iterable[str]) -> list[str | None]:
    """What a list shows of each input: the last turn, or the sentence."""
    found: list[str | None] = []
    for name in names:
        given = texts.get(name)
        found.append(None if given is None else given["turns"][-1]["text"] if "turns" in given else text_of(given))
    return found


SCORES = ["unit", "input", "task", "confidence", "content", "kind", "match", *DECISIONS.names, "correct"]

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
