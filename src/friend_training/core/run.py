"""The run folder: everything one run is, on disk. It can be stopped anywhere and opened again.

run.json            the version of this layout
config.yaml         the config, as given
fingerprints.json   the data it was made from
environment.json    python, packages, platform, cores
phases/             one file per finished phase: its result, seconds and peak memory
checkpoints/        <task>/iteration-000/ …
store/              pseudo-labels (see store.py)
set-aside/          inputs of the pool that could not be read, with the reason
corrections.jsonl   what people said of pseudo-labels, if they did (see corrections.py)
metrics.jsonl       every evaluation; no times in it, so that equal runs have equal bytes
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from friend_training.core.environment import environment, peak_memory_mb
from friend_training.core.files import atomic_folder, explain_full_disk, write_text
from friend_training.core.processes import is_first, wait_until
from friend_training.core.store import Store
from friend_training.errors import RunError

FORMAT = 1
"""Goes up whenever a run folder of before can no longer be read or resumed."""


class Run:
    """A run folder. `create` makes one, `open` finds one; only `locked` and what happens inside it writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "store")

    @classmethod
    def create(cls, folder: Path, config_text: str, fingerprints: Mapping[str, str]) -> "Run":
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunError(f"{folder} is already there; `friend-train resume {folder}`, or choose another folder")
        with explain_full_disk(folder), atomic_folder(folder) as new:
            for name in ("phases", "checkpoints", "store"):
                (new / name).mkdir()
            (new / "config.yaml").write_text(config_text, encoding="utf-8")
            (new / "fingerprints.json").write_text(_json(dict(fingerprints)), encoding="utf-8")
            (new / "environment.json").write_text(_json(environment()), encoding="utf-8")
            (new / "run.json").write_text(_json({"format": FORMAT}), encoding="utf-8")
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> "Run":
        version = folder / "run.json"
        if not version.is_file():
            raise RunError(f"{folder} is not a run folder: it has no run.json")
        found = _read(version, "the format of the run folder").get("format")
        if found is None:
            raise RunError(f"{version}: expected JSON with the format of the run folder; it is damaged")
        if found != FORMAT:
            raise RunError(f"{folder}: run folder of another version: format {found}, this program reads {FORMAT}")
        return cls(folder)

    @property
    def config_text(self) -> str:
        path = self.folder / "config.yaml"
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise RunError(f"{path}: expected the config of the run as UTF-8 text; it is damaged") from None

    @property
    def fingerprints(self) -> dict[str, str]:
        return _read(self.folder / "fingerprints.json", "a fingerprint for each part of the data")

    def check_fingerprints(self, now: Mapping[str, str]) -> None:
        """A resumed run must see the data it began with."""
        for name, before in self.fingerprints.items():
            if now.get(name) != before:
                raise RunError(f"{self.folder} was made from other data: {name} was {before}, is {now.get(name)}")

    def checkpoint(self, task: str, iteration: int) -> Path:
        return self.folder / "checkpoints" / task / f"iteration-{iteration:03d}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process writes a run. The system frees the lock of a process that died, however it died."""
        if not is_first():
            yield
            return
        path = self.folder / "lock"
        with path.open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise RunError(f"{self.folder} is being written by process {file.read().strip() or '?'}") from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)

    def phase(self, name: str, work: Callable[[], Mapping[str, Any]], *, together: bool = False) -> dict[str, Any]:
        """Do a piece of work once: what a finished phase returned is read from disk ever after.

        A phase that is stopped half-way leaves no trace here and is done again from its beginning. Of several processes
        the first does it and writes it down; where all must do it `together` (training), all do.
        """
        done = self.result(name)
        if done is not None:
            return done
        if not is_first():
            if together:
                work()
            wait_until(lambda: self.result(name) is not None)
            return self.require(name)
        began = time.perf_counter()
        with explain_full_disk(self.folder):
            record: dict[str, Any] = {"phase": name, "result": dict(work())}
            record |= {"seconds": round(time.perf_counter() - began, 3), "peak_memory_mb": peak_memory_mb()}
            text = _json(record)
            write_text(self._phase_path(name), text)
        result: dict[str, Any] = json.loads(text)["result"]
        return result

    def result(self, name: str) -> dict[str, Any] | None:
        """What a phase returned, or None while it is not finished."""
        path = self._phase_path(name)
        if not path.is_file():
            return None
        result: Any = _read(path, "the result of a phase").get("result")
        if not isinstance(result, dict):
            raise RunError(f"{path}: expected the result of a phase; it is damaged")
        return result

    def require(self, name: str) -> dict[str, Any]:
        """What a phase returned that must be finished by now."""
        result = self.result(name)
        if result is None:
            raise RunError(f"{self.folder}: {name} is not done yet; `friend-train resume {self.folder}`")
        return result

    def write_metrics(self) -> None:
        """Gather `metrics` of all finished evaluations: dev by iteration, then test."""
        if not is_first():
            return
        paths = [*self.folder.glob("phases/evaluate-*.json"), *self.folder.glob("phases/test-*.json")]
        rows = [row for path in paths for row in self.require(path.stem)["metrics"]]
        rows.sort(key=lambda row: (row["split"] != "dev", row["iteration"], row["task"], row["split"]))
        with explain_full_disk(self.folder):
            lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows]
            write_text(self.folder / "metrics.jsonl", "".join(lines))

    def _phase_path(self, name: str) -> Path:
        return self.folder / "phases" / f"{name}.json"


def _read(path: Path, expected: str) -> dict[str, Any]:
    """A file that we wrote whole: if it is not JSON, somebody else damaged it."""
    try:
        found: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RunError(f"{path}: expected JSON with {expected}; it is damaged")
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
