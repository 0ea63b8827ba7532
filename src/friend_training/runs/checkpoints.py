"""Checkpoints: a task, saved whole or not at all."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from friend_training.core.task import FitPlan, PseudoLabel, Task
from friend_training.errors import RunError
from friend_training.runs.files import atomic_folder
from friend_training.runs.processes import is_first


def save_checkpoint(task: Task, folder: str | Path) -> str:
    """Save a task and return the digest of what was written; of several processes only the first does."""
    if not is_first():
        return ""
    with atomic_folder(folder, replace=True) as temporary:
        task.save(temporary)
    return checkpoint_digest(folder)


def copy_checkpoint(source: str | Path, folder: str | Path, *, digest: str | None = None) -> str:
    """Take over a checkpoint of another run, such as the Base that several methods start from."""
    _expect(source)
    if not is_first():
        return ""
    with atomic_folder(folder, replace=True) as temporary:
        shutil.copytree(source, temporary, dirs_exist_ok=True)
        copied = checkpoint_digest(temporary)
        if digest not in (None, copied):
            raise _damaged(source)
    return copied


def load_checkpoint(task: Task, folder: str | Path, *, digest: str | None = None) -> None:
    """Make a task what was saved there; with a digest, only if not a bit of it has changed since."""
    folder = Path(folder)
    check_checkpoint(folder, digest)
    task.load(folder)


def check_checkpoint(folder: Path, digest: str | None) -> None:
    """Refuse a folder of weights that is not, to the bit, what was saved; None: nobody knows what that was."""
    _expect(folder)
    if digest is not None and checkpoint_digest(folder) != digest:
        raise _damaged(folder)


def checkpoint_digest(folder: str | Path) -> str:
    """SHA-256 over the names and contents of all files."""
    folder = Path(folder)
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\n{content}\n".encode())
    return total.hexdigest()


def _damaged(folder: str | Path) -> RunError:
    return RunError(f"{folder}: this checkpoint is not the one the run wrote; the run is damaged")


def _expect(folder: str | Path) -> None:
    if not Path(folder).is_dir():
        raise RunError(f"{folder}: there is no checkpoint here")


# Training that would end in the same bits is done once: methods that differ in one task share the other's update.
#
# Training is a function of the weights it goes on from, the examples, the chosen pseudo-labels and the plan, its seed
# included. Where all of these are as they were for an earlier method, its checkpoint is taken over.


@dataclass(frozen=True, slots=True)
class Fit:
    """All that the end of a training depends on; `start` is the digest of the weights it goes on from."""

    task: Task
    gold: Sequence[Any]
    dev: Sequence[Any]
    start: str
    plan: FitPlan
    pseudo: Sequence[PseudoLabel]

    def digest(self) -> str:
        """Tasks and examples are told apart as objects: a comparison has them once. The order of labels counts."""
        to_json = TypeAdapter(self.task.label_type).dump_json
        total = hashlib.sha256(repr((id(self.task), id(self.gold), id(self.dev), self.start, self.plan)).encode())
        for one in self.pseudo:
            total.update(f"{one.input.id}\n{one.unit}\n{one.weight!r}\n".encode() + to_json(one.label) + b"\n")
        return total.hexdigest()


@dataclass(frozen=True, slots=True)
class Done:
    """Where a training ended and what was said of it. `held` keeps the ids of its objects their own."""

    checkpoint: Path
    result: dict[str, Any]
    held: tuple[object, ...]


class SameFits:
    """Shared by the methods of one comparison, which run one after the other in one process."""

    def __init__(self) -> None:
        self._done: dict[str, Done] = {}

    def found(self, digest: str) -> Done | None:
        """What a training of this digest has ended in, if its checkpoint is still there."""
        done = self._done.get(digest)
        return done if done is not None and done.checkpoint.is_dir() else None

    def remember(self, digest: str, fit: Fit, checkpoint: Path, result: dict[str, Any]) -> None:
        self._done[digest] = Done(checkpoint, result, (fit.task, fit.gold, fit.dev))
