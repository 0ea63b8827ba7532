"""What the files of a run must be: their SHA-256, and the config as the run was begun.

    manifest.json    files: the digests of what lies in the run folder itself; config: the text of config.yaml

What a step writes (shards of the store, checkpoints, encoder, bridge) has its digest in the record of the step; a
record, like the manifest, has its own digest in it. Before a file is replaced, the manifest has the digests of both,
and afterwards of the new one alone: a process may be killed at any time, and its run is still what its manifest says.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from friend_training.errors import RunError
from friend_training.runs.files import atomic_file, read_json_object, write_text

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
    _write(folder, {"files": files, "config": [(folder / CONFIG).read_text(encoding="utf-8")]})


@contextmanager
def recorded_file(path: Path) -> Iterator[Path]:
    """`atomic_file` for a file of the run folder itself: the manifest knows it. Elsewhere it is `atomic_file`."""
    with atomic_file(path) as temporary:
        yield temporary
        new = file_digest(temporary)
        _expect_digests(path, {*_read(path.parent)["files"].get(path.name, ()), new})
    _expect_digests(path, {new})


def write_recorded(path: Path, text: str) -> None:
    with recorded_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def check_file(path: Path) -> None:
    """Refuse a file of the run folder itself that is not, to the bit, what the run wrote."""
    expected = _read(path.parent)["files"].get(path.name)
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
    return list(_read(folder)["files"])


def config_texts(folder: Path) -> list[str]:
    """The text that config.yaml has had since the run was begun; two while it is being replaced, none if unknown."""
    found: list[str] = _read(folder)["config"]
    return found


def write_config(folder: Path, text: str) -> None:
    """The run itself changes its config."""
    known = _read(folder)
    if known["config"]:
        _write(folder, {**known, "config": [(folder / CONFIG).read_text(encoding="utf-8"), text]})
    write_text(folder / CONFIG, text)
    if known["config"]:
        _write(folder, {**known, "config": [text]})


def check_manifest(folder: Path, *, has_digests: bool) -> None:
    """When a run is opened: one of before there were digests is read with a warning."""
    if has_digests:
        if not (folder / MANIFEST).is_file():
            raise RunError(f"{folder}: its {MANIFEST} is missing; the run is damaged")
        _read(folder)
        return
    place = folder.resolve()
    if _warned.isdisjoint((place, *place.parents)):
        _warned.add(place)
        _log.warning("%s was made before runs had digests: damage to its files may go unnoticed", folder)


def _expect_digests(path: Path, digests: set[str]) -> None:
    known = _read(path.parent)
    if known["config"]:
        _write(path.parent, {**known, "files": {**known["files"], path.name: sorted(digests)}})


def _read(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; an empty one where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return {"files": {}, "config": []}
    found = read_json_object(path, "the digests of the run's files")
    if not has_its_digest(found):
        raise RunError(f"{path}: expected the digests of the run's files; it is damaged")
    return found


def _write(folder: Path, content: Mapping[str, Any]) -> None:
    plain = {"files": dict(sorted(content["files"].items())), "config": content["config"]}
    write_text(folder / MANIFEST, json.dumps(with_digest(plain), ensure_ascii=False, indent=1) + "\n")


def _record_digest(record: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in record.items() if name != DIGEST}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
