"""Polarity and emotion as friends: both tell something of the polarity of a text, so Σ is the set of polarities.

An element of Σ is, for each unit, the SET of polarities that a label allows: a polarity allows itself, an emotion
those it can have (all three, and it would match anything). Two units match when their sets have a member in common.
Any number of friends can meet in this one space (a lexicon, a star rating, a service), and three of them make a
triangle (`core.triangle`).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from friend_training.core.friendship import Friendship, Match, Translation
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError

PolaritySets = Mapping[str, frozenset[str]]
"""What polarities a label allows."""

NEGATIVE, NEUTRAL, POSITIVE = (frozenset({name}) for name in ("negative", "neutral", "positive"))

POLARITIES: PolaritySets = {"negative": NEGATIVE, "neutral": NEUTRAL, "positive": POSITIVE}
"""For tasks whose labels are polarities already."""

MELD: PolaritySets = {
    **dict.fromkeys(("anger", "disgust", "fear", "sadness"), NEGATIVE),
    "joy": POSITIVE,
    "neutral": NEUTRAL,
    "surprise": NEGATIVE | POSITIVE,  # by MELD's scheme good or bad, never neutral
}
CPED: PolaritySets = {
    **dict.fromkeys(("anger", "depress", "disgust", "fear", "negative-other", "sadness", "worried"), NEGATIVE),
    **dict.fromkeys(("grateful", "happy", "positive-other", "relaxed"), POSITIVE),
    "neutral": NEUTRAL,
    "astonished": NEGATIVE,  # by CPED's scheme; the surprised who are glad are labelled happy
}
Unit = frozenset[str]


def polarity_friends(tasks: Mapping[str, PolaritySets]) -> list[Friendship]:
    """A friendship between every two of these tasks, each given with what its labels allow."""
    return [
        Friendship(f"{a}-{b}", a, b, translation(tasks[a], a), translation(tasks[b], b), match_polarities)
        for a, b in combinations(tasks, 2)
    ]


def translation(sets: PolaritySets, task: str) -> Translation:
    """F: each unit's label as the polarities it allows."""

    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[tuple[Unit, ...]]:
        return [tuple(_allowed(sets, task, unit.label) for unit in units) for units in predictions]

    return translate


def match_polarities(first: Sequence[tuple[Unit, ...]], second: Sequence[tuple[Unit, ...]], /) -> list[Match]:
    """M: 1 where two units have a polarity in common, 0 where they have none; a silent friend leaves nothing to match.

    An input is one unit for a classifier. Should a task have several, a unit's score is the share of the friend's that
    it meets.
    """
    return [Match(_scores(a, b), _scores(b, a)) for a, b in zip(first, second, strict=True)]


def _scores(own: Sequence[Unit], friends: Sequence[Unit]) -> tuple[float | None, ...]:
    if not friends:
        return (None,) * len(own)
    return tuple(sum(bool(unit & other) for other in friends) / len(friends) for unit in own)


def _allowed(sets: PolaritySets, task: str, label: str) -> Unit:
    if label not in sets:
        raise ConfigError(f"task {task}: no polarity is known for label {label!r}; known are {', '.join(sets)}")
    return sets[label]
