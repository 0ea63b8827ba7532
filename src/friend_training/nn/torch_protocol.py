"""What methods that work inside training ask of a task beyond the four verbs (DESIGN 4). `TorchTask` has it."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from torch import nn

from friend_training.core.task import Task
from friend_training.errors import UnsupportedTaskError
from friend_training.nn.definition import Definition
from friend_training.nn.training import Progress, TrainingSettings


class NetworkTask(Task, Protocol):
    """A task whose network, batches and loss others may use: `network(batch)` gives heads for `nn.heads.unit_losses`.

    `network` is what predicts, evaluates and is saved; a method may put another one there. `encoder` is where its
    encoder came from, `collate` makes a batch on the device of the network, `dev_score` the function that early
    stopping looks at.
    """

    definition: Definition
    encoder: str | Path
    settings: TrainingSettings
    progress: Progress
    network: nn.Module

    def collate(self, items: Sequence[Any]) -> Any: ...

    def dev_score(self, dev: Sequence[Any]) -> Callable[[], float]: ...


NEEDED = ("definition", "encoder", "settings", "progress", "network", "collate", "dev_score")


def network_task(task: Task, method: str) -> NetworkTask:
    """The task, as one that `method` can train inside; a task that offers less is refused."""
    # Statically: a network that is not loaded yet is a network all the same.
    missing = [name for name in NEEDED if inspect.getattr_static(task, name, None) is None]
    if missing:
        raise UnsupportedTaskError(
            f"{method} works inside training and needs a task on torch (nn.torch_protocol.NetworkTask);"
            f" {type(task).__name__} {task.name!r} has no {', '.join(missing)}"
        )
    return cast(NetworkTask, task)
