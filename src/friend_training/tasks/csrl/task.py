"""Conversational semantic role labelling (CSRL) as a task: a unit is a predicate of u_t, its label the arguments.

Sentence-level SRL is a task too, and, once trained, a bridge with fixed parameters: the network of CSRL on a 'dialogue'
of one turn, without speakers.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from friend_training.core.task import PRF, Evaluation, Prediction, PseudoLabel, by_kind
from friend_training.errors import RunError
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.metrics import CsrlScore
from friend_training.tasks.csrl.model import (
    Adjacent,
    DecodedRoles,
    Itself,
    PredicateMark,
    RoleBatch,
    RoleItem,
    RoleLabeller,
    collate_roles,
    decode_roles,
    log_likelihood_of_roles,
    ranked_roles,
    role_items,
)
from friend_training.tasks.given_examples import GivenExamples
from friend_training.types import (
    Argument,
    CsrlExample,
    Dialogue,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
    Turn,
    dialogue_group,
)


def kind_of_roles(roles: Roles, current: int) -> str:
    """Whether an argument stands in another turn, only in u_t, or there is none; `current` is the turn of u_t."""
    if not roles.arguments:
        return "none"
    return "across" if any(argument.turn != current for argument in roles.arguments) else "within"


class CsrlDefinition:
    """Section 4.1, 'Conversational Semantic Role Labeling'."""

    name = "csrl"
    label_type = Roles
    main_metric = "f1"

    def __init__(
        self,
        *,
        encoder: str | Path,
        max_length: int = 125,
        mark: PredicateMark = "after",
        adjacent: Adjacent = "apart",
        itself: Itself = "allowed",
    ) -> None:
        self.tokenizer = Tokenizer.load(encoder)
        self.max_length = max_length
        self.mark = mark
        self.adjacent = adjacent
        self.itself = itself

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"max_length": self.max_length, "mark": self.mark, "adjacent": self.adjacent, "itself": self.itself}

    def network(self, encoder: Encoder) -> nn.Module:
        return RoleLabeller(encoder, mark=self.mark)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)

    def check(self, folder: Path) -> None:
        """Roles are the same everywhere: any folder of this task will do."""

    def gold_items(self, examples: Sequence[CsrlExample]) -> list[RoleItem]:
        return self._items([example.dialogue for example in examples], [example.roles for example in examples])

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[RoleItem]:
        """The chosen predicates of one dialogue share one pass of the encoder."""
        by_dialogue: dict[str, list[PseudoLabel]] = {}
        for pseudo in chosen:
            by_dialogue.setdefault(pseudo.input.id, []).append(pseudo)
        groups = list(by_dialogue.values())
        return self._items(
            [_dialogue(group[0]) for group in groups],
            [[pseudo.label for pseudo in group] for group in groups],
            [[pseudo.weight for pseudo in group] for group in groups],
        )

    def input_items(self, inputs: Sequence[Dialogue]) -> list[RoleItem]:
        return self._items(inputs, None)

    def _items(
        self,
        dialogues: Sequence[Dialogue],
        labels: Sequence[Sequence[Roles]] | None,
        weights: Sequence[Sequence[float]] | None = None,
    ) -> list[RoleItem]:
        items = role_items(
            dialogues, labels, self.tokenizer, speakers=True, max_length=self.max_length, weights=weights
        )
        return items if labels is None else [item for item in items if item.predicates]

    def inputs_of(self, examples: Sequence[CsrlExample]) -> list[Dialogue]:
        return [example.dialogue for example in examples]

    def units_in(self, example: CsrlExample) -> int:
        return len(example.roles)

    def collate(self, items: Sequence[RoleItem]) -> RoleBatch:
        return collate_roles(items, self.tokenizer.pad_id)

    def decode(self, heads: Sequence[Head], batch: RoleBatch) -> list[list[Prediction]]:
        return [
            [_prediction(found) for found in units] for units in decode_roles(heads, batch, self.adjacent, self.itself)
        ]

    def n_best(self, heads: Sequence[Head], batch: RoleBatch, k: int) -> list[list[list[Prediction]]]:
        ranked = ranked_roles(heads, batch, k, self.adjacent, self.itself)
        return [[[_prediction(found) for found in unit] for unit in units] for units in ranked]

    def log_likelihood(
        self, heads: Sequence[Head], batch: RoleBatch, labels: Sequence[Sequence[Sequence[Roles]]]
    ) -> list[list[list[float]]]:
        return log_likelihood_of_roles(heads, batch, labels)

    def score(self, examples: Sequence[CsrlExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        """All predicates of a source dialogue are one group, whichever of its turns they stand in."""
        labels = [prediction.label for units in predictions for prediction in units]
        gold = [(roles, example.dialogue) for example in examples for roles in example.roles]
        units = [CsrlScore.of(label, *truth) for label, truth in zip(labels, gold, strict=True)]
        found, there = (
            [(row, argument) for row, roles in enumerate(of) for argument in roles.arguments]
            for of in (labels, [roles for roles, _ in gold])
        )
        kinds = by_kind(found, there, lambda one: one[1].role)
        return Evaluation.of(units, CsrlScore(), [dialogue_group(dialogue.id) for _, dialogue in gold], kinds)


def _prediction(found: DecodedRoles) -> Prediction:
    kind = kind_of_roles(found.roles, found.current)
    return Prediction(found.unit, found.roles, found.confidence, bool(found.roles.arguments), kind)


def _dialogue(pseudo: PseudoLabel) -> Dialogue:
    assert isinstance(pseudo.input, Dialogue)
    return pseudo.input


def csrl_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    max_length: int = 125,
    mark: PredicateMark = "after",
    adjacent: Adjacent = "apart",
    itself: Itself = "allowed",
    device: str = AUTO,
) -> TorchTask:
    definition = CsrlDefinition(encoder=encoder, max_length=max_length, mark=mark, adjacent=adjacent, itself=itself)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


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


SETTINGS = TrainingSettings()


class Csrl(TorchTask):
    """Conversational semantic role labelling of dialogues of your own, for FriendTrainer.

    `encoder` is a folder or hub name. `gold`, `dev` and `test` are a file in any format that `friend-train data` knows,
    or a list of `CsrlExample` or of dicts like the lines of our JSONL (docs/data-formats.md). Its friend is `Rewriting`
    on the same encoder.
    """

    def __init__(
        self,
        *,
        encoder: str | Path,
        gold: Any = None,
        dev: Any = None,
        test: Any = None,
        predicate_mark: PredicateMark = "after",
        repeated_roles: Adjacent = "once",
        predicate_as_argument: Itself = "never",
        max_length: int = 125,
        settings: TrainingSettings = SETTINGS,
        device: str = AUTO,
    ) -> None:
        self.examples = GivenExamples(gold, dev, test, dialogues="csrl")
        definition = CsrlDefinition(
            encoder=encoder,
            max_length=max_length,
            mark=predicate_mark,
            adjacent=repeated_roles,
            itself=predicate_as_argument,
        )
        super().__init__(definition, encoder=encoder, settings=settings, device=device)
