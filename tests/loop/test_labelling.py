from dataclasses import dataclass, replace

import pytest

from friend_training.core.friendship import Friendship, Joint, Match
from friend_training.core.task import Prediction
from friend_training.errors import FriendTrainingError
from friend_training.loop.labelling import FirstLabels, label_shard
from helpers.toy_runs import friends, pool
from helpers.toy_task import ToyTask


@dataclass(frozen=True)
class Roles:
    predicate: tuple[int, int]
    arguments: tuple[str, ...]


class Fixed(ToyTask):
    """Predicts what it is told to."""

    def __init__(self, name, predictions, label_type=str):
        super().__init__(name, ["x"])
        self.predictions, self.label_type = predictions, label_type

    def predict(self, inputs):
        return self.predictions


INPUTS = pool()[:2]
ROLES = [
    [Prediction("p0/1", Roles((1, 2), ("我", "tea")), 0.5), Prediction("p0/2", Roles((3, 4), ()), 0.25, False)],
    [],
]
MOOD = [[Prediction("m0", "happy", 1.0)], [Prediction("m1", "sad", 0.0)]]


def friendship(matches):
    return Friendship("roles-mood", "roles", "mood", lambda i, p: p, lambda i, p: p, lambda a, b: matches)


def label(matches, roles=ROLES, mood=MOOD, **extra):
    tasks = {"roles": Fixed("roles", roles, Roles), "mood": Fixed("mood", mood)}
    return label_shard(tasks, [friendship(matches)], INPUTS, aggregate="mean", **extra)


MATCHES = [Match((1.0, None), (0.5,)), Match((), (None,))]


def test_a_row_for_every_unit():
    rows = label(MATCHES, audit=lambda task, prediction: None if task == "mood" else prediction.content).to_pylist()
    assert [(row["task"], row["unit"], row["input"]) for row in rows] == [
        ("roles", "p0/1", "pool0"),
        ("roles", "p0/2", "pool0"),
        ("mood", "m0", "pool0"),
        ("mood", "m1", "pool1"),
    ]
    assert rows[0]["label"] == '{"predicate":[1,2],"arguments":["我","tea"]}'
    assert [row["match"] for row in rows] == [1.0, None, 0.5, None]
    assert [dict(row["matches"]) for row in rows] == [{"roles-mood": score} for score in (1.0, None, 0.5, None)]
    assert [row["correct"] for row in rows] == [True, False, None, None]
    assert [row["content"] for row in rows] == [True, False, True, True]


def test_matches_of_several_friendships_are_kept_apart_and_aggregated():
    labels = {"stars": "five", "mood": "sad", "thumb": "up"}
    tasks = {
        name: Fixed(name, [[Prediction(f"{name}{n}", label, 0.5)] for n in range(2)]) for name, label in labels.items()
    }
    edges = [friends("stars", "thumb"), friends("mood", "stars")]
    rows = {row["unit"]: row for row in label_shard(tasks, edges, INPUTS, aggregate="mean").to_pylist()}
    assert dict(rows["stars0"]["matches"]) == {"stars-thumb": 1.0, "mood-stars": 0.0}
    assert [rows[unit]["match"] for unit in ("stars0", "mood0", "thumb0")] == [0.5, 0.0, 1.0]


def test_without_friends_there_is_nothing_to_match():
    rows = label_shard({"mood": Fixed("mood", MOOD)}, [], INPUTS, aggregate="mean").to_pylist()
    assert [(row["match"], row["matches"]) for row in rows] == [(None, []), (None, [])]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matches": MATCHES[:1]}, "1 matches for 2 inputs"),
        ({"matches": [Match((1.0,), (0.5,)), MATCHES[1]]}, "1 scores for the 2 units of task 'roles' in input 'pool0'"),
        ({"matches": [Match((1.5, None), (0.5,)), MATCHES[1]]}, r"outside \[0, 1\] for task 'roles'"),
        ({"mood": MOOD[:1]}, "task 'mood': 1 lists of predictions for 2 inputs"),
        ({"mood": [MOOD[0], MOOD[0]]}, "two units are called 'm0'"),
        ({"mood": [MOOD[0], [Prediction("m1", "sad", float("nan"))]]}, "confidence nan of unit 'm1'"),
    ],
)
def test_tasks_and_matchers_that_break_their_contract_are_named(changes, message):
    with pytest.raises(FriendTrainingError, match=message):
        label(**{"matches": MATCHES} | changes)


def merging(merge):
    return replace(friendship(MATCHES), merge_first=merge)


def label_merged(merge):
    tasks = {"roles": Fixed("roles", ROLES, Roles), "mood": Fixed("mood", MOOD)}
    return label_shard(tasks, [merging(merge)], INPUTS, aggregate="mean").to_pylist()


def test_a_merged_label_is_kept_in_place_of_the_own_one():
    def merge(inputs, first, second):
        assert (first, second) == (ROLES, MOOD)
        return [[replace(p, label=Roles(p.label.predicate, ("both",)), content=True) for p in units] for units in first]

    rows = label_merged(merge)
    assert [row["label"] for row in rows[:2]] == [
        '{"predicate":[1,2],"arguments":["both"]}',
        '{"predicate":[3,4],"arguments":["both"]}',
    ]
    plain = label(MATCHES).to_pylist()
    assert [row["content"] for row in rows[:2]] == [True, True]
    for name in ("unit", "confidence", "match"):
        assert [row[name] for row in rows] == [row[name] for row in plain], "what it is chosen by is the task's own"
    assert rows[2:] == plain[2:], "the friend is trained on its own labels"


def test_merging_may_not_lose_a_unit():
    with pytest.raises(FriendTrainingError, match="'roles': merging labels must leave its units as they were"):
        label_merged(lambda inputs, first, second: [units[:1] for units in first])


class Ranked(Fixed):
    """Has a second label for every unit, half as likely."""

    def n_best(self, inputs, k):
        return [[[unit, replace(unit, label="other")][:k] for unit in units] for units in self.predictions]

    def log_likelihood(self, inputs, labels):
        return [[[-0.7 * (label == "other") for label in unit] for unit in units] for units in labels]


@pytest.mark.parametrize("first", [True, False])
def test_a_label_decided_on_together_is_kept_in_place_of_the_own_one(first):
    said = {"stars": [[Prediction("s0", "five", 0.5)]], "mood": [[Prediction("m0", "happy", 0.25)]]}
    tasks = {name: Ranked(name, units) for name, units in said.items()}
    alike = friends("stars", "mood")
    own, other = ("stars", "mood") if first else ("mood", "stars")
    edge = replace(
        alike,
        matcher=lambda a, b: [
            Match((score,), (score,)) for score in (float("other" in pair) for pair in zip(a, b, strict=True))
        ],
        translate_first=lambda inputs, units: [of[0].label for of in units],
        translate_second=lambda inputs, units: [of[0].label for of in units],
        **{"joint_first" if first else "joint_second": Joint(1.0)},
    )
    queried = {name: FirstLabels().queried(task, "digest", 0) for name, task in tasks.items()}
    rows = {row["task"]: row for row in label_shard(queried, [edge], INPUTS[:1], aggregate="mean").to_pylist()}
    assert (rows[own]["label"], rows[other]["label"]) == ('"other"', f'"{said[other][0][0].label}"')
    assert (rows[own]["match"], rows[own]["confidence"]) == (0.0, said[own][0][0].confidence)
