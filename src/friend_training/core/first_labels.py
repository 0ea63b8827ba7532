"""What Base says of the pool, asked once: the first iteration of every method labels it with the same weights.

Labelling is a pure function of weights and shard, so nothing but time depends on this. What is remembered is held in
memory: it is for pools that are held there too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from friend_training.core.labelling import Labels, Predictions

Key = tuple[int, str, int]


class FirstLabels:
    """Shared by the methods of one comparison, which run one after the other in one process."""

    def __init__(self) -> None:
        # The task itself is part of the key: weights of the same digest can stand in another kind of model.
        self._said: dict[Key, tuple[Labels, Predictions]] = {}

    def asked(self, task: Labels, digest: str, shard: int) -> "Asked":
        """A stand-in for the task, whose weights are those of the digest, that labels this one shard."""
        return Asked(task, (id(task), digest, shard), self._said)


@dataclass(frozen=True, slots=True)
class Asked:
    task: Labels
    key: Key
    said: dict[Key, tuple[Labels, Predictions]]

    @property
    def label_type(self) -> Any:
        return self.task.label_type

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        if self.key not in self.said:
            self.said[self.key] = (self.task, self.task.predict(inputs))  # held, so that its id stays its own
        return self.said[self.key][1]
