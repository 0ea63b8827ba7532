"""What a reader wants to see beside the store: the texts of the pool and the gold labels, saved in the run folder.

    inputs.parquet   id, input: the input as JSON
    gold.parquet     task, label: the label as JSON, written as the store writes labels

The store knows inputs by their ids only. With these two files a run explains itself where its data are gone, or would
take minutes to be read and parsed again.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from friend_training.core.task import Input
from friend_training.errors import RunError
from friend_training.runs.manifest import check_file, recorded_file

INPUTS, GOLD = "inputs.parquet", "gold.parquet"
AT_A_TIME = 10_000


def save_inputs(folder: Path, inputs: Iterable[Input]) -> None:
    """Inputs are dataclasses, or whatever else pydantic can write as JSON. They are written as they come."""
    schema = pa.schema([("id", pa.string()), ("input", pa.string())])
    with recorded_file(folder / INPUTS) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        rest = iter(inputs)
        while batch := list(islice(rest, AT_A_TIME)):
            writer.write_table(pa.table([[given.id for given in batch], _json(batch)], schema=schema))


def save_gold(folder: Path, labels: Mapping[str, Sequence[Any]]) -> None:
    """The gold labels that each task was trained on: what is chosen should look like them."""
    names = [task for task, of_task in labels.items() for _ in of_task]
    _write(folder / GOLD, {"task": names, "label": _json(label for of_task in labels.values() for label in of_task)})


def is_saved(folder: Path) -> bool:
    return (folder / INPUTS).is_file() and (folder / GOLD).is_file()


def saved_inputs(folder: Path, ids: Iterable[str]) -> dict[str, str]:
    """The JSON of these inputs, as far as the run has saved them."""
    wanted = sorted(set(ids))
    if not (folder / INPUTS).is_file() or not wanted:
        return {}
    rows = _read(folder / INPUTS, ("id", "input"), ("id", "in", wanted))
    return dict(zip(rows["id"].to_pylist(), rows["input"].to_pylist(), strict=True))


def saved_gold(folder: Path, task: str) -> list[str]:
    """The JSON of a task's gold labels, as far as the run has saved them."""
    if not (folder / GOLD).is_file():
        return []
    labels: list[str] = _read(folder / GOLD, ("task", "label"), ("task", "=", task))["label"].to_pylist()
    return labels


def _read(path: Path, columns: tuple[str, ...], wanted: tuple[str, str, Any]) -> pa.Table:
    try:
        found = pq.read_table(path, columns=list(columns), filters=[wanted])
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise RunError(f"{path}: expected the columns {' and '.join(columns)}; it is damaged ({reason})") from error
    check_file(path)
    return found


def _json(values: Iterable[Any]) -> list[str]:
    adapters: dict[type[Any], TypeAdapter[Any]] = {}
    written = []
    for value in values:
        if type(value) not in adapters:
            adapters[type(value)] = TypeAdapter(type(value))
        written.append(adapters[type(value)].dump_json(value, exclude_none=True).decode())
    return written


def _write(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    with recorded_file(path) as temporary:
        pq.write_table(pa.table({name: pa.array(c, pa.string()) for name, c in columns.items()}), temporary)
