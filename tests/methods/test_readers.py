"""Two models of a task: the surer label is learnt."""

from friend_training.core.task import Prediction
from friend_training.methods.co_training import surer, two_readers
from friend_training.testing import MatchCase, check_matcher


def _said(*units):
    return [[Prediction(unit, label, confidence) for unit, label, confidence in units]]


def test_unit_by_unit_the_surer_one_is_kept_with_its_confidence():
    first = _said(("a", "x", 0.9), ("b", "x", 0.2), ("c", "x", 0.5))
    second = _said(("a", "y", 0.8), ("b", "y", 0.3), ("c", "y", 0.5))
    assert surer([None], first, second) == _said(("a", "x", 0.9), ("b", "y", 0.3), ("c", "x", 0.5))


def test_two_readers_match_where_they_say_the_same():
    friendship = two_readers("task")
    assert (friendship.first, friendship.second) == ("task", "task.second")
    [match] = friendship.match([None], _said(("a", "x", 0.9), ("b", "x", 0.2)), _said(("a", "x", 0.1), ("b", "y", 0.2)))
    assert match.first == match.second == (1.0, 0.0)


def test_the_matcher_keeps_the_rules():
    cases = [MatchCase(("x",), ("x",), 1, 1, agree=True), MatchCase(("x", "y"), ("x", "z"), 2, 2)]
    check_matcher(two_readers("task").matcher, cases=cases, symmetric=True)
