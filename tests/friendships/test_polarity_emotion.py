import pytest

from friend_training.core.friendship import Match
from friend_training.core.task import Prediction
from friend_training.data.readers.emotions import CPED_EMOTIONS, MELD_EMOTIONS
from friend_training.errors import ConfigError
from friend_training.friendships.polarity import CPED, MELD, NEGATIVE, NEUTRAL, POLARITIES, POSITIVE, polarity_friends
from friend_training.testing import check_friendship
from friend_training.types import Text

TASKS = {"polarity": POLARITIES, "emotion": MELD, "lexicon": POLARITIES}


def said(*labels: str | None) -> list[list[Prediction]]:
    return [[] if label is None else [Prediction(f"u{n}", label, 0.5)] for n, label in enumerate(labels)]


def texts(count: int) -> list[Text]:
    return [Text(f"u{n}", "") for n in range(count)]


def match(first: str, second: str) -> float | None:
    (friendship,) = polarity_friends({"polarity": POLARITIES, "emotion": MELD})
    (found,) = friendship.match(texts(1), said(first), said(second))
    assert found.first == found.second
    return found.first[0]


@pytest.mark.parametrize(
    ("polarity", "emotion", "score"),
    [
        ("positive", "joy", 1.0),
        ("negative", "joy", 0.0),
        ("neutral", "neutral", 1.0),
        ("negative", "disgust", 1.0),
        ("positive", "surprise", 1.0),
        ("negative", "surprise", 1.0),
        ("neutral", "surprise", 0.0),
    ],
)
def test_an_emotion_matches_the_polarities_it_allows(polarity, emotion, score):
    assert match(polarity, emotion) == score


def test_a_label_that_allows_everything_matches_anything():
    anything = {"hm": NEGATIVE | NEUTRAL | POSITIVE}
    (friendship,) = polarity_friends({"polarity": POLARITIES, "emotion": anything})
    found = friendship.match(texts(3), said(*POLARITIES), said("hm", "hm", "hm"))
    assert list(found) == [Match((1.0,), (1.0,))] * 3


def test_a_silent_friend_leaves_nothing_to_match():
    (friendship,) = polarity_friends({"polarity": POLARITIES, "lexicon": POLARITIES})
    assert list(friendship.match(texts(1), said("positive"), said(None))) == [Match((None,), ())]


def test_every_label_of_the_corpora_has_its_polarities():
    assert set(MELD) == set(MELD_EMOTIONS)
    assert set(CPED) == set(CPED_EMOTIONS)
    assert all(sets <= POSITIVE | NEGATIVE | NEUTRAL and sets for table in (MELD, CPED) for sets in table.values())


def test_three_tasks_are_a_triangle_of_conforming_friendships():
    friendships = polarity_friends(TASKS)
    assert [one.name for one in friendships] == ["polarity-emotion", "polarity-lexicon", "emotion-lexicon"]
    polarity, emotion = said("positive", "negative", "neutral", "positive"), said("joy", "fear", "neutral", "surprise")
    predictions = {
        "polarity": polarity,
        "emotion": emotion,
        "lexicon": said("positive", "negative", "neutral", "negative"),
    }
    for one in friendships:
        check_friendship(
            one,
            inputs=texts(4),
            first=predictions[one.first],
            second=predictions[one.second],
            agreeing=[0, 1, 2],
            symmetric=True,
        )


def test_an_unknown_label_is_said():
    (friendship,) = polarity_friends({"polarity": POLARITIES, "emotion": MELD})
    with pytest.raises(ConfigError, match=r"task emotion: no polarity is known for label 'boredom'; known are anger"):
        friendship.match(texts(1), said("positive"), said("boredom"))
