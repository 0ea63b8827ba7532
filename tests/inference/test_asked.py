"""What somebody types, as a dialogue."""

import pytest

from friend_training.errors import DataError
from friend_training.inference.answers import as_dialogue, as_predicates
from friend_training.types import Dialogue, Predicate, Turn


def test_strings_are_two_speakers_in_turn() -> None:
    asked = as_dialogue(["来吗", "来", "好"])
    assert asked.turns == (Turn("A", "来吗"), Turn("B", "来"), Turn("A", "好"))
    assert asked.predicates == ()


def test_pairs_turns_and_dialogues_are_taken_as_they_are() -> None:
    asked = as_dialogue([("甲", "来吗"), Turn("乙", "来")])
    assert asked.turns == (Turn("甲", "来吗"), Turn("乙", "来"))
    given = Dialogue("x", (Turn("甲", "他来了"),), (Predicate(1, 2),))
    assert as_dialogue(given) is given
    assert as_dialogue(given, ["他"]).predicates == (Predicate(0, 1),)
    assert as_dialogue(given, []).predicates == ()


def test_predicates_are_words_wherever_they_stand_or_places() -> None:
    assert as_predicates("来了又来", ["来"]) == (Predicate(0, 1), Predicate(3, 4))
    assert as_predicates("来了又来", [(3, 4), Predicate(0, 1), "来"]) == (Predicate(0, 1), Predicate(3, 4))
    assert as_predicates("看看", ["看看"]) == (Predicate(0, 2),)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "has no turns"),
        ("来吗", "list of turns"),
        (["来", " "], "last turn has no text"),
        ([3], "turn 0 is a int"),
        ([("甲", "来", "吗")], "turn 0 is a tuple"),
        (["来\ud800"], "turn 0 is not valid Unicode"),
        ([("\udfff", "来")], "the speaker of turn 0 is not valid Unicode"),
    ],
)
def test_what_is_no_dialogue_is_said(given: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_dialogue(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("来", "predicates are a list"),
        (["去"], "'去' does not stand in the last turn"),
        ([""], "does not stand"),
        ([(0, 3)], r"\[0, 3\) is no span"),
        ([(1, 1)], "is no span"),
        ([(-1, 1)], "is no span"),
        ([1.5], "not a float"),
    ],
)
def test_what_is_no_predicate_is_said(given: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_predicates("来了", given)  # type: ignore[arg-type]
