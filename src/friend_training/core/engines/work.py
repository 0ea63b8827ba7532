"""What is sent to a worker, and what comes back: labelling is a pure function of (shard, checkpoints).

Whoever computes it, the coordinating process alone writes the store and the record of a phase. So a worker that dies
leaves nothing behind, and one that was thought dead and comes back late has nowhere to write.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from friend_training.core.aggregate import Aggregation
from friend_training.core.checkpoint import load_checkpoint
from friend_training.core.friendship import Friendship
from friend_training.core.labelling import Audit, Labels, label_shard
from friend_training.core.pool import SetAside, ShardSource
from friend_training.core.task import Task


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder that a task is loaded from, and the digest that its files must have."""

    folder: Path
    digest: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of the store for one shard. `inputs` were labelled, the others set aside."""

    rows: pa.Table
    inputs: int
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelWork:
    """Everything that labelling in one iteration depends on, besides the shard; workers get a copy of it."""

    tasks: Mapping[str, Task]
    checkpoints: Mapping[str, Checkpoint]
    friendships: Sequence[Friendship]
    aggregate: Aggregation
    audit: Audit | None = None

    def load(self) -> None:
        """Make every task what its checkpoint says: once per worker."""
        for name, checkpoint in self.checkpoints.items():
            load_checkpoint(self.tasks[name], checkpoint.folder, digest=checkpoint.digest)

    def label(
        self,
        source: ShardSource,
        advanced: Callable[[int, int], None] = lambda done, total: None,
        asked: Mapping[str, Labels] | None = None,
    ) -> Labelled:
        """`asked` may stand in for the tasks (core/first_labels.py)."""
        shard, tasks = source.read(), asked or self.tasks
        rows = label_shard(
            tasks, self.friendships, shard.inputs, aggregate=self.aggregate, audit=self.audit, advanced=advanced
        )
        return Labelled(rows, len(shard.inputs), shard.set_aside)


class Engine(Protocol):
    """Carries out labelling somewhere else than in the coordinating process."""

    def labelled(self, work: LabelWork, sources: Iterator[ShardSource]) -> Generator[Labelled]:
        """One result for each source, in their order. Closing the iterator before its end stops the workers."""
        ...
