"""Writing so that a reader never meets half a file: a temporary name, then one rename.

Temporary names are fixed (`<name>.tmp`), so what a killed process left behind is overwritten when its work is redone.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from friend_training.errors import RunError

_NEXT_TO_NOTHING = 1 << 16
"""So few free bytes that a write which failed, failed for want of them."""


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it takes the name `path` only when the block ends well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with _noticing_full_disk(path.parent):
            yield temporary
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary empty folder; it takes the place of `folder` only when the block ends well."""
    folder = Path(folder)
    temporary = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        with _noticing_full_disk(temporary):
            yield temporary
        for path in sorted(temporary.rglob("*")):
            _flush(path)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
        _flush(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def one_at_a_time(path: str | Path) -> Iterator[None]:
    """Processes that would all make the same file or folder wait for each other, at a file `<name>.lock` beside it.

    The system frees the lock of a process that died. The file is gone when nobody holds the lock.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
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
    """Some writers (numpy, torch.save) only say that a write came out short: look at the disk before cleaning up."""
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
