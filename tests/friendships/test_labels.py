"""Friendships between label sets: what matches, what is proposed, and what a table that does not fit is told."""

from typing import Any

import pytest

from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.friendships.labels import Table, label_friendship, labels_without_meaning
from friend_training.testing import check_friendship
from friend_training.types import Text

MEANS: Table = {
    "joy": "positive",
    "anger": "negative",
    "fear": "negative",
    "surprise": ["positive", "negative"],
    "calm": "neutral",
    "unclear": None,
}


def said(*labels: Any, confidence: float = 0.9) -> list[list[Prediction]]:
    """One unit for each input; None is a friend that says nothing at all."""
    units = [(f"x{n}", label) for n, label in enumerate(labels)]
    return [[] if label is None else [Prediction(unit, label, confidence)] for unit, label in units]


def texts(count: int) -> list[Text]:
    return [Text(f"x{n}", "…") for n in range(count)]


def matched(friendship: Friendship, first: Any, second: Any) -> Match:
    (match,) = friendship.match(texts(1), said(first), said(second))
    return match


@pytest.mark.parametrize(
    ("emotion", "polarity", "score"),
    [
        ("joy", "positive", 1.0),
        ("joy", "negative", 0.0),
        ("surprise", "negative", 1.0),
        ("surprise", "neutral", 0.0),
        ("unclear", "negative", None),
    ],
)
def test_a_table_matches_what_it_allows(emotion: str, polarity: str, score: float | None) -> None:
    match = matched(label_friendship("emotion", "polarity", MEANS), emotion, polarity)
    assert (match.first, match.second) == ((score,), (score,))


def test_a_silent_friend_leaves_nothing_to_match() -> None:
    assert matched(label_friendship("emotion", "polarity", MEANS), None, "positive") == Match((), (None,))


def test_several_units_meet_a_share_of_those_that_say_something() -> None:
    friendship = label_friendship("emotion", "polarity", MEANS)
    three = [[Prediction(str(n), label, 1.0) for n, label in enumerate(("joy", "anger", "unclear"))]]
    (match,) = friendship.match(texts(1), three, said("positive"))
    assert match == Match((1.0, 0.0, None), (0.5,))


def test_two_functions_bring_structured_labels_together() -> None:
    friendship = label_friendship("stars", "mood", (lambda stars: stars["count"] > 2, lambda mood: mood == "good"))
    assert matched(friendship, {"count": 5}, "good").first == (1.0,)
    assert matched(friendship, {"count": 1}, "good").first == (0.0,)
    assert (friendship.propose_first, friendship.propose_second) == (None, None)


FRIENDSHIPS = {
    "table": (label_friendship("a", "b", MEANS), said("joy", "anger", "unclear", "surprise")),
    "functions": (
        label_friendship("a", "b", (lambda label: MEANS[label], lambda label: label)),
        said("joy", "anger", "unclear", "surprise"),
    ),
}


@pytest.mark.parametrize("kind", FRIENDSHIPS)
def test_conformance(kind: str) -> None:
    friendship, first = FRIENDSHIPS[kind]
    check_friendship(
        friendship,
        inputs=texts(4),
        first=first,
        second=said("positive", "negative", "neutral", "neutral"),
        agreeing=[0, 1],
        symmetric=True,
    )


def test_what_the_friend_says_is_proposed_where_it_is_one_label() -> None:
    friendship = label_friendship("emotion", "polarity", MEANS)
    assert friendship.propose_first is not None
    assert friendship.propose_second is not None
    own = said("joy", "joy", "joy", "joy")
    second = friendship.propose_second(texts(4), own, said("anger", "surprise", "unclear", None, confidence=0.7))
    assert second == [[Prediction("x0", "negative", 0.7)], [None], [None], [None]]
    first = friendship.propose_first(texts(4), own, said("neutral", "negative", "positive", "unheard of"))
    assert first == [[Prediction("x0", "calm", 0.9)], [None], [None], [None]]


def test_units_that_say_different_things_propose_nothing() -> None:
    friendship = label_friendship("emotion", "polarity", MEANS)
    assert friendship.propose_second is not None
    both = [[Prediction("a", "joy", 0.9), Prediction("b", "anger", 0.8)]]
    assert friendship.propose_second(texts(1), said("neutral"), both) == [[None]]
    same = [[Prediction("a", "fear", 0.9), Prediction("b", "anger", 0.8)]]
    assert friendship.propose_second(texts(1), said("neutral"), same) == [[Prediction("x0", "negative", 0.8)]]


def test_labels_that_do_not_stand_in_the_table_are_listed() -> None:
    assert labels_without_meaning(MEANS, ["joy", "shame", "pride", "shame"]) == ["pride", "shame"]


def test_an_unknown_label_names_friendship_and_task() -> None:
    friendship = label_friendship("emotion", "polarity", MEANS)
    with pytest.raises(ConfigError, match=r"friendship emotion-polarity, task emotion: label 'shame' does not stand"):
        matched(friendship, "shame", "positive")


def test_a_function_that_fails_names_friendship_and_task() -> None:
    friendship = label_friendship("a", "b", (lambda label: label, lambda label: 1 // 0))
    with pytest.raises(ConfigError, match=r"friendship a-b, task b: the meaning of 'y' .* ZeroDivisionError"):
        matched(friendship, "x", "y")


@pytest.mark.parametrize("means", ["joy", (len,), None])
def test_means_of_another_type_are_refused(means: Any) -> None:
    with pytest.raises(ConfigError, match="expected a table from labels of emotion to labels of polarity"):
        label_friendship("emotion", "polarity", means)


def test_a_table_in_a_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected a label, a list of labels or None"):
        label_friendship("emotion", "polarity", {"joy": {"positive": 1}})  # type: ignore[dict-item]
