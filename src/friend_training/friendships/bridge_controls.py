"""Controls for the case study: the bridge itself as a CSRL parser, and self-training on its labels.

And a ceiling: FDT with a bridge that never errs, where the data know its predictions (`gold_sigma`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import ConfigError
from friend_training.friendships.csrl_rewriting import Sigma, sentence_strings
from friend_training.tasks.csrl.metrics import CsrlScore, score
from friend_training.tasks.rewriting.edits import place_of
from friend_training.tasks.role_labelling import unit_id
from friend_training.types import Argument, CsrlExample, Dialogue, Rewrite, Roles, Sentence, SentenceRoles


def bridge_roles(bridge: Bridge, dialogues: Sequence[Dialogue]) -> list[tuple[Roles, ...]]:
    """The bridge's prediction for u_t as it stands, without context: arguments inside u_t only."""
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


GoldSigma = Mapping[str, Sigma]
"""By dialogue: a perfect parser's prediction for the gold rewrite, for each predicate of u_t."""


def gold_sigma(rewrite: Rewrite, labels: Sequence[SentenceRoles]) -> Sigma:
    """The gold arguments of each predicate as they stand in the gold rewrite."""
    return tuple(sentence_strings(rewrite.text, label) for label in labels)


def with_gold_bridge(friendship: Friendship, gold: GoldSigma | None) -> Friendship:
    if gold is None:
        raise ConfigError(
            "fdt-gold-bridge needs a perfect parser's prediction for each rewrite, and these data do not have it:"
            " it takes the synthetic dialogues"
        )
    return replace(friendship, translate_second=TranslateByGold(gold))


@dataclass(frozen=True, slots=True)
class TranslateByGold:
    """F_b by gold: of a predicate's gold arguments those that the rewrite writes out.

    On a right rewrite that is all of them. On a wrong one it is what a perfect parser would find of them; that it might
    also give a role to words wrongly inserted is left out, so this ceiling is a little too high.
    """

    gold: GoldSigma

    def __call__(self, inputs: Sequence[Dialogue], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
        return [self._translated(dialogue, units[0].label) for dialogue, units in zip(inputs, predictions, strict=True)]

    def _translated(self, dialogue: Dialogue, rewrite: Rewrite) -> Sigma:
        text = dialogue.utterance.text
        return tuple(
            ()
            if place_of(rewrite, text, predicate.start, predicate.end) is None
            else tuple(string for string in strings if string.text in rewrite.text)
            for predicate, strings in zip(dialogue.predicates, self.gold[dialogue.id], strict=True)
        )
