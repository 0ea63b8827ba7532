"""The run folder: everything one run is, on disk. It can be stopped anywhere and opened again.

run.json            the version of this layout
manifest.json       files: the digests of what lies in the run folder itself; config: the text of config.yaml
config.yaml         the config, as given
fingerprints.json   the data it was made from
environment.json    python, packages, platform, cores; in a study also the devices that computed
phases/             one file per finished step: its result, seconds, peak memory, and the digests of what it wrote
checkpoints/        <task>/iteration-000/ …
store/              pseudo-labels (see store.py)
set-aside/          inputs of the pool that could not be read, with the reason
corrections.jsonl   what people decided about pseudo-labels (see corrections.py)
metrics.jsonl       every evaluation; no times in it, so that equal runs have equal bytes
lock, writer        while a process writes the run: its lock, and the number of the process

What a step writes (shards of the store, checkpoints, encoder, bridge) has its digest in the record of the step; a
record, like the manifest, has its own digest in it. Before a file is replaced, the manifest has the digests of both,
and afterwards of the new one alone: a process may be killed at any time, and its run is still what its manifest says.
"""

import hashlib
import json
import logging
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from friend_training.errors import ConfigError, RunError
from friend_training.runs.files import (
    atomic_file,
    atomic_folder,
    explain_full_disk,
    is_first,
    read_json_object,
    standing,
    wait_until,
    write_text,
)
from friend_training.runs.steps import Evaluate, Step, Test, Train, done_by_all, parse_step
from friend_training.runs.store import Store

MANIFEST, CONFIG, _RUN = "manifest.json", "config.yaml", "run.json"

DIGEST = "sha256"
"""The key of a record's own digest, and the name of the digest that runs are made with."""

_log = logging.getLogger("friend_training")
_warned: set[Path] = set()


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, DIGEST).hexdigest()


def with_digest(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record that says what it must be."""
    return {**record, DIGEST: _record_digest(record)}


def has_its_digest(record: Mapping[str, Any]) -> bool:
    return bool(record.get(DIGEST) == _record_digest(record))


def begin_manifest(folder: Path) -> None:
    """Of a run folder that is complete and that nobody else has seen yet."""
    there = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in (MANIFEST, CONFIG, _RUN))
    files = {path.name: [file_digest(path)] for path in there}
    _write_manifest(folder, {"files": files, "config": [(folder / CONFIG).read_text(encoding="utf-8")]})


@contextmanager
def recorded_file(path: Path) -> Iterator[Path]:
    """`atomic_file` for a file of the run folder itself: the manifest knows it. Elsewhere it is `atomic_file`."""
    with atomic_file(path) as temporary:
        yield temporary
        new = file_digest(temporary)
        _expect_digests(path, {*_read_manifest(path.parent)["files"].get(path.name, ()), new})
    _expect_digests(path, {new})


def write_recorded(path: Path, text: str) -> None:
    with recorded_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def check_file(path: Path) -> None:
    """Refuse a file of the run folder itself that is not, to the bit, what the run wrote."""
    expected = _read_manifest(path.parent)["files"].get(path.name)
    if expected is None or not path.is_file() or file_digest(path) in expected:
        return
    raise damaged(path, path.parent)


def damaged(path: Path, run: Path) -> RunError:
    return RunError(
        f"{path}: expected the bytes that the run wrote; it is damaged"
        f" (`friend-train verify {run}` says what can be made again)"
    )


def files_on_record(folder: Path) -> list[str]:
    """The names of the files of the run folder itself that the manifest knows."""
    return list(_read_manifest(folder)["files"])


def config_texts(folder: Path) -> list[str]:
    """The text that config.yaml has had since the run was begun; two while it is being replaced, none if unknown."""
    found: list[str] = _read_manifest(folder)["config"]
    return found


def write_config(folder: Path, text: str) -> None:
    """The run itself changes its config."""
    known = _read_manifest(folder)
    if known["config"]:
        _write_manifest(folder, {**known, "config": [(folder / CONFIG).read_text(encoding="utf-8"), text]})
    write_text(folder / CONFIG, text)
    if known["config"]:
        _write_manifest(folder, {**known, "config": [text]})


def check_manifest(folder: Path, *, has_digests: bool) -> None:
    """When a run is opened: one of before there were digests is read with a warning."""
    if has_digests:
        if not (folder / MANIFEST).is_file():
            raise RunError(f"{folder}: its {MANIFEST} is missing; the run is damaged")
        _read_manifest(folder)
        return
    place = folder.resolve()
    if _warned.isdisjoint((place, *place.parents)):
        _warned.add(place)
        _log.warning("%s was made before runs had digests: damage to its files may go unnoticed", folder)


def _expect_digests(path: Path, digests: set[str]) -> None:
    known = _read_manifest(path.parent)
    if known["config"]:
        _write_manifest(path.parent, {**known, "files": {**known["files"], path.name: sorted(digests)}})


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; an empty one where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return {"files": {}, "config": []}
    found = read_json_object(path, "the digests of the run's files")
    if not has_its_digest(found):
        raise RunError(f"{path}: expected the digests of the run's files; it is damaged")
    return found


def _write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    plain = {"files": dict(sorted(content["files"].items())), "config": content["config"]}
    write_text(folder / MANIFEST, json.dumps(with_digest(plain), ensure_ascii=False, indent=1) + "\n")


def _record_digest(record: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in record.items() if name != DIGEST}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def environment() -> dict[str, Any]:
    """What a run was made with: enough to make it again, nothing that tells whose machine it was."""
    # A package that is being installed at this moment, or whose removal was cut off, has no name: it is left out.
    named = (found for found in distributions() if found.metadata["Name"] is not None)
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": dict(sorted((found.name, str(found.version)) for found in named)),
    }


def peak_memory_mb() -> float | None:
    """The most memory this process has held so far; None where Python does not tell (on Windows)."""
    if find_spec("resource") is None:
        return None
    resource = import_module("resource")
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)  # bytes there, kilobytes elsewhere


FORMAT = 1
"""Goes up whenever a run folder of before can no longer be read or resumed."""


def runs_below(folder: Path) -> list[Path]:
    """The runs that stand in a folder which is none itself, such as those of FriendTrainer, one for each seed."""
    if (folder / "run.json").is_file() or (folder / "results.jsonl").is_file():
        return []
    return sorted(found.parent for found in folder.glob("*/run.json"))


def not_a_run(folder: Path) -> RunError:
    runs = ", ".join(map(str, runs_below(folder)))
    there = f"; there are runs in it: {runs}" if runs else ""
    return RunError(f"{folder} is not a run folder: it has no run.json{there}")


class Run:
    """A run folder. `create` makes one, `open` finds one; only `locked` and what happens inside it writes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.store = Store(self.folder / "store", self)
        self._written: dict[str, str] = {}
        self._on_record: dict[Path, tuple[int, Mapping[str, str]]] = {}
        self._is_locked = False

    @classmethod
    def create(cls, folder: str | Path, config_text: str, fingerprints: Mapping[str, str]) -> "Run":
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise _there(folder)
        try:
            with explain_full_disk(folder), atomic_folder(folder) as new:
                for name in ("phases", "checkpoints", "store"):
                    (new / name).mkdir()
                (new / "config.yaml").write_text(config_text, encoding="utf-8")
                (new / "fingerprints.json").write_text(_json(dict(fingerprints)), encoding="utf-8")
                (new / "environment.json").write_text(_json(environment()), encoding="utf-8")
                begin_manifest(new)
                (new / "run.json").write_text(_json({"format": FORMAT, "digests": DIGEST}), encoding="utf-8")
        except ConfigError:  # somebody else has just made it
            raise _there(folder) from None
        return cls(folder)

    @classmethod
    def open(cls, folder: str | Path) -> "Run":
        folder = Path(folder)
        version = folder / "run.json"
        if not version.is_file():
            raise not_a_run(folder)
        described = _read(version, "the format of the run folder")
        found = described.get("format")
        if found is None:
            raise RunError(f"{version}: expected JSON with the format of the run folder; it is damaged")
        if found != FORMAT:
            raise RunError(f"{folder}: run folder of another version: format {found}, this program reads {FORMAT}")
        if described not in ({"format": FORMAT}, {"format": FORMAT, "digests": DIGEST}):
            raise RunError(f"{version}: expected JSON with the format of the run folder; it is damaged")
        check_manifest(folder, has_digests="digests" in described)
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
        path = self.folder / "fingerprints.json"
        found = _read(path, "a fingerprint for each part of the data")
        check_file(path)
        return found

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
        if not is_first() or self._is_locked:
            yield
            return
        writer = self.folder / "writer"  # a file of its own: on Windows nobody else reads one that is locked
        if not self.folder.is_dir():
            raise RunError(f"{self.folder} is not there any more")
        try:
            held = FileLock(self.folder / "lock").acquire(blocking=False)
        except Timeout:
            raise RunError(f"{self.folder} is being written by process {_number_in(writer)}") from None
        with held, standing(self.folder):
            self._is_locked = True
            write_text(writer, str(os.getpid()))
            try:
                yield
            finally:
                self._is_locked = False
                with suppress(OSError):  # the folder may be gone
                    writer.unlink(missing_ok=True)

    def do(self, step: Step, work: Callable[[], Mapping[str, Any]], *, together: bool = False) -> dict[str, Any]:
        """Do a step once: what a finished step returned is read from disk ever after.

        A step that is stopped half-way leaves no trace here and is done again from its beginning. Of several processes
        the first does it and writes it down; where all must do it `together` (training), all do.
        """
        path = self._path(step)
        if path.is_file():
            return finished_step(path).result
        if not is_first():
            if together or done_by_all(step):
                work()
            wait_until(path.is_file)
            return finished_step(path).result
        began = time.perf_counter()
        try:
            with explain_full_disk(self.folder):
                record: dict[str, Any] = {"phase": path.stem, "result": dict(work())}
                record |= {"seconds": round(time.perf_counter() - began, 3), "peak_memory_mb": peak_memory_mb()}
                record |= {"files": self._written} if self._written else {}
                text = _json(with_digest(json.loads(_json(record))))  # of what will be read: lists, not tuples
                write_text(path, text)
        finally:
            self._written = {}
        result: dict[str, Any] = json.loads(text)["result"]
        return result

    def wrote(self, path: Path) -> None:
        """The step under way has written this file: its digest goes on record with the step."""
        self._written[path.relative_to(self.folder).as_posix()] = file_digest(path)

    def check(self, path: Path, step: Step) -> None:
        """Refuse a file that is not, to the bit, what this step wrote; one that is not on record is taken as it is."""
        expected = self.files_of(step).get(path.relative_to(self.folder).as_posix())
        if expected is not None and file_digest(path) != expected:
            raise damaged(path, self.folder)

    def files_of(self, step: Step) -> Mapping[str, str]:
        """The files that a finished step wrote, as seen from the run folder, and their digests."""
        path = self._path(step)
        if not path.is_file():
            return {}
        written = path.stat().st_mtime_ns
        if self._on_record.get(path, (0, {}))[0] != written:
            self._on_record[path] = (written, _record(path).get("files", {}))
        return self._on_record[path][1]

    def result(self, step: Step) -> dict[str, Any] | None:
        """What a step returned, or None while it is not finished."""
        path = self._path(step)
        return finished_step(path).result if path.is_file() else None

    def require(self, step: Step) -> dict[str, Any]:
        """What a step returned that must be finished by now."""
        result = self.result(step)
        if result is None:
            raise RunError(f"{self.folder}: {step.name} is not done yet; `friend-train resume {self.folder}`")
        return result

    def finished(self) -> list["FinishedStep"]:
        """All steps that are done, in the order in which they were finished."""
        paths = sorted(self.folder.glob("phases/*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        return [finished_step(path) for path in paths]

    def write_metrics(self) -> None:
        """Gather `metrics` of all finished evaluations: dev by iteration, then test."""
        if not is_first():
            return
        rows = [
            row for one in self.finished() if isinstance(one.step, Evaluate | Test) for row in one.result["metrics"]
        ]
        rows.sort(key=lambda row: (row["split"] != "dev", row["iteration"], row["task"], row["split"]))
        with explain_full_disk(self.folder):
            lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows]
            write_recorded(self.folder / "metrics.jsonl", "".join(lines))

    def _path(self, step: Step) -> Path:
        return self.folder / "phases" / f"{step.name}.json"


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """A step of a run that is done: what it returned, and what it cost."""

    step: Step
    result: dict[str, Any]
    seconds: float
    peak_memory_mb: float | None


def digest_on_record(checkpoint: str | Path) -> str | None:
    """What the run that a checkpoint lies in says its digest is; None if it lies in no run."""
    checkpoint = Path(checkpoint)
    run, iteration = checkpoint.parent.parent.parent, re.fullmatch(r"iteration-(\d+)", checkpoint.name)
    if iteration is None or not (run / "run.json").is_file():
        return None
    trained = Run.open(run).result(Train(checkpoint.parent.name, int(iteration[1]))) or {}
    return trained.get("digest")


def _there(folder: Path) -> RunError:
    return RunError(f"{folder} is already there; `friend-train resume {folder}`, or choose another folder")


def finished_step(path: Path) -> FinishedStep:
    """What the file of a finished step says."""
    record = _record(path)
    return FinishedStep(
        parse_step(path.stem), record["result"], record.get("seconds") or 0.0, record.get("peak_memory_mb")
    )


def _record(path: Path) -> dict[str, Any]:
    """The record of a step; those of before there were digests have none."""
    record = _read(path, "the result of a step")
    old = DIGEST not in record and not (path.parent.parent / MANIFEST).is_file()
    whole = isinstance(record.get("result"), dict) and record.get("phase") == path.stem
    if not whole or not (old or has_its_digest(record)):
        raise RunError(f"{path}: expected the result of a step; it is damaged")
    return record


def _number_in(writer: Path) -> str:
    """The process that writes a run; it may be beginning or ending just now, and then the file is not there."""
    try:
        return writer.read_text(encoding="utf-8")
    except FileNotFoundError:
        return "?"


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
