"""Each model is trained on what the other one chose. Any task will do."""

from dataclasses import replace

import pytest

from friend_training.core.selector import Threshold
from friend_training.errors import ConfigError
from friend_training.methods.co_training import scot
from helpers.toy_runs import SETTINGS, audit, plan, pool, start
from helpers.toy_task import ToyTask


class Remembering(ToyTask):
    """A toy task that keeps what it was trained on; the second kind of model sees only one feature."""

    def __init__(self, *args, blind=False):
        super().__init__(*args)
        self.given, self.blind = [], blind

    def fit(self, gold, pseudo, **rest):
        self.given.append([(label.unit, label.label) for label in pseudo])
        return super().fit(gold, pseudo, **rest)

    def predict(self, inputs):
        return super().predict([replace(point, x=(point.x[0], 0.0, 0.0)) if self.blind else point for point in inputs])


def _plan(blind):
    return plan("mood", Threshold(0.55), task=Remembering("mood", ["sad", "happy"], blind=blind))


def test_each_model_gets_the_labels_that_the_other_chose(tmp_path):
    run = start(tmp_path / "run")
    first, second = _plan(blind=False), _plan(blind=True)
    outcome = scot(run, {"mood": first}, {"mood": second}, pool(), settings=SETTINGS, audit=audit)
    assert set(outcome) == {"mood"}
    for iteration in (1, 2):
        rows = run.store.read(iteration).to_pylist()
        chosen = {
            name: [(row["unit"], row["label"].strip('"')) for row in rows if row["task"] == name and row["chosen"]]
            for name in ("mood", "mood.second")
        }
        assert chosen["mood"] != chosen["mood.second"]
        assert first.task.given[iteration] == chosen["mood.second"]
        assert second.task.given[iteration] == chosen["mood"]
        assert {row["correct"] is None for row in rows if row["task"] == "mood.second"} == {True, False}
        assert all(row["overall"] == row["confidence"] for row in rows)


def test_two_models_that_are_one_are_refused(tmp_path):
    same = _plan(blind=False)
    with pytest.raises(ConfigError, match="same object"):
        scot(start(tmp_path / "run"), {"mood": same}, {"mood": same}, pool(), settings=SETTINGS)
