"""How good a bridge is, and where it fails: the bound it sets on friend-training
(docs/decisions.md#the-bridge-bounds-the-method)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.bridges.bridge import Bridge
from friend_training.friendships.csrl_rewriting import RoleMatcher, sentence_strings
from friend_training.types import (
    ROLES,
    SPEAKER,
    Argument,
    CsrlExample,
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
