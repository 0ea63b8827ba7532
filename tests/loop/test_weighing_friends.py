"""What friends' words weigh: where labels are decided on together, found on dev; as votes, found by EM on the pool."""

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.analysis.three_friends import count_votes
from friend_training.core.friendship import Joint, consider
from friend_training.core.selector import Precision, Selector, Share
from friend_training.core.task import PRF, Prediction
from friend_training.errors import ConfigError
from friend_training.friendships.labels import label_friendship
from friend_training.loop.algorithm import (
    LoopSettings,
    TaskPlan,
    Training,
    check_plan,
    fixed_friend,
    friend_train,
)
from friend_training.loop.selection import count_opinions, opinions_of
from friend_training.loop.thresholds import WEIGHTS, Probe, considered, weigh_friends, with_weights
from friend_training.runs.run import Run
from friend_training.runs.steps import WeighFriends
from friend_training.tasks.estimators.task import Estimator
from friend_training.tasks.sources import Rule
from friend_training.types import Text

MEANS = {"a": "a", "b": "b"}


class Known:
    """A classifier of inputs whose id says what is right: it is right in so many of ten, and as sure as it is told."""

    label_type = str

    def __init__(self, right: int, sure: float) -> None:
        self.right, self.sure = right, sure

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return [[units[0][0]] for units in self.n_best(inputs, 1)]

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        found = []
        for given in inputs:
            gold = given.text
            best = gold if random.Random(f"{given.id} {self.right}").randrange(10) < self.right else "ab"[gold == "a"]
            other = "ab"[best == "a"]
            found.append([[Prediction(given.id, best, self.sure), Prediction(given.id, other, 1 - self.sure)][:k]])
        return found

    def log_likelihood(self, inputs: Sequence[Any], labels: Any) -> list[list[list[float]]]:
        ranked = [{one.label: one.confidence for one in units[0]} for units in self.n_best(inputs, 2)]
        return [[[math.log(of[label]) for label in units[0]]] for of, units in zip(ranked, labels, strict=True)]


INPUTS = [Text(str(number), "ab"[number % 2]) for number in range(200)]
GOLD = {one.id: one.text for one in INPUTS}


def right(prediction: Prediction) -> bool | None:
    return prediction.label == GOLD[prediction.unit]


def count(prediction: Prediction) -> PRF:
    return PRF(int(prediction.label == GOLD[prediction.unit]), 1, 1)


def test_a_friend_that_knows_better_is_believed_and_one_that_guesses_is_not() -> None:
    tasks = {"own": Known(6, 0.7), "wise": Known(9, 0.8), "foolish": Known(1, 0.8)}
    friends = [
        label_friendship("own", name, MEANS, name=name).with_joint("own", Joint("auto", friend_best=2))
        for name in ("wise", "foolish")
    ]
    said = {name: task.predict(INPUTS) for name, task in tasks.items()}
    found = weigh_friends(consider("own", friends, tasks, INPUTS, said), count)
    assert found.weights["wise"] > 0
    assert found.weights["foolish"] == 0
    assert found.units == 200
    assert found.own == pytest.approx(sum(right(unit) is True for (unit,) in said["own"]) / 200)
    assert found.score == pytest.approx(sum(right(unit) is True for (unit,) in said["wise"]) / 200, abs=0.05)
    fixed = with_weights(friends, {"own": {"weights": found.weights, "temperature": found.temperature}})
    assert [one.joint("own").match_weight for one in fixed] == [found.weights["wise"], 0.0]  # type: ignore[union-attr]


def test_what_a_setting_fixes_is_not_looked_for() -> None:
    tasks = {"own": Known(6, 0.7), "wise": Known(9, 0.7)}
    friend = label_friendship("own", "wise", MEANS)
    said = {name: task.predict(INPUTS) for name, task in tasks.items()}
    fixed = consider("own", [friend.with_joint("own", Joint(0.25, "auto"))], tasks, INPUTS, said)
    assert weigh_friends(fixed, count).weights == {"own-wise": 0.25}
    free = weigh_friends(consider("own", [friend.with_joint("own", Joint("auto"))], tasks, INPUTS, said), count)
    assert free.temperature == 1.0
    assert free.weights["own-wise"] in WEIGHTS


def test_a_run_weighs_its_friends_before_it_labels(tmp_path: Path) -> None:
    """A rule that is always right makes the labels of the pool right, however little the learner knows."""
    words = {"a": ["ash", "oak"], "b": ["bee", "fly"]}

    def text(number: int) -> Text:
        draw = random.Random(number)
        kind = "ab"[number % 2]
        return Text(
            str(number), " ".join([*draw.choices(words[kind], k=2), *draw.choices(words["a"] + words["b"], k=3)])
        )

    def kind_of(given: Any) -> tuple[str, float]:
        return "ab"[int(given.id) % 2], 1.0

    gold = [(text(number), "ab"[number % 2]) for number in range(12)]
    dev = [(text(number), "ab"[number % 2]) for number in range(100, 160)]
    learner = Estimator("kind", make_pipeline(TfidfVectorizer(), LogisticRegression()))
    rule = Rule("rule", kind_of)
    friend = label_friendship("kind", "rule", MEANS).with_joint("kind", Joint("auto", confidence="joint"))
    by_id = {given.id: label for given, label in dev}
    probe = Probe([given for given, _ in dev], lambda found: by_id[found.unit] == found.label)
    plan = TaskPlan(
        learner, gold, dev, Training(1), Training(1), [Selector(Share(1.0), 0.2)] * 2, {"test": dev}, probe=probe
    )
    plans = {"kind": plan, "rule": fixed_friend(rule)}
    run = Run.create(tmp_path / "run", "{}\n", {})
    pool = [text(number) for number in range(1000, 1100)]
    settings = LoopSettings(seed=1, iterations=2, shard_size=40)
    friend_train(run, plans, [friend], pool, settings=settings, audit=lambda task, found: None)
    for iteration in (1, 2):
        weighed = run.require(WeighFriends(iteration))["tasks"]["kind"]
        assert weighed["weights"]["kind-rule"] > 0
        assert weighed["score"] == 1.0
    labels = {
        row["unit"]: row["label"]
        for shard in range(3)
        for row in run.store.selected(1, shard).to_pylist()
        if row["task"] == "kind"
    }
    assert labels == {given.id: f'"{kind_of(given)[0]}"' for given in pool}
    matched = [row["match"] for row in run.store.selected(1, 0).to_pylist() if row["task"] == "kind"]
    assert set(matched) == {1.0}  # it is the label decided on that is matched
    blind = {**plans, "kind": TaskPlan(learner, gold, dev, Training(1), Training(1), plan.selectors)}
    other = Run.create(tmp_path / "other", "{}\n", {})
    with pytest.raises(ConfigError, match="found on dev"):
        friend_train(other, blind, [friend], pool, settings=settings)
    assert considered("kind", probe, {"kind": learner, "rule": rule}, [friend]).opinions[0].friendship == friend


def test_votes_believe_whom_the_others_bear_out(tmp_path: Path) -> None:
    """The one is right whom the others bear out most of the time; who is silent has no say."""
    kinds = {given.id: "ab"[int(given.id) % 2] for given in INPUTS}
    tasks: dict[str, Any] = {"own": Known(6, 0.7), "wise": Known(9, 0.7)}
    said = {name: task.predict(INPUTS) for name, task in tasks.items()}
    said["rule"] = [[Prediction(one.id, kinds[one.id], 1.0)] if int(one.id) % 5 else [] for one in INPUTS]
    friends = [label_friendship("own", name, {"a": "a", "b": ["b"]}, name=name) for name in ("wise", "rule")]
    opinions = opinions_of("own", friends, INPUTS, said)
    assert opinions["5"] == [said["own"][5][0].label, said["wise"][5][0].label, None]
    assert opinions["6"][2] == "a"

    def count(given: Any, labels: int) -> tuple[Any, Any]:
        votes = count_votes(given, labels)
        return votes.posterior, votes.reliability[0]

    voted = count_opinions(opinions, ["own", "wise", "rule"], count)
    assert voted.sources["own"] < voted.sources["wise"] < voted.sources["rule"]
    right_of = {unit.unit: right(unit) is True for (unit,) in said["own"]}
    mean = {
        verdict: np.mean([p for unit, p in voted.of_unit.items() if right_of[unit] is verdict])
        for verdict in (True, False)
    }
    assert mean[True] > 0.9 > 0.3 > mean[False]
    assert voted(pa.table({"unit": ["7", "5"]})).tolist() == [voted.of_unit["7"], voted.of_unit["5"]]
    several = opinions_of("own", [label_friendship("own", "wise", {"a": ["a", "b"], "b": "b"})], INPUTS, said)
    assert {said_of[0] for said_of in several.values()} == {None, "b"}
    silent = count_opinions({"x": [None, "b", "b"], "y": ["a", "a", "b"]}, ["own", "wise", "rule"], count)
    assert silent.of_unit["x"] == 0


def test_votes_need_three_and_a_rule_that_asks_no_dev() -> None:
    with pytest.raises(ConfigError, match="a number or a share where the score is votes"):
        Selector(Precision(0.8), score="votes")
    learner = Known(6, 0.7)
    selectors = [Selector(Share(0.5), score="votes")]
    plan = TaskPlan(learner, [1], [1], Training(1), Training(1), selectors, count=lambda given, labels: (given, given))  # type: ignore[arg-type]
    friend = label_friendship("own", "wise", MEANS)
    with pytest.raises(ConfigError, match="two friends or more, and there are 1"):
        check_plan({"own": plan, "wise": fixed_friend(learner)}, [friend], INPUTS, LoopSettings(1, 1))  # type: ignore[arg-type]
