"""The results of an experiment: one line per config, method and seed, and beside it what each test dialogue got right.

Lines also say how many seconds a result took, to estimate others by. A run's own records have no times in them: they
must be the same to the bit whenever the run is made.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from friend_training.core.files import atomic_file
from friend_training.errors import DataError

RESULTS, COUNTS = "results.jsonl", "counts"

Identity = tuple[str, str, int]
"""Config, method, seed."""


_OF_A_RUN = ("seed", "methods", "threads", "engine", "device")
"""Settings that may differ between the runs of one table."""


def settings_id(config: Mapping[str, Any]) -> str:
    """The same for all seeds of one config: results of different settings are never mixed in one table."""
    values = {name: value for name, value in config.items() if name not in _OF_A_RUN}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def read_results(folder: Path) -> list[dict[str, Any]]:
    path = folder / RESULTS
    if not path.is_file():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: byte {error.start} is not", path=path) from None
    return [_record(line, path, number) for number, line in enumerate(lines, start=1)]


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else "not to be read"
        raise DataError(f"broken JSON ({said}); expected one result per line", path=path, line=number) from None
    if not isinstance(record, dict) or not record.keys() >= {"config_id", "method", "seed"}:
        message = "expected a result with config_id, method and seed"
        raise DataError(message, path=path, line=number)
    return record


def done(folder: Path) -> set[Identity]:
    """Every result that is there."""
    return {(record["config_id"], record["method"], record["seed"]) for record in read_results(folder)}


def counts_path(folder: Path, identity: Identity) -> Path:
    return folder / COUNTS / f"{identity[0]}-{identity[1]}-{identity[2]}.npz"


def add_result(folder: Path, record: dict[str, Any], counts: Path) -> None:
    """Append a result and keep a copy of its counts, if it has some."""
    if counts.is_file():
        target = counts_path(folder, (record["config_id"], record["method"], record["seed"]))
        with atomic_file(target) as temporary:
            shutil.copyfile(counts, temporary)
    # One write of a whole line: runs side by side append to the same file.
    with (folder / RESULTS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")
