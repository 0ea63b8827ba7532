"""Friendships between label sets: what matches, what is proposed, and what a table that does not fit is told."""

import random
from typing import Any

import pytest

from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError, DataError
from friend_training.friendships.labels import Table, label_friendship, labels_without_meaning, learned_means
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


def pairs(count: int, seed: int, noise: float = 0.3) -> tuple[list[str], list[str]]:
    """Emotions and polarities of the same texts; some have any polarity."""
    draw = random.Random(seed)
    truth = {"joy": ["positive"], "anger": ["negative"], "surprise": ["positive", "negative"], "calm": ["neutral"]}
    emotions = [draw.choice(sorted(truth)) for _ in range(count)]
    polarities = ["positive", "negative", "neutral", "neutral"]
    return emotions, [draw.choice(polarities if draw.random() < noise else truth[one]) for one in emotions]


def test_a_table_is_learned_from_pairs_of_labels() -> None:
    found = learned_means(*pairs(2000, 1))
    assert {label: sorted(means or ()) for label, means in found.table.items()} == {
        "joy": ["positive"],
        "anger": ["negative"],
        "surprise": ["negative", "positive"],
        "calm": ["neutral"],
    }
    assert found.pairs == 2000
    assert found.telling == 1.0
    # 0.7 + 0.3 of what noise meets: a quarter, a quarter, a half and a half
    assert found.agreement == pytest.approx(0.7 + 0.3 * 0.375, abs=0.03)
    assert found.chance == pytest.approx(sum(0.25 * p for p in (0.34, 0.34, 0.68, 0.33)), abs=0.03)


def test_agreement_is_measured_on_texts_that_the_table_has_not_seen() -> None:
    """Of labels that have nothing to do with each other a table finds something now and then; agreement does not."""
    draw = random.Random(3)
    excess = []
    for _ in range(40):
        first, second = ([draw.choice("abcdefgh") for _ in range(120)] for _ in range(2))
        try:
            found = learned_means(first, second)
        except DataError:
            continue
        excess.append(found.agreement - found.chance)
    assert len(excess) > 20
    assert sum(excess) / len(excess) < 0.05


def test_missing_and_rare_labels_teach_nothing() -> None:
    first, second = pairs(200, 1)
    found = learned_means([*first, "joy", None, "odd", "odd"], [*second, None, "positive", "neutral", "neutral"])
    assert found.pairs == 202
    assert found.table["odd"] is None
    assert found.telling < 1


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["a", "b"] * 9, ["x", "y"] * 9, "there are 18 texts with labels of both tasks, .* expected 30 or more"),
        (["a"] * 90, ["x", "y", "x"] * 30, "1 labels of the first and 2 of the second"),
        (["a", "b"] * 40, ["x", "x", "y", "y"] * 20, "no label of the first task goes with one of the second"),
        (["a", "b"], ["x"], "2 labels of the first task and 1 of the second, expected pairs"),
    ],
)
def test_too_little_to_learn_from_is_told(first: list[str], second: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        learned_means(first, second)


def test_a_friendship_whose_table_is_to_be_learned() -> None:
    to_learn = label_friendship("emotion", "polarity", "learned")
    friendship, found = to_learn.learned(*pairs(400, 1))
    assert (friendship.name, friendship.first, friendship.second) == ("emotion-polarity", "emotion", "polarity")
    assert matched(friendship, "joy", "positive").first == (1.0,)
    assert matched(friendship, "joy", "negative").first == (0.0,)
    assert found.agreement > found.chance
    with pytest.raises(DataError, match="friendship emotion-polarity: there are 2 texts"):
        to_learn.learned(["a", "b"], ["x", "y"])
