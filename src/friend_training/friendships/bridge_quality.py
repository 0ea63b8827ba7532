"""The bridge examined (docs/decisions.md#the-bridge-bounds-the-method): how good it is, what it can do alone, and an
ideal one.

Its quality is the bound that it sets on friend-training. Alone it is a CSRL parser, and CSRL can be self-trained on
its labels: controls of the case study. A bridge that never errs, where the data know its predictions, is the ceiling
(`gold_sigma`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import ConfigError
from friend_training.friendships.csrl_rewriting import RoleMatcher, Sigma, sentence_strings
from friend_training.tasks.csrl.metrics import CsrlScore, score
from friend_training.tasks.csrl.model import unit_id
from friend_training.tasks.rewriting.edits import place_of
from friend_training.types import (
    ROLES,
    SPEAKER,
    Argument,
    CsrlExample,
    Dialogue,
    Rewrite,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
)

# What sentence-level SRL can learn from CSRL labels: the arguments that stand in the predicate's own utterance.


def within_utterance(example: CsrlExample, *, only_complete: bool = False) -> SrlExample:
    """u_t as a sentence of its own, with the arguments inside it.

    `only_complete` takes the predicates that lose none by that: all their arguments are words of u_t. The others teach
    that an argument is missing where it only stands elsewhere.
    """
    current = len(example.dialogue.turns) - 1

    def inside(argument: Argument) -> bool:
        return argument.turn == current and argument.start != SPEAKER

    kept = [roles for roles in example.roles if not only_complete or all(map(inside, roles.arguments))]
    labels = tuple(
        SentenceRoles(
            roles.predicate,
            tuple(SentenceArgument(a.role, a.start, a.end) for a in roles.arguments if inside(a)),
        )
        for roles in kept
    )
    predicates = tuple(label.predicate for label in labels)
    return SrlExample(Sentence(example.dialogue.id, example.dialogue.utterance.text, predicates), labels)


PICK_THRESHOLD = 0.6
"""The paper's pick threshold: gold labels that match less well than this could never be chosen by matching alone."""


def bridge_quality(bridge: Bridge, examples: Sequence[SrlExample]) -> dict[str, float]:
    """Score a bridge on gold sentences: exact roles, predicates it leaves empty, and how well gold matches its answer.

    `match` is the mean of the paper's m_k between the gold arguments and the bridge's: the ceiling of what matching can
    see on text where both friends are right. `match_high` is the share of predicates at or above the pick threshold.
    """
    given = bridge.label([example.sentence for example in examples])
    pairs = [
        (example.sentence.text, gold, answer)
        for example, answers in zip(examples, given, strict=True)
        for gold, answer in zip(example.roles, answers, strict=True)
    ]
    right = said = true = left_empty = high = with_arguments = 0
    total = 0.0
    for (_, gold, answer), match in zip(pairs, gold_matches(pairs), strict=True):
        right += len(set(gold.arguments) & set(answer.arguments))
        said += len(set(answer.arguments))
        true += len(set(gold.arguments))
        with_arguments += bool(gold.arguments)
        left_empty += bool(gold.arguments) and not answer.arguments
        total += match
        high += match >= PICK_THRESHOLD
    return {
        "predicates": len(pairs),
        "precision": _ratio(right, said),
        "recall": _ratio(right, true),
        "f1": _ratio(2 * right, said + true),
        "left_empty": _ratio(left_empty, with_arguments),
        "match": _ratio(total, len(pairs)),
        "match_high": _ratio(high, len(pairs)),
    }


def gold_matches(pairs: Sequence[tuple[str, SentenceRoles, SentenceRoles]]) -> list[float]:
    """The paper's m_k between gold and the bridge's answer, for (sentence, gold, answer)."""
    strings = [(sentence_strings(text, gold), sentence_strings(text, answer)) for text, gold, answer in pairs]
    return RoleMatcher().scores(strings)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


# Where the bridge fails: on gold predicates whose arguments all stand in their own utterance, it needs no rewrite.


@dataclass(frozen=True, slots=True)
class BridgeCase:
    """One predicate: the utterance, what is gold, the bridge's prediction, and the matching score of the two."""

    text: str
    gold: SentenceRoles
    said: SentenceRoles
    match: float


@dataclass(frozen=True, slots=True)
class BridgeFailures:
    """`quality` is that of `bridge_quality`; `roles` are (role, right, missed, invented); cases the worst first."""

    quality: dict[str, float]
    roles: tuple[tuple[str, int, int, int], ...]
    cases: tuple[BridgeCase, ...]


def bridge_failures(bridge: Bridge, gold: Sequence[CsrlExample]) -> BridgeFailures:
    sentences = [within_utterance(example, only_complete=True) for example in gold]
    sentences = [example for example in sentences if example.roles]
    answers = bridge.label([example.sentence for example in sentences])
    right: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    invented: Counter[str] = Counter()
    asked = []
    for example, labels in zip(sentences, answers, strict=True):
        for true, said in zip(example.roles, labels, strict=True):
            expected, found = set(true.arguments), set(said.arguments)
            right.update(a.role for a in expected & found)
            missed.update(a.role for a in expected - found)
            invented.update(a.role for a in found - expected)
            asked.append((example.sentence.text, true, said))
    cases = [BridgeCase(*one, match) for one, match in zip(asked, gold_matches(asked), strict=True)]
    there = [role for role in ROLES if right[role] or missed[role] or invented[role]]
    return BridgeFailures(
        quality=bridge_quality(bridge, sentences),
        roles=tuple((role, right[role], missed[role], invented[role]) for role in there),
        cases=tuple(sorted((case for case in cases if case.match < 1), key=lambda case: case.match)),
    )


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
