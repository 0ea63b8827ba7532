"""What friends' words weigh where labels are decided on together: found on dev, anew in each iteration."""

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.core.friendship import Joint, consider
from friend_training.core.selector import Selector, Share
from friend_training.core.task import PRF, Prediction
from friend_training.errors import ConfigError
from friend_training.friendships.labels import label_friendship
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training, fixed_friend, friend_train
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
    tasks = {"own": Known(6, 0.7), "wise": Known(9, 0.7), "foolish": Known(1, 0.7)}
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
