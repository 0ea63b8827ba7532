"""F1 of own and merged labels among the chosen, and what is new in the merged ones, counted by hand."""

import numpy as np
import pytest

from friend_training.core.selector import Scores
from friend_training.core.task import Prediction
from friend_training.study.diagnosis import Choice, Choices, label_quality
from friend_training.types import Argument, CsrlExample, Dialogue, Predicate, Roles, Turn

PREDICATES = (Predicate(0, 1), Predicate(2, 3))
DIALOGUE = Dialogue("d", (Turn("A", "看电影吗"), Turn("B", "看我看你")), PREDICATES)
FILM, ME, YOU = Argument("ARG1", 0, 1, 3), Argument("ARG0", 1, 1, 2), Argument("ARG0", 1, 3, 4)


def said(*labels: tuple[Argument, ...]) -> list[list[Prediction]]:
    pairs = zip(PREDICATES, labels, strict=True)
    return [[Prediction(str(p), Roles(p, tuple(sorted(arguments))), 0.5) for p, arguments in pairs]]


def test_counted_by_hand() -> None:
    gold = [CsrlExample(DIALOGUE, tuple(unit.label for unit in said((ME, FILM), (YOU,))[0]))]
    own, merged = said((ME,), (FILM,)), said((ME, FILM), (ME,))
    right = np.array([False, False])
    scores = Scores(["a", "b"], np.ones(2), np.ones(2), np.ones(2, bool))
    first, nothing = (
        Choice(name, np.array(of), 0) for name, of in (("first", [True, False]), ("none", [False, False]))
    )
    everything, of_first = label_quality(own, merged, gold, Choices(scores, right, np.ones(2), first, None, nothing))
    assert (everything.rule, everything.units, of_first.rule, of_first.units) == ("all", 2, "first", 1)
    assert (everything.own, everything.merged) == pytest.approx((40, 200 / 3)), "1 of 2 and 3; 2 of 3 and 3"
    assert everything.new == pytest.approx(200 / 3), "of three merged arguments CSRL says one"
    assert (of_first.own, of_first.merged, of_first.new) == pytest.approx((200 / 3, 100, 50))
