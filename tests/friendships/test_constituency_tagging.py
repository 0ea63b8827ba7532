"""The parser and the tagger: the share of words with equal tags."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.friendship import decide
from friend_training.core.task import Prediction
from friend_training.friendships.parsing import constituency_tagging, match_tags
from friend_training.testing import MatchCase, check_friendship, check_matcher
from friend_training.types import Bracket, Tags, Tree, Words

WORDS = [Words("a", ("Dogs", "bark", "loudly")), Words("b", ("Yes",)), Words("c", ("They", "bark"))]
TREES = [
    Tree((Bracket(0, 3, "S"), Bracket(1, 3, "VP")), ("NNS", "VBP", "RB")),
    Tree((Bracket(0, 1, "INTJ"),), ("UH",)),
    Tree((Bracket(0, 2, "S"),), ("PRP", "VBP")),
]
TAGS = [Tags(("NNS", "VB", "RB")), Tags(("UH",)), Tags(("PRP", "VBP"))]


def test_the_share_of_equal_tags() -> None:
    first = [[Prediction(one.id, label, 0.5)] for one, label in zip(WORDS, TREES, strict=True)]
    second = [[Prediction(one.id, label, 0.5)] for one, label in zip(WORDS, TAGS, strict=True)]
    friendship = constituency_tagging()
    assert (friendship.first, friendship.second) == ("constituency", "tagging")
    matches = friendship.match(WORDS, first, second)
    assert [match.first for match in matches] == [(pytest.approx(2 / 3),), (1.0,), (1.0,)]
    assert [match.second for match in matches] == [match.first for match in matches]
    check_friendship(friendship, inputs=WORDS, first=first, second=second, agreeing=[1, 2], symmetric=True)


def test_in_parts_the_tags_that_the_friend_disputes_are_left_open() -> None:
    first = [[Prediction(one.id, label, 0.5)] for one, label in zip(WORDS, TREES, strict=True)]
    second = [[Prediction(one.id, label, 0.5)] for one, label in zip(WORDS, TAGS, strict=True)]
    friendship = constituency_tagging(choose="parts")
    assert friendship.joint_second is not None
    found = decide("tagging", [friendship], {}, WORDS, {"constituency": first, "tagging": second})
    assert [unit.label for (unit,) in found] == [replace(TAGS[0], unsure=(1,)), *TAGS[1:]]


tags = st.lists(st.sampled_from(("NN", "VB")), min_size=1, max_size=4).map(tuple)


@given(tags, tags)
def test_conformance(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    check_matcher(match_tags, cases=[MatchCase(a, b, 1, 1), MatchCase(a, a, 1, 1, agree=True)], symmetric=True)
    (match,) = match_tags([a], [b])
    assert (match.first == (1.0,)) == (a == b)
    assert match_tags([()], [()])[0].first == (None,)
