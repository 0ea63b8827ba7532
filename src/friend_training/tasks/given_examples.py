"""What the constructors of ready-made tasks are given besides a model: labelled rows, and the names of classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from friend_training.errors import ConfigError


@dataclass(frozen=True, slots=True)
class GivenExamples:
    """Rows of gold, dev and test as they were given, and their columns: FriendTrainer reads them, a task does not.

    `columns` are the user's, by what stands in them. Without `id` ids are made. Of `dialogues` there are no columns:
    they are typed examples, or lines of our own JSONL, labelled for what this says.
    """

    gold: Any = None
    dev: Any = None
    test: Any = None
    columns: Mapping[str, str] = field(default_factory=dict)
    id: str | None = None
    dialogues: Literal["csrl", "rewriting", "coreference"] | None = None


def check_classes(task: str, kind: str, names: Sequence[str] | None) -> None:
    if names is not None and (isinstance(names, str) or len(names) < 2):
        shown = repr(names) if isinstance(names, str) else list(names)
        raise ConfigError(f"task {task}: {kind} are {shown}, expected at least two")


def known_classes(task: str, kind: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the classes, which a task must have before it can be trained."""
    if names is None:
        raise ConfigError(f"task {task}: its {kind} are not known; name them, or give the task to FriendTrainer")
    return tuple(names)
