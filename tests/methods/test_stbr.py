"""All pseudo-labels are chosen, and within a batch each counts as much as the teacher trusted it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from friend_training.core.selector import Selector
from friend_training.loop.algorithm import Training
from friend_training.methods import self_training as module
from friend_training.methods.self_training import reweighted_loss, stbr
from friend_training.nn.heads import Head
from friend_training.runs.steps import Train
from helpers.tiny import SETTINGS, plan, pool
from helpers.toy_runs import start


class Undecided(nn.Module):
    """Units of one slot and two classes that are as likely as each other."""

    def __init__(self, units):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(units, 1, 2))

    def forward(self, batch):
        units = len(batch.weights)
        return (Head(self.logits[:units], torch.ones(units, 1, dtype=torch.bool)),)


def _batch(*weights):
    return SimpleNamespace(targets=[torch.zeros(len(weights), 1, dtype=torch.long)], weights=torch.tensor(weights))


def test_a_pseudo_label_counts_as_much_as_it_is_trusted():
    network = Undecided(2)
    reweighted_loss(network, _batch(0.0), _batch(0.9, 0.3)).backward()
    surer, other = network.logits.grad[:, 0, 0].tolist()
    assert surer == pytest.approx(-0.5 * 0.9 / 2)
    assert other == pytest.approx(-0.5 * 0.3 / 2)


def test_a_batch_that_nobody_trusts_leaves_gold_its_say():
    """Nothing is normalised: pseudo-labels that are all doubtful do not count as if they were all sure."""
    doubtful = reweighted_loss(Undecided(2), _batch(1.0, 1.0), _batch(0.1, 0.1))
    assert doubtful.item() == pytest.approx(1.1 * torch.log(torch.tensor(2.0)).item())


@pytest.mark.parametrize("pseudo_weight", [1.0, 0.5])
def test_training_weighs_by_the_confidence_that_is_on_record(encoder, tmp_path, monkeypatch, pseudo_weight):
    seen = []

    def spy(network, labelled, others):
        assert labelled.weights.tolist() == [1.0] * len(labelled.weights)
        seen.extend(others.weights.tolist())
        return reweighted_loss(network, labelled, others)

    monkeypatch.setattr(module, "reweighted_loss", spy)
    run = start(tmp_path / "run")
    made = plan(encoder, "csrl", update=Training(steps=3, pseudo_weight=pseudo_weight))
    stbr(run, {"csrl": made}, pool(), settings=SETTINGS)
    rows = [row for iteration in (1, 2) for row in run.store.read(iteration).to_pylist()]
    assert all(row["chosen"] and row["weight"] == row["confidence"] for row in rows)
    known = pseudo_weight * torch.tensor([row["confidence"] for row in rows])
    assert len(seen) > 6
    assert all((known - value).abs().min() < 1e-6 for value in seen)


def test_with_nothing_to_choose_gold_is_left(encoder, tmp_path):
    made = plan(encoder, "rewriting")
    empty = [Selector(selector.pick, content="only") for selector in made.selectors]
    run = start(tmp_path / "run")
    made.task.predict = _without_content(made.task)
    stbr(run, {"rewriting": plan(encoder, "rewriting", task=made.task, selectors=empty)}, pool(), settings=SETTINGS)
    assert run.require(Train("rewriting", 1))["pseudo"] == 0
    assert run.require(Train("rewriting", 1))["steps"] == 3


def _without_content(task):
    predict = type(task).predict
    return lambda inputs: [[replace(unit, content=False) for unit in units] for units in predict(task, inputs)]
