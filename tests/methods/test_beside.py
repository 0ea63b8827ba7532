"""A task that learns its friend's labels beside its own."""

from dataclasses import replace

import pytest
import torch
from tiny import SETTINGS, from_one_encoder, plan, pool, task

from friend_training.core.beside import Lesson
from friend_training.core.picks import Threshold
from friend_training.core.plan import check_plan
from friend_training.core.selector import Selector
from friend_training.core.task import FitPlan
from friend_training.errors import ConfigError
from friend_training.methods.beside import BesideTask


def _beside(encoder):
    csrl, rewriting = (from_one_encoder(encoder, plan(encoder, name)) for name in ("csrl", "rewriting"))
    beside = BesideTask(rewriting.task, {"csrl": task(encoder, "csrl")}, {"csrl": csrl.base})
    beside.load(rewriting.base)
    return beside, csrl, rewriting


def _trained(encoder, gold_of_csrl=None):
    beside, csrl, rewriting = _beside(encoder)
    lessons = {"csrl": Lesson(csrl.gold if gold_of_csrl is None else gold_of_csrl)}
    beside.fit_beside(rewriting.gold, (), beside=lessons, dev=rewriting.dev, plan=FitPlan(seed=1, steps=2))
    return beside.task.network.state_dict()


def test_what_the_friend_learns_is_learnt_too(encoder):
    csrl = plan(encoder, "csrl").gold
    once, again, other = _trained(encoder), _trained(encoder), _trained(encoder, csrl[:3])
    name = "encoder.model.encoder.layer.0.output.dense.weight"
    assert torch.equal(once[name], again[name])
    assert not torch.equal(once[name], other[name])


def test_only_its_own_dev_counts(encoder):
    beside, csrl, rewriting = _beside(encoder)
    seen = []
    beside.task.dev_score = lambda dev: lambda: seen.append(dev) or 0.0
    beside.friends["csrl"].dev_score = lambda dev: pytest.fail("the friend was watched")
    beside.fit_beside(
        rewriting.gold, (), beside={"csrl": Lesson(csrl.gold)}, dev=rewriting.dev, plan=FitPlan(seed=1, steps=2)
    )
    assert seen
    assert all(dev is rewriting.dev for dev in seen)


def test_the_side_head_is_found_again_and_the_task_works_without_it(encoder, tmp_path):
    beside, csrl, rewriting = _beside(encoder)
    beside.fit_beside(
        rewriting.gold, (), beside={"csrl": Lesson(csrl.gold)}, dev=rewriting.dev, plan=FitPlan(seed=1, steps=2)
    )
    (tmp_path / "saved").mkdir()
    beside.save(tmp_path / "saved")
    alone = task(encoder, "rewriting")
    alone.load(tmp_path / "saved")
    assert alone.predict(pool()) == beside.predict(pool())
    found, _, _ = _beside(encoder)
    found.load(tmp_path / "saved")
    for one in (beside, found):  # both go on from the same heads
        if one is beside:
            one.load(tmp_path / "saved")
        one.fit_beside(
            rewriting.gold, (), beside={"csrl": Lesson(csrl.gold)}, dev=rewriting.dev, plan=FitPlan(seed=2, steps=1)
        )
    sides = [one.friends["csrl"].network.classify.weight for one in (beside, found)]
    assert torch.equal(*sides)


def test_heads_on_different_encoders_are_refused(encoder):
    beside, csrl, rewriting = _beside(encoder)
    with torch.no_grad():
        beside.task.network.encoder.model.encoder.layer[0].output.dense.weight += 1
    with pytest.raises(ConfigError, match="'csrl' has another encoder than 'rewriting'; begin with Multitask-Base"):
        beside.fit_beside(
            rewriting.gold, (), beside={"csrl": Lesson(csrl.gold)}, dev=rewriting.dev, plan=FitPlan(seed=1, steps=1)
        )


def test_a_plan_that_cannot_work_is_refused_before_anything_is_trained(encoder):
    beside, *plans_alone = _beside(encoder)
    alone = [Selector(Threshold(0.5), confidence_weight=1.0)] * SETTINGS.iterations
    csrl, rewriting = (replace(made, selectors=alone) for made in plans_alone)
    plans = {"csrl": csrl, "rewriting": replace(rewriting, beside=("csrl",))}
    with pytest.raises(ConfigError, match="TorchTask has no fit_beside"):
        check_plan(plans, (), pool(), SETTINGS)
    plans["rewriting"] = replace(rewriting, task=beside, beside=("srl",))
    with pytest.raises(ConfigError, match="beside 'srl', of which no labels are chosen"):
        check_plan(plans, (), pool(), SETTINGS)
    plans["rewriting"] = replace(rewriting, task=beside, beside=("csrl",))
    check_plan(plans, (), pool(), SETTINGS)
    with pytest.raises(ConfigError, match="name them in its plan"):
        beside.fit(rewriting.gold, (), dev=rewriting.dev, plan=FitPlan(seed=1, steps=1))
