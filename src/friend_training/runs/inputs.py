"""What a reader wants to see beside the store: the pool's texts, gold labels, and what was right in each test example.

    inputs.parquet   id, input: the input as JSON, in the order of the pool
    gold.parquet     task, label: the label as JSON, written as the store writes labels; unit: null for what tasks are
                     trained on, else the unit of the pool whose hidden gold this is
    counts.npz       for each task a row of counts per test example: the material of significance tests

The store knows inputs by their ids only. With these files a run explains itself where its data are gone, or would
take minutes to be read and parsed again. Gold is written first: where the inputs are, all is there.
"""

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from friend_training.core.task import Counts, Input
from friend_training.errors import RunError
from friend_training.runs.run import check_file, recorded_file

INPUTS, GOLD = "inputs.parquet", "gold.parquet"
AT_A_TIME = 10_000


def save_inputs(folder: Path, inputs: Iterable[Input]) -> None:
    """Inputs are dataclasses, or whatever else pydantic can write as JSON. They are written as they come."""
    schema = pa.schema([("id", pa.string()), ("input", pa.string())])
    with recorded_file(folder / INPUTS) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        rest = iter(inputs)
        while batch := list(islice(rest, AT_A_TIME)):
            writer.write_table(pa.table([[given.id for given in batch], _json(batch)], schema=schema))


def save_gold(
    folder: Path, labels: Mapping[str, Sequence[Any]], hidden: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """The gold labels that each task was trained on, which those chosen should look like; and, where there are any,
    the hidden ones of the pool by task and unit, which its predictions are checked against."""
    rows: list[tuple[str, str | None, Any]] = [(task, None, one) for task, found in labels.items() for one in found]
    rows += [(task, unit, one) for task, found in (hidden or {}).items() for unit, one in found.items()]
    written = {"task": [row[0] for row in rows], "label": _json(row[2] for row in rows)}
    _write(folder / GOLD, written | {"unit": [row[1] for row in rows]})


def has_inputs(folder: Path) -> bool:
    return (folder / INPUTS).is_file()


def has_gold(folder: Path) -> bool:
    return (folder / GOLD).is_file()


def saved_inputs(folder: Path, ids: Iterable[str]) -> dict[str, str]:
    """The JSON of these inputs, as far as the run has saved them."""
    wanted = sorted(set(ids))
    if not has_inputs(folder) or not wanted:
        return {}
    rows = _read(folder / INPUTS, ("id", "input"), ("id", "in", wanted))
    return dict(zip(rows["id"].to_pylist(), rows["input"].to_pylist(), strict=True))


def all_inputs(folder: Path) -> pa.Table:
    """Every input of the pool: the columns id and input."""
    return _read(folder / INPUTS, ("id", "input"))


def first_inputs(folder: Path, count: int) -> list[str]:
    """The JSON of the first inputs of the pool; no more of a large file is held in memory."""
    with _explained(folder / INPUTS, ("input",)), pq.ParquetFile(folder / INPUTS) as file:
        batch = next(file.iter_batches(count, columns=["input"]), None)
        first: list[str] = [] if batch is None else batch["input"].to_pylist()
        return first


def saved_gold(folder: Path, task: str) -> list[str]:
    """The JSON of a task's gold labels, as far as the run has saved them."""
    if not has_gold(folder):
        return []
    rows = _read(folder / GOLD, _columns_of_gold(folder), ("task", "=", task))
    labels: list[str] = (rows.filter(rows["unit"].is_null()) if "unit" in rows.column_names else rows)[
        "label"
    ].to_pylist()
    return labels


def hidden_labels(folder: Path, task: str) -> dict[str, str]:
    """The JSON of the hidden gold labels of the pool, by unit; runs of earlier versions did not save them."""
    if not has_gold(folder) or "unit" not in _columns_of_gold(folder):
        return {}
    rows = _read(folder / GOLD, ("task", "label", "unit"), ("task", "=", task))
    rows = rows.filter(rows["unit"].is_valid())
    return dict(zip(rows["unit"].to_pylist(), rows["label"].to_pylist(), strict=True))


def _columns_of_gold(folder: Path) -> tuple[str, ...]:
    path = folder / GOLD
    with _explained(path, ("task", "label")):
        there = pq.read_schema(path).names
    return ("task", "label", *(["unit"] if "unit" in there else []))


def _read(path: Path, columns: tuple[str, ...], wanted: tuple[str, str, Any] | None = None) -> pa.Table:
    with _explained(path, columns):
        return pq.read_table(path, columns=list(columns), filters=None if wanted is None else [wanted])


@contextmanager
def _explained(path: Path, columns: tuple[str, ...]) -> Iterator[None]:
    """A file that we wrote whole: if it cannot be read, or has other bytes, somebody else damaged it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise RunError(f"{path}: expected the columns {' and '.join(columns)}; it is damaged ({reason})") from error
    check_file(path)


def _json(values: Iterable[Any]) -> list[str]:
    adapters: dict[type[Any], TypeAdapter[Any]] = {}
    written = []
    for value in values:
        if type(value) not in adapters:
            adapters[type(value)] = TypeAdapter(type(value))
        written.append(adapters[type(value)].dump_json(value, exclude_none=True).decode())
    return written


def _write(path: Path, columns: Mapping[str, Sequence[str | None]]) -> None:
    with recorded_file(path) as temporary:
        pq.write_table(pa.table({name: pa.array(c, pa.string()) for name, c in columns.items()}), temporary)


COUNTS = "counts.npz"

_DAMAGED = (
    *(ValueError, EOFError, KeyError, AttributeError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""The errors of NumPy, and of the archive under it, for a file that is not what was written."""


def add_counts(run: Path, task: str, counts: Counts) -> None:
    """Save the counts of one task beside those of the others."""
    before = load_counts(run / COUNTS) if (run / COUNTS).is_file() else {}
    save_counts(run / COUNTS, before | {task: counts})


def save_counts(path: Path, counts: dict[str, Counts]) -> None:
    with recorded_file(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **{task: values.astype(np.float32) for task, values in counts.items()})  # type: ignore[arg-type]


def load_counts(path: Path) -> dict[str, Counts]:
    try:
        with np.load(path, allow_pickle=False) as found:
            counts = {task: found[task].astype(np.float64) for task in found.files}
    except (OSError, *_DAMAGED) as error:
        raise RunError(f"{path}: expected the counts of a result; it is damaged ({error})") from error
    check_file(path)
    return counts
