"""How good a bridge is: the bound it sets on friend-training (DESIGN 5.17)."""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from friend_training.examples import ROLES, SentenceArgument, SrlExample
from friend_training.tasks.srl.bridge import Bridge

PICK_THRESHOLD = 0.6
"""The paper's pick threshold: gold labels that match less well than this could never be chosen by matching alone."""


def bridge_quality(bridge: Bridge, examples: Sequence[SrlExample]) -> dict[str, float]:
    """Score a bridge on gold sentences: exact roles, predicates it leaves empty, and how well gold matches its answer.

    `match` is the mean of the paper's m_k between the gold arguments and the bridge's: the ceiling of what matching can
    see on text where both friends are right. `match_high` is the share of predicates at or above the pick threshold.
    """
    given = bridge.label([example.sentence for example in examples])
    right = said = true = left_empty = high = 0
    total = 0.0
    pairs = [
        (example.sentence.text, gold.arguments, answer.arguments)
        for example, answers in zip(examples, given, strict=True)
        for gold, answer in zip(example.roles, answers, strict=True)
    ]
    for text, gold, answer in pairs:
        right += len(set(gold) & set(answer))
        said += len(set(answer))
        true += len(set(gold))
        left_empty += bool(gold) and not answer
        match = argument_match(text, gold, answer)
        total += match
        high += match >= PICK_THRESHOLD
    with_arguments = sum(bool(gold) for _, gold, _ in pairs)
    return {
        "predicates": len(pairs),
        "precision": _ratio(right, said),
        "recall": _ratio(right, true),
        "f1": _ratio(2 * right, said + true),
        "left_empty": _ratio(left_empty, with_arguments),
        "match": _ratio(total, len(pairs)),
        "match_high": _ratio(high, len(pairs)),
    }


def argument_match(text: str, a: Sequence[SentenceArgument], b: Sequence[SentenceArgument]) -> float:
    """m_k of section 4.2: 1 - dist(⊕A, ⊕B) / max(len(⊕A), len(⊕B)), over characters; two empty sets agree."""
    return Levenshtein.normalized_similarity(_concatenated(text, a), _concatenated(text, b))


def _concatenated(text: str, arguments: Sequence[SentenceArgument]) -> str:
    ordered = sorted(arguments, key=lambda argument: (ROLES.index(argument.role), argument.start))
    return "".join(text[argument.start : argument.end] for argument in ordered)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
