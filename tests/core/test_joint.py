"""Joint decisions, for any two tasks: the match moves a label only as far as both models find it likely."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from friend_training.core.friendship import Friendship, Joint, can_rank, decide, partners
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError, UnsupportedTaskError
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


def decided_on(
    friendship: Friendship, name: str, joint: Joint, polarity: "Knows" = POLARITY, emotion: "Knows" = EMOTION
) -> list[list[Prediction]]:
    tasks = {"polarity": polarity, "emotion": emotion}
    said = {task: knows.predict() for task, knows in tasks.items()}
    return decide(name, [friendship.with_joint(name, joint)], tasks, INPUTS, said)


def decided(joint: Joint, *, first: bool = True) -> list[str]:
    said = (POLARITY.predict(), EMOTION.predict())
    name = "polarity" if first else "emotion"
    found = decided_on(FRIENDS, name, joint)
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
    assert [unit.label for (unit,) in decided_on(known, "polarity", Joint(9.0, best=1))] == ["good", "good"]
    with_proposals = decided_on(known, "polarity", Joint(9.0, best=1, propose=propose))
    assert [unit.label for (unit,) in with_proposals] == ["bad", "bad"]


def test_a_foreign_friend_is_another_inputs() -> None:
    joy = Knows(({"joy": 1.0}, {"anger": 1.0}))
    found = decided_on(FRIENDS, "polarity", Joint(9.0, foreign=1), emotion=joy)
    assert [unit.label for (unit,) in found] == ["bad", "good"]


def test_partners_are_of_one_shape_and_never_oneself() -> None:
    shapes = [(1, 1), (2, 1), (1, 1), (2, 1), (3, 1)]
    found = partners(list("abcde"), shapes, 1)
    assert found == {0: 2, 2: 0, 1: 3, 3: 1}


def test_a_task_that_cannot_rank_is_refused() -> None:
    tasks = {"polarity": object(), "emotion": EMOTION}
    said = {"polarity": POLARITY.predict(), "emotion": EMOTION.predict()}
    friends = [FRIENDS.with_joint("polarity", Joint(1.0))]
    with pytest.raises(UnsupportedTaskError, match="n_best and log_likelihood"):
        decide("polarity", friends, tasks, INPUTS, said)


WORDS = Knows(({"up": 0.3, "down": 0.7}, {"up": 0.2, "down": 0.8}))
TASKS = {"polarity": POLARITY, "emotion": EMOTION, "words": WORDS}
TABLES: dict[str, dict[str, list[str]]] = {
    "emotion": {"good": ["joy"], "bad": ["anger", "fear"]},
    "words": {"good": ["up"], "bad": ["down"]},
}


def together(*joints: Joint) -> list[Friendship]:
    made = [label_friendship("polarity", friend, table) for friend, table in TABLES.items()]
    return [one.with_joint("polarity", joint) for one, joint in zip(made, joints, strict=True)]


@pytest.mark.parametrize(
    ("weights", "temperature"), [((0.5, 2.0), 1.0), ((2.0, 0.5), 1.0), ((3.0, 3.0), 2.0), ((0.0, 4.0), 1.0)]
)
def test_any_number_of_friends_against_brute_force(weights: tuple[float, float], temperature: float) -> None:
    """Of all labels of all three the ones with the largest sum; whose friend's weight is 0 has no say."""
    friendships = together(*(Joint(weight, temperature, friend_best=3) for weight in weights))
    said = {name: knows.predict() for name, knows in TASKS.items()}
    found = decide("polarity", friendships, TASKS, INPUTS, said)
    for number, (unit,) in enumerate(found):
        own = POLARITY.probabilities[number]
        heard = [
            (table, weight, friend.probabilities[number])
            for table, weight, friend in zip(TABLES.values(), weights, (EMOTION, WORDS), strict=True)
            if weight
        ]
        ways = {
            (label, answers): math.log(own[label]) / temperature
            + sum(
                math.log(of[answer]) / temperature + weight * (answer in table[label])
                for answer, (table, weight, of) in zip(answers, heard, strict=True)
            )
            for label in own
            for answers in product(*(of for _, _, of in heard))
        }
        assert unit.label == max(ways, key=lambda way: ways[way])[0]


def test_the_joint_confidence_is_a_share_of_the_scores() -> None:
    joint = Joint(3.0, confidence="joint")
    (first,), _ = decided_on(FRIENDS, "polarity", joint)
    good, bad = math.log(0.6), math.log(0.4) + 3.0  # anger means bad
    assert first.label == "bad"
    assert first.confidence == pytest.approx(1 / (1 + math.exp(good - bad)))


def test_a_friend_that_cannot_rank_answers_as_it_predicts() -> None:
    @dataclass(frozen=True)
    class Says:
        ranks = False
        n_best = Knows.n_best
        log_likelihood = Knows.log_likelihood
        probabilities: tuple[dict[str, float], ...]

    said = {"polarity": POLARITY.predict(), "emotion": EMOTION.predict()}
    tasks = {"polarity": POLARITY, "emotion": Says(({"joy": 1.0},) * 2)}  # what it would rank is not asked for
    found = decide("polarity", [FRIENDS.with_joint("polarity", Joint(3.0, friend_best=3))], tasks, INPUTS, said)
    assert [unit.label for (unit,) in found] == ["bad", "bad"]
    assert not can_rank(tasks["emotion"])


def test_what_is_to_be_found_on_dev_is_no_number_yet() -> None:
    assert Joint("auto").to_fit
    assert not Joint("auto", best=1).to_fit  # nothing is weighed
    with pytest.raises(ConfigError, match="found on dev first"):
        decided_on(FRIENDS, "polarity", Joint("auto"))
