"""Pronouns stand for something else: the bridge's answers can leave them out."""

from collections.abc import Sequence

import pytest

from friend_training.friendships.joint_labels import WithoutPronouns, is_pronoun
from friend_training.types import Argument, Dialogue, Predicate, Sentence, SentenceArgument, SentenceRoles, Turn


class Everything:
    """Every stretch of one or two characters is an ARG0."""

    name = "everything"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [
            tuple(
                SentenceRoles(
                    p, tuple(SentenceArgument("ARG0", i, j) for i in range(3) for j in (i + 1, i + 2) if j <= 3)
                )
                for p in s.predicates
            )
            for s in sentences
        ]


def test_only_the_bare_pronoun_is_left_out() -> None:
    bridge = WithoutPronouns(Everything())
    ((label,),) = bridge.label([Sentence("s", "他们我", (Predicate(2, 3),))])
    assert [(a.start, a.end) for a in label.arguments] == [(1, 2), (1, 3), (2, 3)]  # 们 们我 我, not 他 nor 他们
    assert label.predicate == Predicate(2, 3)
    assert bridge.name == "everything"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (Argument("ARG1", 0, 0, 1), True),  # 她
        (Argument("ARG1", 0, 0, 3), False),  # 她的书
        (Argument("ARG0", 1, 0, 1), False),  # 我: who speaks is an argument
        (Argument("ARG0", 1, -1, 0), False),  # nor is a speaker token a pronoun, whatever comes behind it
    ],
)
def test_what_is_a_pronoun(argument: Argument, expected: bool) -> None:
    assert is_pronoun(Dialogue("d", (Turn("A", "她的书"), Turn("B", "我看"))), argument) is expected
