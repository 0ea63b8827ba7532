"""CSRL as a task of the core."""

from pathlib import Path

from friend_training.nn.bio import Adjacent
from friend_training.nn.devices import AUTO
from friend_training.nn.role_labeller import PredicateMark
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.definition import CsrlDefinition


def csrl_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    max_length: int = 125,
    mark: PredicateMark = "after",
    adjacent: Adjacent = "apart",
    device: str = AUTO,
) -> TorchTask:
    definition = CsrlDefinition(encoder=encoder, max_length=max_length, mark=mark, adjacent=adjacent)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)
