"""Checkpoints: a task, saved whole or not at all."""

import hashlib
import shutil
from pathlib import Path

from friend_training.core.files import atomic_folder
from friend_training.core.processes import is_first
from friend_training.core.task import Task
from friend_training.errors import RunError


def save_checkpoint(task: Task, folder: str | Path) -> str:
    """Save a task and return the digest of what was written; of several processes only the first does."""
    if not is_first():
        return ""
    with atomic_folder(folder, replace=True) as temporary:
        task.save(temporary)
    return checkpoint_digest(folder)


def copy_checkpoint(source: str | Path, folder: str | Path) -> str:
    """Take over a checkpoint of another run, such as the Base that several methods start from."""
    _expect(source)
    if not is_first():
        return ""
    with atomic_folder(folder, replace=True) as temporary:
        shutil.copytree(source, temporary, dirs_exist_ok=True)
    return checkpoint_digest(folder)


def load_checkpoint(task: Task, folder: str | Path, *, digest: str | None = None) -> None:
    """Make a task what was saved there; with a digest, only if not a bit of it has changed since."""
    folder = Path(folder)
    _expect(folder)
    if digest is not None and checkpoint_digest(folder) != digest:
        raise RunError(f"{folder}: this checkpoint is not the one the run wrote; the run is damaged")
    task.load(folder)


def checkpoint_digest(folder: str | Path) -> str:
    """SHA-256 over the names and contents of all files."""
    folder = Path(folder)
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\n{content}\n".encode())
    return total.hexdigest()


def _expect(folder: str | Path) -> None:
    if not Path(folder).is_dir():
        raise RunError(f"{folder}: there is no checkpoint here")
