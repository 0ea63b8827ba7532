"""What a run folder holds, read from its files alone: the library may be rebuilt around it.

A content is a digest (the same bytes have the same one) and a few numbers that differ little between machines.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as parquet
from safetensors.numpy import load_file


class Content(NamedTuple):
    """`numbers` are for machines whose arithmetic is another: rows, shapes and means, not every value."""

    digest: str
    numbers: dict[str, float]


def contents(folder: Path) -> dict[str, Content]:
    """Weights, columns of the store, metrics, scores and counts of a run, and of the runs of methods inside it."""
    return dict(sorted(_contents(folder)))


def _contents(folder: Path) -> Iterator[tuple[str, Content]]:
    for path in sorted(folder.rglob("*.safetensors")):
        yield _name(path, folder), _tensors(load_file(path))
    for path in sorted(folder.rglob("*.npy")):
        yield _name(path, folder), _tensors({"": np.load(path)})
    for path in sorted(folder.rglob("counts.npz")):
        with np.load(path) as arrays:
            shapes = {f"{name} values": float(arrays[name].size) for name in arrays.files}
            yield _name(path, folder), Content(_tensors(dict(arrays)).digest, shapes)
    for path in sorted(folder.rglob("metrics.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            name = f"{_name(path, folder)} {row['task']} {row['iteration']} {row['split']}"
            yield name, Content(_digest(row["metrics"]), dict.fromkeys(row["metrics"], 1.0))
    for path in sorted(folder.rglob("results.jsonl")):
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for part in sorted(record.keys() - {"config", "method", "seed"}):
                yield f"{_name(path, folder)} {record['method']} {part}", Content(_digest(record[part]), {})
    for store in sorted({path.parent for path in folder.rglob("shard-*.parquet")}):
        shards = [parquet.read_table(path) for path in sorted(store.glob("shard-*.parquet"))]
        for column in shards[0].column_names:
            values = [value for shard in shards for value in shard.column(column).to_pylist()]
            yield f"{_name(store, folder)} {column}", _column(values)


def step_files(folder: Path) -> dict[str, list[str]]:
    """The names of the files that say which steps are done, by the folder of the run."""
    places = sorted({path.parent for path in folder.rglob("phases/*.json")})
    return {_name(place, folder): sorted(path.name for path in place.glob("*.json")) for place in places}


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _tensors(state: dict[str, np.ndarray]) -> Content:
    whole = hashlib.sha256()
    for name in sorted(state):
        whole.update(f"{name} {state[name].dtype} {state[name].shape} ".encode())
        whole.update(np.ascontiguousarray(state[name]).tobytes())
    values = np.concatenate([np.abs(array.astype(float)).ravel() for array in state.values()])
    return Content(whole.hexdigest()[:16], {"values": float(values.size), "mean size": float(values.mean())})


def _column(values: list[Any]) -> Content:
    numbers = [value for value in values if isinstance(value, float)]
    found = {"rows": float(len(values))}
    if numbers:
        found["mean"] = float(np.mean(numbers))
    return Content(_digest(values), found)
