"""All pseudo-labels are chosen, and within a batch each weighs as much as the teacher trusted it."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import SETTINGS, plan, pool
from toy_runs import start

from friend_training.core.selector import Selector
from friend_training.methods import stbr as module
from friend_training.methods.stbr import batch_weights, stbr


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=16))
def test_the_weights_of_a_batch_sum_to_one_in_proportion_to_confidence(confidences):
    given_ = torch.tensor(confidences, dtype=torch.float64)
    weights = batch_weights(given_)
    assert float(weights.sum()) == pytest.approx(1)
    torch.testing.assert_close(weights * given_.sum(), given_)


def test_training_weighs_by_the_confidence_that_is_on_record(encoder, tmp_path, monkeypatch):
    seen = []

    def spy(confidences):
        seen.extend(confidences.tolist())
        return batch_weights(confidences)

    monkeypatch.setattr(module, "batch_weights", spy)
    run = start(tmp_path / "run")
    stbr(run, {"csrl": plan(encoder, "csrl")}, pool(), settings=SETTINGS)
    rows = [row for iteration in (1, 2) for row in run.store.read(iteration).to_pylist()]
    assert all(row["chosen"] and row["weight"] == row["confidence"] for row in rows)
    known = torch.tensor([row["confidence"] for row in rows])
    assert len(seen) > 6
    assert all((known - value).abs().min() < 1e-6 for value in seen)


def test_with_nothing_to_choose_gold_is_left(encoder, tmp_path):
    made = plan(encoder, "rewriting")
    empty = [Selector(selector.pick, content="only") for selector in made.selectors]
    run = start(tmp_path / "run")
    made.task.predict = _without_content(made.task)
    stbr(run, {"rewriting": plan(encoder, "rewriting", task=made.task, selectors=empty)}, pool(), settings=SETTINGS)
    assert run.require("train-rewriting-1")["pseudo"] == 0
    assert run.require("train-rewriting-1")["steps"] == 3


def _without_content(task):
    predict = type(task).predict
    return lambda inputs: [[replace(unit, content=False) for unit in units] for units in predict(task, inputs)]
