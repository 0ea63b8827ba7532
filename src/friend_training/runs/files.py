"""Writing so that a reader never meets half a file, and nothing that is not ours is lost: a new name, then one rename.

What is being written has a name that nobody can foresee, beside its target. Only a regular file takes the place of a
regular file, and a folder takes the place of another only where the other is the writer's own.

One run by several processes: torchrun and accelerate launch start the same command several times and tell each in the
environment who it is. All of them go through the same phases in the same order. Those that train are done by all
together (`nn.training`). All else is done by the first alone, and only the first ever writes: the others wait for the
record of the phase, and then read what it left in the run folder, which every machine must see under the same name (a
shared file system).

To wait is to check for a file. A barrier would need one more on every way through a phase, also where its result is
found on disk, and gives up after half an hour, while labelling may take a day. When a process dies, the launcher ends
the others, waiting or not.
"""

import errno
import json
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock

from friend_training.errors import ConfigError, RunError

_NEXT_TO_NOTHING = 1 << 16
"""So few free bytes that a write which failed, failed for want of them."""


_HOST = sha256(socket.gethostname().encode()).hexdigest()[:8]

_UNFINISHED = re.compile(rf"\.friend-training-{_HOST}-(\d+)-[0-9a-f]{{16}}\.tmp")
"""The names of what is being written on this machine, and by which process."""


_cleared: set[Path] = set()
"""The folders that this process has searched for what killed ones left; once is enough."""

_standing: dict[Path, tuple[int, int]] = {}
"""The run folders that this process writes: whatever becomes of them meanwhile, none of their parts is made again."""


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it takes the name `path` only when the block ends well."""
    path = Path(path)
    _expect_regular(path)
    _make_folder(path.parent)
    temporary = _unfinished(path)
    # The name is taken before anything is written to it.
    mode = _new_file(temporary)
    try:
        with _noticing_full_disk(path.parent):
            yield temporary
        temporary.chmod(mode)
        _flush(temporary)
        _expect_regular(path)
        os.replace(temporary, path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary empty folder; it takes the name `folder` only when the block ends well.

    An empty folder of that name gives way. One that holds something does only with `replace`: for folders inside a run,
    which nobody else writes.
    """
    folder = Path(folder)
    _expect_folder(folder, replace=replace)
    _make_folder(folder.parent)
    temporary = _unfinished(folder)
    temporary.mkdir()
    mode = stat.S_IMODE(temporary.stat().st_mode) & 0o666
    try:
        with _noticing_full_disk(temporary):
            yield temporary
        for path in sorted(temporary.rglob("*")):
            if path.is_file():
                path.chmod(mode)  # some writers (safetensors) write for the owner alone, whatever the umask
            _flush(path)
        _expect_folder(folder, replace=replace)
        if replace and folder.exists():
            before = _unfinished(folder)
            os.replace(folder, before)
            os.replace(temporary, folder)
            shutil.rmtree(before)
        else:
            _take_name(temporary, folder)
        _flush(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _take_name(temporary: Path, folder: Path) -> None:
    """Of two processes that make the same folder one is too late, and what the other made stays."""
    try:
        with suppress(FileNotFoundError):
            folder.rmdir()  # only an empty one
        os.replace(temporary, folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES):
            raise
        raise ConfigError(f"{folder} is already there and holds something; name another folder") from None


@contextmanager
def standing(folder: Path) -> Iterator[None]:
    """While this process writes a run: if its folder is deleted or renamed, that is said, and no part is made again."""
    _standing[folder] = _identity(folder)
    try:
        yield
    except Exception as error:
        if not _is_gone(folder):
            raise
        raise _gone(folder) from error
    finally:
        del _standing[folder]


def _is_gone(folder: Path) -> bool:
    try:
        return _identity(folder) != _standing[folder]
    except (FileNotFoundError, NotADirectoryError):
        return True


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino


def _gone(folder: Path) -> RunError:
    return RunError(
        f"{folder} was deleted or renamed while it was being written; nothing more was written."
        " If it was renamed, `friend-train resume` it by its new name"
    )


def _make_folder(folder: Path) -> None:
    """With all that is missing above it, but never a run that was there when this process began to write it."""
    above = next((run for run in (folder, *folder.parents) if run in _standing), None)
    if above is None:
        folder.mkdir(parents=True, exist_ok=True)
        return
    if _is_gone(above):
        raise _gone(above)
    made = above
    for part in folder.relative_to(above).parts:
        made = made / part
        made.mkdir(exist_ok=True)  # fails where the folder above it has just gone


def _new_file(path: Path) -> int:
    """Make an empty file; returns its mode, which is what the umask makes of it."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


def check_output(path: Path, *, force: bool) -> None:
    """Before a command begins: whether its output may be written there. What is there is replaced only on request."""
    _expect_regular(path)
    if path.exists() and not force:
        raise ConfigError(f"{path} is already there; --force replaces it")


def _unfinished(path: Path) -> Path:
    """A name beside `path` that nobody can foresee, in a folder without the leavings of processes that were killed."""
    if path.parent not in _cleared:
        _cleared.add(path.parent)
        _clear(path.parent)
    return path.with_name(f".friend-training-{_HOST}-{os.getpid()}-{secrets.token_hex(8)}.tmp")


def _clear(folder: Path) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        name = _UNFINISHED.fullmatch(path.name)
        if name is None or path.is_symlink() or _is_alive(int(name[1])):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere there is no harmless way to ask
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _expect_regular(path: Path) -> None:
    """A device, a pipe or a link would be replaced by a file, which is not what anybody means by writing to it."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{path} is {_kind(mode)}, and only a regular file is ever replaced; name another output")


def _expect_folder(folder: Path, *, replace: bool) -> None:
    try:
        mode = folder.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise ConfigError(f"{folder} is {_kind(mode)}, and only a folder is replaced by one; name another output")
    if not replace and any(folder.iterdir()):
        raise ConfigError(f"{folder} is already there and holds something; name another folder")


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a link",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "no file")


@contextmanager
def one_at_a_time(path: str | Path) -> Iterator[None]:
    """Processes that would all make the same file or folder wait for each other, at a file `<name>.lock` beside it.

    The system frees the lock of a process that died. The file is gone when nobody holds the lock.
    """
    path = Path(path)
    _make_folder(path.parent)
    place = path.with_name(path.name + ".lock")
    with FileLock(place):
        try:
            yield
        finally:
            # While it is held: whoever waits at the file that is removed here sees that, and begins anew at the next.
            # Windows removes no open file; there the lock does it itself when it is released.
            with suppress(PermissionError):
                place.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def explain_full_disk(run: str | Path) -> Iterator[None]:
    """Turn "no space left" into advice. What was finished stays; what was being written is gone and is redone."""
    try:
        yield
    except Exception as error:
        if not _is_full_disk(error):
            raise
        raise RunError(f"no space left on the disk of {run}; free some and `friend-train resume {run}`") from error


@contextmanager
def _noticing_full_disk(folder: Path) -> Iterator[None]:
    """Some writers (numpy, torch.save) only report that a write came out short: check the disk before cleaning up."""
    try:
        yield
    except Exception as error:
        if _is_full_disk(error) or shutil.disk_usage(folder).free > _NEXT_TO_NOTHING:
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error


def _is_full_disk(error: Exception) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    # Writers in other languages (safetensors) raise exceptions of their own that only quote the system's words.
    return os.strerror(errno.ENOSPC) in str(error)


def _flush(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk.

    Windows knows no such thing for folders, and for files only where they may be written.
    """
    on_windows = os.name == "nt"
    if on_windows and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if on_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json_object(path: Path, expected: str, *, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The object that a file holds, with the fields that are needed of it."""
    found = _parsed(path.read_bytes())
    if not isinstance(found, dict) or not found.keys() >= {*needed}:
        raise RunError(f"{path}: expected JSON with {expected}; it is damaged")
    return found


def read_json_lines(path: Path, expected: str, *, needed: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """One object per line."""
    records = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        found = _parsed(line)
        if not isinstance(found, dict) or not found.keys() >= {*needed}:
            raise RunError(f"{path}:{number}: expected {expected}, one JSON object per line; it is damaged")
        records.append(found)
    return records


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


LOOK_EVERY = 0.05
"""Seconds between two checks for a file."""


def rank() -> int:
    """The number of this process, from 0; that of the first is 0, on whatever machine it is."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    """How many processes there are, on all machines; 1 unless a launcher started them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """The number of this process among those of its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def is_first() -> bool:
    """Is this the one that writes?"""
    return rank() == 0


def wait_until(ready: Callable[[], bool]) -> None:
    """For those who do not write: until what the first process writes is there."""
    while not ready():
        time.sleep(LOOK_EVERY)
