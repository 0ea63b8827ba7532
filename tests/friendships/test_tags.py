"""Friendships between taggers, word by word and span by span; and between a tagger and a classifier of texts."""

from typing import Any

import pytest

from friend_training import label_friendship, span_friendship, tag_friendship
from friend_training.core.friendship import Friendship, Match, Propose
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.testing import check_friendship
from friend_training.types import Tags, Words


def tags(*tags: str, confidence: float = 0.9) -> list[Prediction]:
    return [Prediction("x", Tags(tags), confidence, any(tag != "O" for tag in tags))]


def inputs(*sides: list[list[Prediction]]) -> list[Words]:
    return [Words(f"x{n}", ()) for n in range(len(sides[0]))]


def score(friendship: Friendship, first: list[Prediction], second: list[Prediction]) -> float | None:
    (match,) = friendship.match([Words("x", ())], [first], [second])
    assert match == Match(match.first, match.first)
    return match.first[0]


def proposed(propose: Propose | None, own: list[Prediction], friends: list[Prediction]) -> Prediction | None:
    assert propose is not None
    ((found,),) = propose([Words("x", ())], [own], [friends])
    return found


POS = {"NN": "NOUN", "NNP": "NOUN", "VB": "VERB", "UH": None, "VBG": ["VERB", "NOUN"]}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("NN", "VB"), ("NOUN", "VERB"), 1.0),
        (("NN", "VB"), ("NOUN", "NOUN"), 0.5),
        (("VBG", "VB"), ("NOUN", "VERB"), 1.0),
        (("UH", "VB"), ("NOUN", "NOUN"), 0.0),
        (("UH",), ("NOUN",), None),
        (("NN", "O"), ("NOUN", "O"), 1.0),
        (("NN", "O", "O"), ("O", "O", "NOUN"), 0.0),
        (("O", "O"), ("O", "O"), 1.0),
        (("NN", "NN"), ("NOUN",), 0.5),
        ((), (), 1.0),
    ],
)
def test_words_that_one_of_them_tags_are_compared(
    first: tuple[str, ...], second: tuple[str, ...], expected: float | None
) -> None:
    assert score(tag_friendship("fine", "coarse", POS), tags(*first), tags(*second)) == expected


def test_without_a_table_tags_are_the_same() -> None:
    friendship = tag_friendship("a", "b")
    assert score(friendship, tags("X", "Y", "O"), tags("X", "Z", "O")) == 0.5
    assert proposed(friendship.propose_first, tags("O", "O"), tags("X", "O", confidence=0.7)) == Prediction(
        "x", Tags(("X", "O")), 0.7
    )


def test_two_functions_take_tags_to_meanings() -> None:
    friendship = tag_friendship("a", "b", (lambda tag: tag[0], lambda tag: tag.lower()[0]))
    assert score(friendship, tags("noun", "verb"), tags("Name", "Noun")) == 0.5
    assert (friendship.propose_first, friendship.propose_second) == (None, None)


def test_tags_are_proposed_where_each_means_one() -> None:
    friendship = tag_friendship("fine", "coarse", POS)
    second = proposed(friendship.propose_second, tags("O", "O"), tags("NNP", "VB"))
    assert second is not None
    assert second.label == Tags(("NOUN", "VERB"))
    assert proposed(friendship.propose_second, tags("O"), tags("VBG")) is None
    assert proposed(friendship.propose_second, tags("O"), tags("UH")) is None
    assert proposed(friendship.propose_second, tags("O"), tags("NN", "NN")) is None
    assert proposed(friendship.propose_second, tags("O"), []) is None
    assert proposed(friendship.propose_first, tags("O"), tags("NOUN")) is None
    empty = proposed(friendship.propose_first, tags("NN"), tags("O"))
    assert empty == Prediction("x", Tags(("O",)), 0.9, content=False)


KINDS = {"PER": "person", "ORG": ["company", "office"], "LOC": "place"}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("B-PER", "I-PER", "O"), ("B-person", "I-person", "O"), 1.0),
        (("B-PER", "I-PER", "O"), ("B-person", "O", "O"), 0.0),
        (("B-PER", "I-PER", "O"), ("B-place", "I-place", "O"), 0.0),
        (("B-PER", "O", "B-ORG"), ("B-person", "O", "B-office"), 1.0),
        (("B-PER", "O", "B-ORG"), ("B-person", "O", "O"), 2 / 3),
        (("B-PER", "O", "O"), ("B-person", "O", "B-date"), 1.0),  # no type of the first task means a date
        (("O", "O"), ("O", "O"), 1.0),
        (("B-PER", "O"), ("O", "O"), 0.0),
    ],
)
def test_spans_match_at_the_same_place_with_a_meaning_in_common(
    first: tuple[str, ...], second: tuple[str, ...], expected: float
) -> None:
    friendship = span_friendship("names", "entities", KINDS)
    assert score(friendship, tags(*first), tags(*second)) == pytest.approx(expected)


def test_a_friend_without_an_answer_leaves_nothing_to_match() -> None:
    for friendship in (span_friendship("a", "b"), tag_friendship("a", "b")):
        (match,) = friendship.match([Words("x", ())], [tags("B-x")], [[]])
        assert match == Match((None,), ())


def test_spans_are_proposed_as_tags() -> None:
    friendship = span_friendship("names", "entities", KINDS)
    first = proposed(friendship.propose_first, tags("O", "O", "O"), tags("B-person", "I-person", "B-date"))
    assert first == Prediction("x", Tags(("B-PER", "I-PER", "O")), 0.9)
    assert proposed(friendship.propose_second, tags("O", "O"), tags("B-ORG", "O")) is None
    second = proposed(friendship.propose_second, tags("O", "O"), tags("B-LOC", "B-LOC"))
    assert second == Prediction("x", Tags(("B-place", "B-place")), 0.9)


def test_what_the_friend_cannot_say_is_not_proposed_as_absent() -> None:
    assert span_friendship("a", "b", {"PER": "person", "DATE": None}).propose_first is None


def test_spans_of_other_labels() -> None:
    """A list of mentions and BIO tags; several spans at one place are matched one by one."""

    def mentions(label: list[list[Any]]) -> list[tuple[str, int, int]]:
        return [(kind, start, end) for kind, start, end in label]

    def bio(label: Tags) -> list[tuple[str, int, int]]:
        return [("person", n, n + 1) for n, tag in enumerate(label.tags) if tag == "B-person"]

    friendship = span_friendship("mentions", "entities", {"he": "person", "it": "thing"}, spans=(mentions, bio))
    found = [Prediction("x", [["he", 0, 1], ["it", 1, 2], ["he", 2, 3]], 0.9)]
    assert score(friendship, found, tags("B-person", "O", "B-person")) == pytest.approx(0.8)
    assert (friendship.propose_first, friendship.propose_second) == (None, None)
    both = [("a", 0, 1), ("b", 0, 1)]
    doubled = span_friendship("a", "b", {"a": ["x", "y"], "b": "x"}, spans=(lambda _: both, lambda spans: spans))
    assert score(doubled, tags("O"), [Prediction("x", [("x", 0, 1), ("y", 0, 1)], 0.9)]) == 1.0


TOPICS = {"TEAM": "sports", "PLAYER": "sports", "COMPANY": "business"}


def topics(label: Tags) -> set[str]:
    """What the entities of a text say about its topic; nothing where there is none."""
    return {TOPICS[tag[2:]] for tag in label.tags if tag != "O"}


def topic_friendship() -> Friendship:
    return label_friendship("entities", "topic", (topics, lambda topic: topic))


@pytest.mark.parametrize(
    ("entities", "topic", "expected"),
    [
        (("B-TEAM", "O"), "sports", 1.0),
        (("B-TEAM", "B-COMPANY"), "business", 1.0),
        (("B-COMPANY", "I-COMPANY"), "sports", 0.0),
        (("O", "O"), "sports", None),
    ],
)
def test_a_tagger_and_a_classifier_of_the_same_texts(
    entities: tuple[str, ...], topic: str, expected: float | None
) -> None:
    assert score(topic_friendship(), tags(*entities), [Prediction("x", topic, 0.9)]) == expected


FRIENDSHIPS: dict[str, tuple[Friendship, list[list[Prediction]], list[list[Prediction]]]] = {
    "tags": (
        tag_friendship("fine", "coarse", POS),
        [tags("NN", "VB"), tags("NN", "O"), tags("UH"), [], tags("VBG")],
        [tags("NOUN", "VERB"), tags("NOUN", "NOUN"), tags("VERB"), tags("NOUN"), tags("NOUN")],
    ),
    "the same tags": (
        tag_friendship("a", "b"),
        [tags("X", "O"), tags("Y"), tags("O")],
        [tags("X", "O"), tags("X"), tags("O")],
    ),
    "spans": (
        span_friendship("names", "entities", KINDS),
        [tags("B-PER", "I-PER"), tags("B-ORG", "O"), tags("O"), []],
        [tags("B-person", "I-person"), tags("B-company", "B-date"), tags("O"), tags("O")],
    ),
    "a tagger and a classifier": (
        topic_friendship(),
        [tags("B-TEAM", "O"), tags("B-COMPANY"), tags("O")],
        [[Prediction("x", topic, 0.9)] for topic in ("sports", "sports", "business")],
    ),
}


@pytest.mark.parametrize("kind", FRIENDSHIPS)
def test_conformance(kind: str) -> None:
    friendship, first, second = FRIENDSHIPS[kind]
    check_friendship(friendship, inputs=inputs(first, second), first=first, second=second, agreeing=[0], symmetric=True)


def test_mistakes_name_friendship_task_and_expectation() -> None:
    with pytest.raises(ConfigError, match=r"friendship a-b: means is 'PER', expected a table from labels of a"):
        tag_friendship("a", "b", "PER")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"friendship a-b: spans is 'tags', expected a tuple of two functions"):
        span_friendship("a", "b", spans="tags")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"friendship a-b, task a: label 'ZZ' does not stand in means"):
        score(tag_friendship("a", "b", {"X": "Y"}), tags("ZZ"), tags("Y"))
    with pytest.raises(ConfigError, match=r"friendship a-b, task b: the meaning of 'Y' .* expected a label with tags"):
        score(tag_friendship("a", "b"), tags("X"), [Prediction("x", "Y", 0.9)])


def opened(
    friendship: Friendship, own: list[Prediction], friends: list[Prediction], *, first: bool = True
) -> Prediction:
    settle = friendship.parts_first if first else friendship.parts_second
    assert settle is not None
    ((found,),) = settle([Words("x", ())], [own], [[own]], [friends])
    assert found.label.tags == own[0].label.tags
    return found


def test_words_that_a_friend_disputes_are_left_open() -> None:
    """Of a word of which either says nothing (UH, or one that the friend has not) the own tag is learnt."""
    friendship = tag_friendship("fine", "coarse", POS)
    own, said = tags("NN", "VB", "UH", "O", "NN"), tags("NOUN", "NOUN", "VERB", "NOUN")
    assert opened(friendship, own, said).label.unsure == (1, 3)
    assert opened(friendship, said, own, first=False).label.unsure == (1, 3)
    assert opened(friendship, own, []).label.unsure == ()
    nothing_left = opened(friendship, tags("NN", "O"), tags("VERB", "O"))
    assert nothing_left.label.unsure == (0,)
    assert not nothing_left.content


def test_spans_that_only_one_of_them_finds_are_left_open() -> None:
    """A type that only one of them knows is nothing that they could differ about."""
    friendship = span_friendship("a", "b", {"PER": "person", "LOC": "place", "MISC": None})
    own = tags("B-PER", "I-PER", "O", "B-LOC", "B-MISC", "O", "O")
    said = tags("B-person", "I-person", "O", "B-person", "O", "B-place", "B-date")
    assert opened(friendship, own, said).label.unsure == (3, 5)
    assert opened(friendship, said, own, first=False).label.unsure == (3, 5)
    longer = tags("B-PER", "O")
    assert opened(friendship, longer, tags("B-person", "I-person")).label.unsure == (0, 1)


def test_what_several_friends_dispute_is_open() -> None:
    friendship = tag_friendship("a", "b")
    twice = opened(friendship, [opened(friendship, tags("X", "Y", "Z"), tags("Y", "Y", "Z"))], tags("X", "Y", "X"))
    assert twice.label.unsure == (0, 2)
