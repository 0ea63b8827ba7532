"""Training that would end in the same bits is done once: methods that differ in one task share the other's update.

Training is a function of the weights it goes on from, the examples, the chosen pseudo-labels and the plan, its seed
included. Where all of these are as they were for an earlier method, its checkpoint is taken over.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from friend_training.core.task import FitPlan, PseudoLabel, Task


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
