from collections.abc import Sequence

import pytest

from friend_training.friendships.bridge_quality import bridge_quality, gold_matches
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles, SrlExample

TEXT = "妈妈昨天做了红烧肉"  # 妈妈 [0, 2) 昨天 [2, 4) 做 [4, 5) 红烧肉 [6, 9)
MAKES = Predicate(4, 5)
GOLD = (SentenceArgument("ARG0", 0, 2), SentenceArgument("ARG1", 6, 9), SentenceArgument("TMP", 2, 4))
EXAMPLE = SrlExample(Sentence("a", TEXT, (MAKES,)), (SentenceRoles(MAKES, GOLD),))


class Fixed:
    """Gives the same arguments to every predicate."""

    name = "fixed"

    def __init__(self, *arguments: SentenceArgument) -> None:
        self.arguments = arguments

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, self.arguments) for p in sentence.predicates) for sentence in sentences]


def test_a_bridge_that_is_right() -> None:
    assert bridge_quality(Fixed(*GOLD), [EXAMPLE]) == {
        "predicates": 1, "precision": 1, "recall": 1, "f1": 1, "left_empty": 0, "match": 1, "match_high": 1,
    }  # fmt: skip


def test_a_bridge_that_says_nothing() -> None:
    quality = bridge_quality(Fixed(), [EXAMPLE])
    assert quality["left_empty"] == 1
    assert quality["precision"] == quality["recall"] == quality["f1"] == quality["match"] == quality["match_high"] == 0


def test_half_right() -> None:
    quality = bridge_quality(Fixed(GOLD[0], SentenceArgument("ARG2", 6, 9)), [EXAMPLE])
    assert quality["precision"] == 1 / 2
    assert quality["recall"] == 1 / 3
    assert quality["f1"] == pytest.approx(2 / 5)
    assert quality["match"] == pytest.approx(5 / 7)  # without 昨天: 2 of 7 characters differ, roles do not count
    assert quality["match_high"] == 1


def test_empty_gold_and_empty_answer_agree_and_are_not_left_empty() -> None:
    nothing = SrlExample(EXAMPLE.sentence, (SentenceRoles(MAKES, ()),))
    quality = bridge_quality(Fixed(), [nothing, EXAMPLE])
    assert quality["match"] == 1 / 2
    assert quality["left_empty"] == 1


def test_arguments_are_concatenated_in_the_papers_order_of_roles() -> None:
    in_text_order = (SentenceArgument("TMP", 2, 4), SentenceArgument("ARG1", 6, 9))
    swapped = (SentenceArgument("ARG1", 2, 4), SentenceArgument("TMP", 6, 9))
    assert match_of(in_text_order, in_text_order[::-1]) == 1
    assert match_of(in_text_order, swapped) < 1
    assert match_of((SentenceArgument("ARG0", 0, 2),), (SentenceArgument("ARG1", 0, 2),)) == 1


def match_of(gold: tuple[SentenceArgument, ...], said: tuple[SentenceArgument, ...]) -> float:
    [match] = gold_matches([(TEXT, SentenceRoles(MAKES, gold), SentenceRoles(MAKES, said))])
    return match


def test_no_examples() -> None:
    assert bridge_quality(Fixed(), [])["f1"] == 0
