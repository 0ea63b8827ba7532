"""A stricter choice: how many labels are right among the best few."""

import numpy as np

from friend_training.core.selector import Scores
from friend_training.study.diagnosis import Choice, Choices, strictness


def choices(confidence: list[float], overall: list[float], content: list[bool], right: list[bool]) -> Choices:
    nothing = Choice("none", np.zeros(len(right), np.bool_), 0)
    scores = Scores(
        unit=[str(number) for number in range(len(right))],
        confidence=np.array(confidence),
        match=np.array(overall),
        content=np.array(content),
        label=[""] * len(right),
    )
    return Choices(scores, np.array(right), np.array(overall), nothing, None, nothing)


def test_the_best_few_by_match_and_by_confidence() -> None:
    """Twenty units that say something, the first two right; agreement finds them, confidence finds the last ones."""
    rising, falling = [number / 20 for number in range(20)], [1 - number / 20 for number in range(20)]
    found = strictness(choices(rising, falling, [True] * 20, [True] * 2 + [False] * 18))
    assert [(one.share, one.units, one.by_match, one.by_confidence) for one in found] == [
        (0.05, 1, 1.0, 0.0),
        (0.1, 2, 1.0, 0.0),
        (0.2, 4, 0.5, 0.0),
        (0.3, 6, 2 / 6, 0.0),
    ]


def test_what_says_nothing_is_no_label_and_what_has_no_match_is_none_of_the_best() -> None:
    """Ten of twenty say something, and of those only two have a match: shares of more than two are left out."""
    says = [True] * 10 + [False] * 10
    overall = [0.1, 0.2] + [np.nan] * 8 + [0.9] * 10
    found = strictness(choices([0.5] * 10 + [0.9] * 10, overall, says, [False, True] + [False] * 8 + [True] * 10))
    assert [(one.share, one.units, one.by_match) for one in found] == [(0.1, 1, 1.0), (0.2, 2, 0.5)]
