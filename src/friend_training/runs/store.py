"""The pseudo-label store: every unit of every iteration, with its scores and what became of it, as Parquet shards.

    store/iteration-001/shard-00000.parquet      one row per unit, task after task

While an iteration is under way its shards are called labelled-00000.parquet and have no decision columns yet.
The same rows give the same bytes: nothing in a file depends on time or place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from friend_training.core.selector import Decisions, FloatColumn, Scores
from friend_training.core.task import Prediction
from friend_training.errors import RunError
from friend_training.runs.files import atomic_file
from friend_training.runs.steps import Label, Select, Step

LABELLED = pa.schema(
    [
        pa.field("unit", pa.string(), nullable=False),
        pa.field("input", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),  # JSON, by the task's `label_type`
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("content", pa.bool_(), nullable=False),
        pa.field("kind", pa.string()),  # what sort of label it is; null: the label is its own kind
        pa.field("match", pa.float64()),  # over all friendships; null: nothing to match
        pa.field("matches", pa.map_(pa.string(), pa.float64()), nullable=False),  # friendship → score
        pa.field("correct", pa.bool_()),  # against hidden gold, where there is any: for diagnosis, never for selection
    ]
)
DECISIONS = pa.schema(
    [
        pa.field("overall", pa.float64()),  # null: rejected for want of a match
        pa.field("threshold", pa.float64()),  # null: chosen by no threshold
        pa.field("chosen", pa.bool_(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("weight", pa.float64(), nullable=False),
    ]
)
SELECTED = pa.unify_schemas([pa.schema(list(LABELLED)[:-1]), DECISIONS, pa.schema([LABELLED.field("correct")])])


class Digests(Protocol):
    """Knows what the shards of a store must be: the run that the store lies in."""

    def wrote(self, path: Path) -> None: ...

    def check(self, path: Path, step: Step) -> None: ...


class Store:
    """The store of one run. It holds no state but its folder; with digests, no damaged shard is read."""

    def __init__(self, folder: Path, digests: Digests | None = None) -> None:
        self.folder, self._digests = folder, digests

    def write_labelled(self, iteration: int, shard: int, rows: pa.Table) -> None:
        self._write(self._path(iteration, "labelled", shard), rows.cast(LABELLED))

    def labelled(self, iteration: int, shard: int, columns: list[str] | None = None) -> pa.Table:
        return _read(self._whole(self._path(iteration, "labelled", shard), Label(iteration, shard)), columns)

    def labelled_scores(
        self,
        iteration: int,
        shards: int,
        task: str,
        *,
        labels: bool = False,
        learned: Callable[[pa.Table], FloatColumn] | None = None,
    ) -> "LabelledScores":
        """What selection sees of a task's units: labels only if it balances them, P(right) only if it goes by it."""
        return LabelledScores(self, iteration, shards, task, labels, learned)

    def write_selected(self, iteration: int, shard: int, rows: pa.Table) -> None:
        self._write(self._path(iteration, "shard", shard), rows.select(SELECTED.names).cast(SELECTED))

    def selected(self, iteration: int, shard: int, columns: list[str] | None = None) -> pa.Table:
        return _read(self._whole(self._path(iteration, "shard", shard), Select(iteration)), columns)

    def discard_labelled(self, iteration: int) -> None:
        """Remove the shards without decisions, once selection has written those with them."""
        for path in self._folder(iteration).glob("labelled-*.parquet"):
            path.unlink()

    def iterations(self) -> list[int]:
        """The iterations whose selection is complete."""
        folders = [path for path in self.folder.glob("iteration-*") if any(path.glob("shard-*.parquet"))]
        return sorted(_number(path.name) for path in folders if not any(path.glob("labelled-*.parquet")))

    def shards(self, iteration: int) -> list[int]:
        return sorted(_number(path.stem) for path in self._folder(iteration).glob("shard-*.parquet"))

    def read(self, iteration: int, columns: list[str] | None = None) -> pa.Table:
        """A whole iteration, every task, chosen or not."""
        if not self.shards(iteration):
            raise RunError(f"{self.folder}: no iteration {iteration}; there are {self.iterations()}")
        return pa.concat_tables([self.selected(iteration, shard, columns) for shard in self.shards(iteration)])

    def chosen(self, iteration: int, shard: int, task: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The chosen rows of one task and shard, a batch at a time."""
        path = self._whole(self._path(iteration, "shard", shard), Select(iteration))
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=[*columns, "task", "chosen"]):
                yield batch.filter(pc.and_(batch["chosen"], pc.equal(batch["task"], task))).select(columns)

    def counts(self, iteration: int) -> dict[str, dict[str, int]]:
        """How many units of each task met which reason."""
        groups = self.read(iteration, ["task", "reason"]).group_by(["task", "reason"]).aggregate([([], "count_all")])
        counts: dict[str, dict[str, int]] = {}
        for row in groups.sort_by([("task", "ascending"), ("reason", "ascending")]).to_pylist():
            counts.setdefault(row["task"], {})[row["reason"]] = row["count_all"]
        return counts

    def _folder(self, iteration: int) -> Path:
        return self.folder / f"iteration-{iteration:03d}"

    def _path(self, iteration: int, kind: str, shard: int) -> Path:
        return self._folder(iteration) / f"{kind}-{shard:05d}.parquet"

    def _write(self, path: Path, rows: pa.Table) -> None:
        with atomic_file(path) as temporary:
            pq.write_table(rows.combine_chunks(), temporary, compression="zstd")
        if self._digests is not None:
            self._digests.wrote(path)

    def _whole(self, path: Path, step: Step) -> Path:
        """The shard that a step wrote, if it is there and not a bit of it has changed since."""
        if not path.is_file():
            raise RunError(f"{path}: this shard of the store is missing; the run is damaged")
        if self._digests is not None:
            self._digests.check(path, step)
        return path


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """The scores of one task, one shard in memory at a time; they can be gone over as often as a selector needs."""

    store: Store
    iteration: int
    shards: int
    task: str
    labels: bool
    learned: Callable[[pa.Table], FloatColumn] | None = None

    def __iter__(self) -> Iterator[Scores]:
        few = ["task", "unit", "confidence", "match", "content", *(["label", "kind"] if self.labels else [])]
        columns = few if self.learned is None else None
        for shard in range(self.shards):
            rows = self.store.labelled(self.iteration, shard, columns)
            yield scores_of(rows.filter(pc.equal(rows["task"], self.task)), labels=self.labels, learned=self.learned)


def scores_of(
    rows: pa.Table, *, labels: bool = False, learned: Callable[[pa.Table], FloatColumn] | None = None
) -> Scores:
    return Scores(
        unit=rows["unit"].to_pylist(),
        confidence=rows["confidence"].to_numpy(),
        match=rows["match"].to_numpy(),  # null → NaN
        content=rows["content"].to_numpy(),
        label=pc.coalesce(rows["kind"], rows["label"]).to_pylist() if labels else (),
        learned=None if learned is None else learned(rows),
    )


def predictions_of(
    rows: pa.Table, label_types: Mapping[str, Any], inputs: Sequence[str]
) -> dict[str, list[list[Prediction]]]:
    """What the tasks predicted, as it was: for each task the units of every input, in the order of `inputs`."""
    adapters = {task: TypeAdapter[Any](label_type) for task, label_type in label_types.items()}
    found: dict[str, dict[str, list[Prediction]]] = {task: {name: [] for name in inputs} for task in label_types}
    for row in rows.to_pylist():
        if row["task"] in found:
            label = adapters[row["task"]].validate_json(row["label"])
            prediction = Prediction(row["unit"], label, row["confidence"], row["content"], row.get("kind"))
            found[row["task"]][row["input"]].append(prediction)
    return {task: list(of_task.values()) for task, of_task in found.items()}


def with_decisions(rows: pa.Table, decisions: Decisions) -> pa.Table:
    for field in DECISIONS:
        column = getattr(decisions, field.name)
        rows = rows.append_column(
            field, nullable(column) if column.dtype == np.float64 else pa.array(column, field.type)
        )
    return rows


def nullable(column: np.ndarray) -> pa.Array:
    """NaN stands for "there is none" in columns of numbers, null in the store."""
    return pa.array(column, pa.float64(), from_pandas=True)


def _read(path: Path, columns: list[str] | None) -> pa.Table:
    with pq.ParquetFile(path) as file:
        return file.read(columns)


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))
