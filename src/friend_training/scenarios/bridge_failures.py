"""Where the bridge fails: on gold predicates whose arguments all stand in their own utterance, it needs no rewrite."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.corpora.within import within_utterance
from friend_training.examples import ROLES, CsrlExample, SentenceRoles
from friend_training.tasks.srl.bridge import Bridge
from friend_training.tasks.srl.quality import argument_match, bridge_quality


@dataclass(frozen=True, slots=True)
class BridgeCase:
    """One predicate: the utterance, what is gold, what the bridge says, and the matching score of the two."""

    text: str
    gold: SentenceRoles
    said: SentenceRoles
    match: float


@dataclass(frozen=True, slots=True)
class BridgeFailures:
    """`quality` as tasks/srl/quality.py says it; `roles` are (role, right, missed, invented); cases the worst first."""

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
    cases = []
    for example, labels in zip(sentences, answers, strict=True):
        for true, said in zip(example.roles, labels, strict=True):
            expected, found = set(true.arguments), set(said.arguments)
            right.update(a.role for a in expected & found)
            missed.update(a.role for a in expected - found)
            invented.update(a.role for a in found - expected)
            match = argument_match(example.sentence.text, true.arguments, said.arguments)
            cases.append(BridgeCase(example.sentence.text, true, said, match))
    there = [role for role in ROLES if right[role] or missed[role] or invented[role]]
    return BridgeFailures(
        quality=bridge_quality(bridge, sentences),
        roles=tuple((role, right[role], missed[role], invented[role]) for role in there),
        cases=tuple(sorted((case for case in cases if case.match < 1), key=lambda case: case.match)),
    )
