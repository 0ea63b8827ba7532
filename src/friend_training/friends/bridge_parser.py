"""Controls for the case study: the bridge itself as a CSRL parser, and self-training on its labels (DESIGN 5.17)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.examples import Argument, CsrlExample, Dialogue, Roles, Sentence
from friend_training.nn.role_items import unit_id
from friend_training.tasks.csrl.metrics import CsrlScore, score
from friend_training.tasks.srl.bridge import Bridge


def bridge_roles(bridge: Bridge, dialogues: Sequence[Dialogue]) -> list[tuple[Roles, ...]]:
    """What the bridge says of u_t as it stands, without context: arguments inside u_t only."""
    sentences = [Sentence(d.id, d.utterance.text, d.predicates) for d in dialogues]
    answers = bridge.label(sentences)
    return [
        tuple(
            Roles(label.predicate, tuple(Argument(a.role, len(d.turns) - 1, a.start, a.end) for a in label.arguments))
            for label in labels
        )
        for d, labels in zip(dialogues, answers, strict=True)
    ]


def score_bridge(bridge: Bridge, gold: Sequence[CsrlExample]) -> CsrlScore:
    """The bridge alone as a CSRL parser: within the utterance it may be good, across utterances it has nothing."""
    predicted = bridge_roles(bridge, [example.dialogue for example in gold])
    return score(
        [label for labels in predicted for label in labels],
        [label for example in gold for label in example.roles],
        [example.dialogue for example in gold for _ in example.roles],
    )


@dataclass(frozen=True, slots=True)
class LabelledByBridge:
    """A CSRL task whose pseudo-labels come from the bridge instead of from itself; all else is the task's."""

    task: Task
    bridge: Bridge

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def label_type(self) -> Any:
        return self.task.label_type

    @property
    def main_metric(self) -> str:
        return self.task.main_metric

    def predict(self, inputs: Sequence[Dialogue]) -> list[list[Prediction]]:
        return [
            [Prediction(unit_id(d.id, label.predicate), label, 1.0, content=bool(label.arguments)) for label in labels]
            for d, labels in zip(inputs, bridge_roles(self.bridge, inputs), strict=True)
        ]

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        return self.task.fit(gold, pseudo, dev=dev, plan=plan)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return self.task.evaluate(gold)

    def save(self, folder: Path) -> None:
        self.task.save(folder)

    def load(self, folder: Path) -> None:
        self.task.load(folder)
