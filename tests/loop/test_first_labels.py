"""What Base says of a shard is asked once, of the same task with the same weights; methods stay what they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from friend_training.loop.algorithm import friend_train
from friend_training.loop.labelling import FirstLabels
from helpers.toy_runs import POLARITY, SETTINGS, contents, friends, plan, pool, start
from helpers.toy_task import ToyTask


class Counting(ToyTask):
    """Counts how often it labels a shard of the pool."""

    shards = 0

    def predict(self, inputs):
        self.shards += inputs[0].id.startswith("pool")
        return super().predict(inputs)


def test_a_second_method_does_not_ask_again(tmp_path: Path) -> None:
    tasks = {name: Counting(name, list(POLARITY[name])) for name in ("stars", "mood")}
    plans = {name: plan(name, task=task) for name, task in tasks.items()}
    sharing = replace(SETTINGS, first_labels=FirstLabels())
    asked, made = [], []
    for name, settings in (("alone", SETTINGS), ("first", sharing), ("second", sharing)):
        before = tasks["mood"].shards
        run = start(tmp_path / name)
        friend_train(run, plans, [friends("stars", "mood")], pool(), settings=settings)
        asked.append(tasks["mood"].shards - before)
        made.append(contents(run))
    assert asked == [6, 6, 3], "three shards in two iterations"
    assert made[0] == made[1] == made[2]


def test_another_task_other_weights_and_another_shard_are_asked() -> None:
    first_labels, task, other = FirstLabels(), Counting("mood", ["sad"]), Counting("mood", ["happy"])
    for one in (task, other):
        one.weights = np.zeros((4, 1))
    points = pool()[:2]
    first = first_labels.queried(task, "a", 0).predict(points)
    assert first_labels.queried(task, "a", 0).predict(points) is first
    assert task.shards == 1
    first_labels.queried(task, "b", 0).predict(points)
    first_labels.queried(task, "a", 1).predict(points)
    assert task.shards == 3
    assert first_labels.queried(other, "a", 0).predict(points)[0][0].label == "happy"
