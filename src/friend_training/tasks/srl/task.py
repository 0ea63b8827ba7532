"""Sentence-level SRL as a task, and, once trained, as a bridge with fixed parameters.

It is the network of CSRL on a 'dialogue' of one turn, without speakers.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from friend_training.core.task import PRF, Evaluation, Prediction, PseudoLabel
from friend_training.errors import RunError
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.role_labelling import (
    Adjacent,
    PredicateMark,
    RoleBatch,
    RoleItem,
    RoleLabeller,
    collate_roles,
    decode_roles,
    role_items,
)
from friend_training.types import Argument, Dialogue, Roles, Sentence, SentenceArgument, SentenceRoles, SrlExample, Turn


def score_srl(predicted: Sequence[SentenceRoles], gold: Sequence[SentenceRoles]) -> Evaluation:
    """Micro precision, recall and F1 over exact (role, span), in percent."""
    pairs = zip(predicted, gold, strict=True)
    return Evaluation.of([PRF.of(p.arguments, g.arguments) for p, g in pairs], PRF())


HOW = "how.json"
"""In a saved folder: what the weights were made for, because a bridge is opened without the config it was made by."""


class SrlDefinition:
    """A unit is one predicate of a sentence, its label the arguments in that sentence."""

    name = "srl"
    label_type = SentenceRoles
    main_metric = "f1"

    def __init__(
        self,
        *,
        encoder: str | Path,
        max_length: int = 125,
        mark: PredicateMark = "after",
        adjacent: Adjacent = "apart",
    ) -> None:
        self.tokenizer = Tokenizer.load(encoder)
        self.max_length = max_length
        self.mark = mark
        self.adjacent = adjacent

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"max_length": self.max_length, "mark": self.mark, "adjacent": self.adjacent}

    def network(self, encoder: Encoder) -> nn.Module:
        return RoleLabeller(encoder, mark=self.mark)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)
        how = {"max_length": self.max_length, "mark": self.mark, "adjacent": self.adjacent}
        (folder / HOW).write_text(json.dumps(how) + "\n")

    def check(self, folder: Path) -> None:
        """Roles are the same everywhere: any folder of this task will do."""

    def gold_items(self, examples: Sequence[SrlExample]) -> list[RoleItem]:
        labels = [[_as_roles(label) for label in example.roles] for example in examples]
        return self._items([example.sentence for example in examples], labels)

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[RoleItem]:
        sentences: list[Sentence] = []
        for pseudo in chosen:
            assert isinstance(pseudo.input, Sentence)
            sentences.append(pseudo.input)
        return self._items(
            sentences,
            [[_as_roles(pseudo.label)] for pseudo in chosen],
            [[pseudo.weight] for pseudo in chosen],
        )

    def input_items(self, inputs: Sequence[Sentence]) -> list[RoleItem]:
        return self._items(inputs, None)

    def _items(
        self,
        sentences: Sequence[Sentence],
        labels: Sequence[Sequence[Roles]] | None,
        weights: Sequence[Sequence[float]] | None = None,
    ) -> list[RoleItem]:
        turns = [Dialogue(sentence.id, (Turn("", sentence.text),), sentence.predicates) for sentence in sentences]
        items = role_items(turns, labels, self.tokenizer, speakers=False, max_length=self.max_length, weights=weights)
        return items if labels is None else [item for item in items if item.predicates]

    def inputs_of(self, examples: Sequence[SrlExample]) -> list[Sentence]:
        return [example.sentence for example in examples]

    def units_in(self, example: SrlExample) -> int:
        return len(example.roles)

    def collate(self, items: Sequence[RoleItem]) -> RoleBatch:
        return collate_roles(items, self.tokenizer.pad_id)

    def decode(self, heads: Sequence[Head], batch: RoleBatch) -> list[list[Prediction]]:
        return [
            [Prediction(d.unit, _as_label(d.roles), d.confidence, content=bool(d.roles.arguments)) for d in units]
            for units in decode_roles(heads, batch, self.adjacent)
        ]

    def score(self, examples: Sequence[SrlExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return score_srl(
            [prediction.label for units in predictions for prediction in units],
            [roles for example in examples for roles in example.roles],
        )


def _as_roles(label: SentenceRoles) -> Roles:
    return Roles(label.predicate, tuple(Argument(a.role, 0, a.start, a.end) for a in label.arguments))


def _as_label(roles: Roles) -> SentenceRoles:
    return SentenceRoles(roles.predicate, tuple(SentenceArgument(a.role, a.start, a.end) for a in roles.arguments))


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


def open_bridge(folder: str | Path, *, device: str = AUTO) -> TrainedBridge:
    """A bridge that was trained and saved, in a run's `bridge` folder; it brings its own vocabulary and shape."""
    folder = Path(folder)
    if not (folder / "task.json").is_file():
        raise RunError(f"{folder} holds no trained bridge; expected the folder 'bridge' of a finished run")
    how = json.loads((folder / HOW).read_text()) if (folder / HOW).is_file() else {}
    task = srl_task(folder, TrainingSettings(), device=device, **how)
    task.load(folder)
    return TrainedBridge(task)
