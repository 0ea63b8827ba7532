"""What the methods of a study do: one function for each procedure of the registry, given all that the study has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from friend_training.core.friendship import Friendship
from friend_training.core.pool import Inputs
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, Training
from friend_training.loop.labelling import Audit
from friend_training.methods.base import base, base_same_steps, multitask_base
from friend_training.methods.co_training import readers, scot
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.friend_training import fdt
from friend_training.methods.mean_teacher import mt
from friend_training.methods.registry import MethodSpec
from friend_training.methods.self_teaching import stea
from friend_training.methods.self_training import sst, stbr
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.study.csrl_rewriting import PaperPair
from friend_training.study.folders import method_folder
from friend_training.study.kinds import kind_of
from friend_training.study.setup import Setup

Outcomes = dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class MethodSetting:
    """What a method is given: its run, its friendships, its plans, which start from the shared Base, and what all
    methods share."""

    spec: MethodSpec
    run: Run
    plans: dict[str, TaskPlan]
    friendships: Sequence[Friendship]
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

    @property
    def paper(self) -> PaperPair:
        if self.setup.paper is None:
            raise ConfigError(f"{self.spec.title} belongs to the paper's pair, CSRL and rewriting; leave it out here")
        return self.setup.paper

    def own_base(self, name: str) -> Training:
        section = self.setup.config.sections[name]
        return Training(section.base_steps, patience=section.base_patience)


def _from_encoder(s: MethodSetting) -> dict[str, TaskPlan]:
    return {name: replace(plan, base=s.own_base(name)) for name, plan in s.plans.items()}


def _seconds(s: MethodSetting) -> dict[str, TaskPlan]:
    """Second models: same gold, same budget, and a Base of their own, unless they begin as Multitask-Base."""
    plans, other_head = _from_encoder(s), s.spec.second == "other-head"
    for name in plans if other_head else ():
        if not kind_of(s.setup.config, name).has_other_head:
            raise ConfigError(f"{s.spec.title} needs a second head, and task {name!r} has only one; leave it out here")
    seconds: dict[str, TaskPlan] = {
        name: replace(plan, task=s.setup.new_task(name, other_head), test={}) for name, plan in plans.items()
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
        gold = s.setup.all_gold()
        plans = {name: fully_trained(plan, gold[name], s.own_base(name)) for name, plan in plans.items()}
    return base(s.run, plans, settings=s.settings, listener=s.listener)


def _same_steps(s: MethodSetting) -> Outcomes:
    """A task that takes no steps, such as an estimator, would only be fitted again on the same gold: it has no row."""
    plans = {name: plan for name, plan in s.plans.items() if getattr(plan.task, "takes_steps", True)}
    return base_same_steps(s.run, plans, settings=s.settings, listener=s.listener) if plans else {}


def _multitask(s: MethodSetting) -> Outcomes:
    return multitask_base(s.run, _from_encoder(s), settings=s.settings, listener=s.listener)


def _self_training(s: MethodSetting) -> Outcomes:
    plans: Mapping[str, TaskPlan] = s.plans
    if s.spec.labels == "bridge":
        plans = s.paper.labelled_by_bridge(s.plans)
    return sst(s.run, plans, s.pool, settings=s.settings, audit=s.audit, listener=s.listener)


def _friend_training(s: MethodSetting) -> Outcomes:
    friendships, plans = s.friendships, s.plans
    if s.spec.labels == "friend":  # a task that its friend says nothing of has no row, and answers for the friend
        if not friendships:
            return {}
        told = {friendship.first for friendship in friendships}
        plans = {name: plan if name in told else replace(plan, test={}) for name, plan in plans.items()}
    return fdt(s.run, plans, friendships, s.pool, settings=s.settings, audit=s.audit, listener=s.listener)


# Strong friends (FDT-S, FDT-SF): each task once more, trained on all the labels there are.


BUDGET = 3
"""A fully trained Base takes so many times the steps of one with few labels, and takes them all."""


def fully_trained(plan: TaskPlan, gold: Sequence[Any], base: Training) -> TaskPlan:
    """A plan of the same task with all its labels."""
    return replace(plan, gold=gold, base=Training(BUDGET * base.steps))


def strong_name(task: str) -> str:
    return f"{task}.strong"


def with_strong_friends(friendship: Friendship, *, taught: bool) -> list[Friendship]:
    """Two runs in one: the first task with a strong second one, and the other way round. The two never meet.

    No labels are made for a strong friend that is not taught any.
    """
    first, second = friendship.first, friendship.second
    strong_second = replace(friendship, name=f"{friendship.name}, strong {second}", second=strong_name(second))
    strong_first = replace(friendship, name=f"{friendship.name}, strong {first}", first=strong_name(first))
    if taught:
        return [strong_second, strong_first]
    return [replace(strong_second, joint_second=None), replace(strong_first, joint_first=None, merge_first=None)]


def audit_strong(audit: Audit | None) -> Audit | None:
    """Strong friends answer for the same tasks."""
    return None if audit is None else partial(_audit_strong, audit)


def _audit_strong(audit: Audit, task: str, prediction: Prediction) -> bool | None:
    return audit(task.removesuffix(".strong"), prediction)


def _strong_friends(s: MethodSetting) -> Outcomes:
    gold = s.setup.all_gold()
    trained = Run.open(method_folder(s.setup.run.folder, "base-full"))
    friends = {
        strong_name(name): replace(
            plan,
            task=s.setup.new_task(name, False),
            gold=gold[name],
            base=trained.checkpoint(name, 0),
            test={},
        )
        for name, plan in s.plans.items()
    }
    found = fdt(
        s.run,
        {**s.plans, **friends},
        [strong for one in s.friendships for strong in with_strong_friends(one, taught=not s.spec.fixed_friends)],
        s.pool,
        settings=s.settings,
        fixed=tuple(friends) if s.spec.fixed_friends else (),
        audit=audit_strong(s.audit),
        listener=s.listener,
    )
    return {name: found[name] for name in s.plans}


def _two_readers(s: MethodSetting) -> Outcomes:
    """One task is read by a second model. With a friend the other takes part as in fdt-checked; else it would be
    SST's."""
    twice = s.paper.read_twice
    plans = s.plans if s.friendships else {twice: s.plans[twice]}
    seconds, audit = {twice: _seconds(s)[twice]}, s.audit
    return readers(s.run, plans, seconds, s.friendships, s.pool, settings=s.settings, audit=audit, listener=s.listener)


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
