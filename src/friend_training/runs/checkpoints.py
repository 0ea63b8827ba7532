"""Checkpoints: a task, saved whole or not at all; and trainings that would end in the same bits, done once."""

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import TypeAdapter

from friend_training.core.task import FitPlan, PseudoLabel, Task
from friend_training.errors import RunError
from friend_training.runs.files import atomic_folder, is_first
from friend_training.runs.run import Run
from friend_training.runs.steps import Train


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


@runtime_checkable
class Identified(Protocol):
    """A task that says what its training depends on besides weights, examples, pseudo-labels and plan.

    `identity` is equal for two tasks, in whatever process, only if they train to the same bits. Their examples must say
    all that they are in their `repr`, as dataclasses do.
    """

    @property
    def identity(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Fit:
    """All that the end of a training depends on; `start` is the digest of the weights it goes on from, if any."""

    task: Identified
    label_type: Any
    gold: Sequence[Any]
    dev: Sequence[Any]
    start: str | None
    plan: FitPlan
    pseudo: Sequence[PseudoLabel]

    def digest(self) -> str:
        """Of the content of all of it: equal trainings have equal digests in any run. The order of labels counts."""
        to_json = TypeAdapter(self.label_type).dump_json
        total = hashlib.sha256(f"{self.task.identity}\n{self.start}\n{self.plan}\n".encode())
        for examples in (self.gold, self.dev):
            for example in examples:
                total.update(repr(example).encode() + b"\n")
            total.update(b"\n")
        for one in self.pseudo:
            total.update(f"{one.input!r}\n{one.unit}\n{one.weight!r}\n".encode() + to_json(one.label) + b"\n")
        return total.hexdigest()


@dataclass(frozen=True, slots=True)
class Trained:
    """Where a training ended, and what the run it belongs to remembers of it."""

    checkpoint: Path
    result: dict[str, Any]


class EqualTrainings:
    """Trainings that would end in the same bits are done once: their checkpoint is taken over by its digest.

    Methods of one study that differ in one task share the other's update, and variants of an experiment their Base.
    `runs` are folders of other runs whose trainings may be taken over.
    """

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._trained: dict[str, Trained] = {}
        for run in runs:
            for done in run.finished():
                if isinstance(done.step, Train) and TRAINING in done.result:
                    checkpoint = run.checkpoint(done.step.task, done.step.iteration)
                    self.remember(done.result[TRAINING], checkpoint, done.result)

    def find(self, digest: str) -> Trained | None:
        """What a training of this digest has ended in, if its checkpoint is still there, to the bit."""
        found = self._trained.get(digest)
        if found is None or not found.checkpoint.is_dir():
            return None
        return found if checkpoint_digest(found.checkpoint) == found.result["digest"] else None

    def remember(self, digest: str, checkpoint: Path, result: dict[str, Any]) -> None:
        self._trained.setdefault(digest, Trained(checkpoint, result))


TRAINING = "training"
"""Under this name a step of training keeps its digest."""
