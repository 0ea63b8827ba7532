"""One encoder for all tasks, a head for each."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from friend_training.core.task import FitPlan
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import Training
from friend_training.methods.base import joint_training, multitask_base, train_together
from friend_training.nn.encoder import load_encoder
from helpers.tiny import SETTINGS, plan
from helpers.toy_runs import start


def _plans(encoder, **changes):
    return {name: plan(encoder, name, **changes) for name in ("csrl", "rewriting")}


def _encoder_part(state):
    return {name: weight for name, weight in state.items() if name.startswith("encoder.")}


def test_the_tasks_share_one_encoder_and_both_train_it(encoder):
    before = load_encoder(encoder).state_dict()
    trained = []
    for mute in (None, "csrl", "rewriting"):
        plans = _plans(encoder)
        tasks = {name: made.task for name, made in plans.items()}
        if mute:  # a task whose gold weighs nothing leaves the encoder to the other one
            collate = tasks[mute].definition.collate
            tasks[mute].definition.collate = lambda items, collate=collate: _weightless(collate(items))
        train_together(tasks, plans, FitPlan(seed=1, steps=2))
        assert tasks["csrl"].network.encoder is tasks["rewriting"].network.encoder
        trained.append(tasks["csrl"].network.encoder.state_dict())
    name = "model.encoder.layer.0.output.dense.weight"
    tensors = [before[name], *(state[name] for state in trained)]
    assert not any(torch.equal(a, b) for at, a in enumerate(tensors) for b in tensors[:at])


def _weightless(batch):
    return replace(batch, weights=batch.weights * 0)


def test_checkpoints_hold_the_same_encoder_and_other_heads(encoder, tmp_path):
    run = start(tmp_path / "run")
    multitask_base(run, _plans(encoder), settings=SETTINGS)
    csrl, rewriting = (load_file(run.checkpoint(name, 0) / "model.safetensors") for name in ("csrl", "rewriting"))
    shared = _encoder_part(csrl)
    assert shared.keys() == _encoder_part(rewriting).keys()
    assert all(torch.equal(weight, rewriting[name]) for name, weight in shared.items())
    assert not (csrl.keys() - shared.keys()) & (rewriting.keys() - shared.keys())


def test_the_budget_is_that_of_all_bases_together(encoder):
    plans = _plans(encoder, base=Training(steps=5, patience=2))
    assert joint_training(plans) == Training(steps=10, patience=4)
    assert joint_training({**plans, "rewriting": plan(encoder, "rewriting")}).patience is None


def test_what_cannot_be_shared_is_refused(encoder, tmp_path):
    run = start(tmp_path / "run")
    with pytest.raises(ConfigError, match="from the encoder"):
        multitask_base(run, _plans(encoder, base=tmp_path), settings=SETTINGS)
    plans = _plans(encoder)
    plans["csrl"].task.settings = replace(plans["csrl"].task.settings, head_rate=0.5)
    with pytest.raises(ConfigError, match="same training settings"):
        multitask_base(run, plans, settings=SETTINGS)
    plans = _plans(encoder)
    plans["csrl"].task.encoder = "elsewhere"
    with pytest.raises(ConfigError, match="different encoders"):
        multitask_base(run, plans, settings=SETTINGS)
