"""What the methods of a study do: one function for each procedure of the registry, given all that the study has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from friend_training.core.pool import Inputs
from friend_training.loop.algorithm import Outcome
from friend_training.loop.labelling import Audit
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.methods.base import base, base_same_steps, multitask_base
from friend_training.methods.co_training import readers, scot
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.friend_training import fdt
from friend_training.methods.mean_teacher import mt
from friend_training.methods.registry import MethodSpec
from friend_training.methods.self_teaching import stea
from friend_training.methods.self_training import sst, stbr
from friend_training.nn.task import TorchTask
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.study.csrl_rewriting import friendship_of, labelled_by_bridge
from friend_training.study.folders import method_folder
from friend_training.study.setup import Setup
from friend_training.study.strong_friends import (
    all_labels,
    audit_strong,
    fully_trained,
    strong_name,
    with_strong_friends,
)
from friend_training.study.tasks import TASKS, TaskName, make_second_task, make_task

Outcomes = dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class MethodSetting:
    """What a method is given: its run, its plans, which start from the shared Base, and what all methods share."""

    spec: MethodSpec
    run: Run
    plans: dict[str, TaskPlan]
    setup: Setup

    @property
    def pool(self) -> Inputs:
        return self.setup.data.pool

    @property
    def audit(self) -> Audit | None:
        return self.setup.data.audit

    @property
    def settings(self) -> LoopSettings:
        return self.setup.settings

    @property
    def listener(self) -> Relay:
        return self.setup.listener

    def own_base(self, name: TaskName) -> Training:
        section = getattr(self.setup.config.tasks, name)
        return Training(section.base_steps, patience=section.base_patience)

    def new_task(self, name: TaskName, *, other_head: bool = False) -> TorchTask:
        """Another model of a task, without weights."""
        task = (make_second_task if other_head else make_task)(self.setup.config, name, self.setup.encoder)
        task.progress = self.listener.worked
        return task


def _from_encoder(s: MethodSetting) -> dict[str, TaskPlan]:
    return {name: replace(s.plans[name], base=s.own_base(name)) for name in TASKS}


def _seconds(s: MethodSetting) -> dict[str, TaskPlan]:
    """Second models: same gold, same budget, and a Base of their own, unless they begin as Multitask-Base."""
    plans, other_head = _from_encoder(s), s.spec.second == "other-head"
    seconds: dict[str, TaskPlan] = {
        name: replace(plans[name], task=s.new_task(name, other_head=other_head), test={}) for name in TASKS
    }
    if s.spec.second != "multitask":
        return seconds
    checkpoints = method_folder(s.setup.run.folder, "multitask-base") / "checkpoints"
    return {name: replace(plan, base=checkpoints / name / "iteration-000") for name, plan in seconds.items()}


def run_method(s: MethodSetting) -> Outcomes:
    """Carry out a method's procedure in its run."""
    return PROCEDURES[s.spec.procedure](s)


def _base(s: MethodSetting) -> Outcomes:
    plans = s.plans
    if s.spec.all_gold:
        gold = all_labels(s.setup.config, s.setup.data_dir)
        plans = {name: fully_trained(plans[name], getattr(gold, name), s.own_base(name)) for name in TASKS}
    return base(s.run, plans, settings=s.settings, listener=s.listener)


def _same_steps(s: MethodSetting) -> Outcomes:
    return base_same_steps(s.run, s.plans, settings=s.settings, listener=s.listener)


def _multitask(s: MethodSetting) -> Outcomes:
    return multitask_base(s.run, _from_encoder(s), settings=s.settings, listener=s.listener)


def _self_training(s: MethodSetting) -> Outcomes:
    plans: Mapping[str, TaskPlan] = s.plans
    if s.spec.labels == "bridge":  # CSRL alone, self-trained on what the bridge predicts in its place
        plans = {"csrl": labelled_by_bridge(s.setup, s.plans["csrl"])}
    return sst(s.run, plans, s.pool, settings=s.settings, audit=s.audit, listener=s.listener)


def _friend_training(s: MethodSetting) -> Outcomes:
    friends = [friendship_of(s.setup, s.spec)]
    return fdt(s.run, s.plans, friends, s.pool, settings=s.settings, audit=s.audit, listener=s.listener)


def _strong_friends(s: MethodSetting) -> Outcomes:
    gold = all_labels(s.setup.config, s.setup.data_dir)
    trained = Run.open(method_folder(s.setup.run.folder, "base-full"))
    friends = {
        strong_name(name): replace(
            s.plans[name],
            task=s.new_task(name),
            gold=getattr(gold, name),
            base=trained.checkpoint(name, 0),
            test={},
        )
        for name in TASKS
    }
    found = fdt(
        s.run,
        {**s.plans, **friends},
        with_strong_friends(s.setup.friendship),
        s.pool,
        settings=s.settings,
        fixed=tuple(friends) if s.spec.fixed_friends else (),
        audit=audit_strong(s.audit),
        listener=s.listener,
    )
    return {name: found[name] for name in TASKS}


def _two_readers(s: MethodSetting) -> Outcomes:
    """Rewriting is read by a second model. With a friend CSRL takes part as in fdt-checked; else it would be SST's."""
    second = _seconds(s)["rewriting"]
    friends = [friendship_of(s.setup, s.spec)] if s.spec.friend == "partner" else []
    plans = s.plans if friends else {"rewriting": s.plans["rewriting"]}
    seconds, audit = {"rewriting": second}, s.audit
    return readers(s.run, plans, seconds, friends, s.pool, settings=s.settings, audit=audit, listener=s.listener)


def _co_training(s: MethodSetting) -> Outcomes:
    audit = s.audit
    return scot(s.run, s.plans, _seconds(s), s.pool, settings=s.settings, audit=audit, listener=s.listener)


def _cross_pseudo_supervision(s: MethodSetting) -> Outcomes:
    return cps(s.run, s.plans, _seconds(s), s.pool, settings=s.settings, listener=s.listener)


def _mean_teacher(s: MethodSetting) -> Outcomes:
    return mt(s.run, s.plans, s.pool, settings=s.settings, listener=s.listener)


def _batch_reweighting(s: MethodSetting) -> Outcomes:
    return stbr(s.run, s.plans, s.pool, settings=s.settings, audit=s.audit, listener=s.listener)


def _self_teaching(s: MethodSetting) -> Outcomes:
    return stea(s.run, s.plans, s.pool, settings=s.settings, listener=s.listener)


PROCEDURES: dict[str, Callable[[MethodSetting], Outcomes]] = {
    "base": _base,
    "same-steps": _same_steps,
    "multitask": _multitask,
    "self-training": _self_training,
    "friend-training": _friend_training,
    "strong-friends": _strong_friends,
    "co-training": _co_training,
    "two-readers": _two_readers,
    "mean-teacher": _mean_teacher,
    "cross-pseudo-supervision": _cross_pseudo_supervision,
    "batch-reweighting": _batch_reweighting,
    "self-teaching": _self_teaching,
}
"""All but "score-only", which trains nothing."""
