"""Sentence-level SRL as a task of the core, and, once trained, as a bridge with fixed parameters."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from friend_training.errors import RunError
from friend_training.examples import Sentence, SentenceRoles
from friend_training.nn.bio import Adjacent
from friend_training.nn.devices import AUTO
from friend_training.nn.role_labeller import PredicateMark
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.srl.definition import HOW, SrlDefinition


def srl_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    max_length: int = 125,
    mark: PredicateMark = "after",
    adjacent: Adjacent = "apart",
    device: str = AUTO,
) -> TorchTask:
    definition = SrlDefinition(encoder=encoder, max_length=max_length, mark=mark, adjacent=adjacent)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


@dataclass(frozen=True, slots=True)
class TrainedBridge:
    """Our own SRL model as a bridge: it is given the predicate and answers for it."""

    task: TorchTask
    name: str = "own"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(unit.label for unit in units) for units in self.task.predict(sentences)]


def open_bridge(folder: Path, *, device: str = AUTO) -> TrainedBridge:
    """A bridge that was trained and saved, in a run's `bridge` folder; it brings its own vocabulary and shape."""
    if not (folder / "task.json").is_file():
        raise RunError(f"{folder} holds no trained bridge; expected the folder 'bridge' of a finished run")
    how = json.loads((folder / HOW).read_text()) if (folder / HOW).is_file() else {}
    task = srl_task(folder, TrainingSettings(), device=device, **how)
    task.load(folder)
    return TrainedBridge(task)
