"""Joint decisions, for any two tasks: the match moves a label only as far as both models find it likely."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from friend_training.core.friendship import Joint, decide, partners
from friend_training.core.task import Prediction
from friend_training.errors import UnsupportedTaskError
from friend_training.friendships.labels import label_friendship
from friend_training.types import Text

FRIENDS = label_friendship("polarity", "emotion", {"good": ["joy"], "bad": ["anger", "fear"]})


@dataclass(frozen=True)
class Knows:
    """A classifier that has a probability for each label of each text."""

    probabilities: tuple[dict[str, float], ...]

    def predict(self) -> list[list[Prediction]]:
        return [[units[0][0]] for units in self.n_best([], 1)]

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        ranked = [sorted(of.items(), key=lambda found: -found[1])[:k] for of in self.probabilities]
        return [[[Prediction(f"x{n}", *one) for one in found]] for n, found in enumerate(ranked)]

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        return [
            [[math.log(of[label]) if label in of else -math.inf for label in unit] for unit in units]
            for of, units in zip(self.probabilities, labels, strict=True)
        ]


POLARITY = Knows(({"good": 0.6, "bad": 0.4}, {"good": 0.95, "bad": 0.05}))
EMOTION = Knows(({"anger": 0.9, "joy": 0.1}, {"fear": 0.5, "joy": 0.45, "anger": 0.05}))
INPUTS = [Text("a", "…"), Text("b", "…")]


def decided(joint: Joint, *, first: bool = True) -> list[str]:
    said = (POLARITY.predict(), EMOTION.predict())
    found = decide(FRIENDS, joint, (POLARITY, EMOTION), INPUTS, said, first=first)
    assert [unit.confidence for (unit,) in found] == [unit.confidence for (unit,) in said[0 if first else 1]]
    return [unit.label for (unit,) in found]


def test_without_weight_the_match_changes_nothing() -> None:
    assert decided(Joint(0.0)) == ["good", "good"]


def test_a_friend_moves_a_label_that_is_likely_enough() -> None:
    """log 0.6/0.4 is 0.4, log 0.95/0.05 is 2.9: the first gives way to a match of weight 1, the second to one of 3."""
    assert decided(Joint(1.0)) == ["bad", "good"]
    assert decided(Joint(3.0)) == ["bad", "bad"]


def test_a_temperature_makes_models_less_sure() -> None:
    assert decided(Joint(1.0, temperature=4.0)) == ["bad", "bad"]


def test_the_pair_is_decided_on_not_one_side() -> None:
    """With its other answers at hand the friend itself gives way: fear and joy are nearly as likely."""
    assert decided(Joint(3.0, friend_best=3)) == ["bad", "good"]
    assert decided(Joint(3.0, friend_best=3), first=False) == ["anger", "joy"]


def test_a_proposal_is_weighed_like_the_likeliest() -> None:
    """Of one likeliest label only a proposal brings another one; one that the model cannot give is never taken."""

    def propose(inputs: Sequence[Any], likeliest: Any, friends: Any) -> list[list[list[Prediction]]]:
        labels = ("bad", "unheard of")
        return [[[replace(unit[0], label=label) for label in labels] for unit in units] for units in likeliest]

    known = label_friendship("polarity", "emotion", {"good": "joy", "bad": ["anger", "fear"], "unheard of": "fear"})
    said = (POLARITY.predict(), EMOTION.predict())
    tasks = (POLARITY, EMOTION)
    assert [u.label for (u,) in decide(known, Joint(9.0, best=1), tasks, INPUTS, said, first=True)] == ["good", "good"]
    with_proposals = decide(known, Joint(9.0, best=1, propose=propose), tasks, INPUTS, said, first=True)
    assert [unit.label for (unit,) in with_proposals] == ["bad", "bad"]


def test_a_foreign_friend_is_another_inputs() -> None:
    joy = Knows(({"joy": 1.0}, {"anger": 1.0}))
    said = (POLARITY.predict(), joy.predict())
    found = decide(FRIENDS, Joint(9.0, foreign=1), (POLARITY, joy), INPUTS, said, first=True)
    assert [unit.label for (unit,) in found] == ["bad", "good"]


def test_partners_are_of_one_shape_and_never_oneself() -> None:
    shapes = [(1, 1), (2, 1), (1, 1), (2, 1), (3, 1)]
    found = partners(list("abcde"), shapes, 1)
    assert found == {0: 2, 2: 0, 1: 3, 3: 1}


def test_a_task_that_cannot_rank_is_refused() -> None:
    with pytest.raises(UnsupportedTaskError, match="n_best and log_likelihood"):
        decide(FRIENDS, Joint(1.0), (object(), EMOTION), INPUTS, (POLARITY.predict(), EMOTION.predict()), first=True)
