"""What the methods of a study do: one function for each procedure of the registry, given all that the study has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from friend_training.core.friendship import Friendship
from friend_training.core.picks import Share, TotalAgreement
from friend_training.core.plan import LoopSettings, TaskPlan, Training
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.friends.bridge_parser import LabelledByBridge
from friend_training.friends.checked_roles import Check, CheckedRoles
from friend_training.friends.gold_bridge import with_gold_bridge
from friend_training.friends.merged_roles import MergedRoles
from friend_training.friends.pronouns import WithoutPronouns
from friend_training.loop.algorithm import Outcome
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.ceilings import oracle
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.cps import cps
from friend_training.methods.fdt import fdt
from friend_training.methods.mt import mt
from friend_training.methods.multitask import multitask_base
from friend_training.methods.readers import readers
from friend_training.methods.registry import MethodSpec
from friend_training.methods.scot import scot
from friend_training.methods.sst import sst
from friend_training.methods.stbr import stbr
from friend_training.methods.stea import stea
from friend_training.nn.torch_task import TorchTask
from friend_training.scenarios.balancing import wanted_balance
from friend_training.scenarios.config import Config
from friend_training.scenarios.data import RunData
from friend_training.scenarios.folders import method_folder
from friend_training.scenarios.pick_thresholds import pick_of
from friend_training.scenarios.relay import Relay
from friend_training.scenarios.strong import all_labels, audit_strong, fully_trained, strong_name, with_strong_friends
from friend_training.scenarios.tasks import TASKS, TaskName, make_second_task, make_task
from friend_training.tasks.srl.bridge import Bridge

Outcomes = dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a method of a study is given. `plans` start from the shared Base, `study` is the folder of all methods."""

    spec: MethodSpec
    run: Run
    study: Path
    config: Config
    data: RunData
    data_dir: Path | None
    encoder: str | Path
    bridge: Bridge
    plans: dict[str, TaskPlan]
    friendship: Friendship
    settings: LoopSettings
    listener: Relay

    def own_base(self, name: TaskName) -> Training:
        section = getattr(self.config.tasks, name)
        return Training(section.base_steps, patience=section.base_patience)

    def watched(self, task: TorchTask) -> TorchTask:
        task.progress = self.listener.worked
        return task


def _from_encoder(s: Setting) -> dict[str, TaskPlan]:
    return {name: replace(s.plans[name], base=s.own_base(name)) for name in TASKS}


def _seconds(s: Setting) -> dict[str, TaskPlan]:
    """Second models: same gold, same budget, and a Base of their own, unless they begin as Multitask-Base."""
    make = make_second_task if s.spec.second == "other-head" else make_task
    plans = _from_encoder(s)
    seconds: dict[str, TaskPlan] = {
        name: replace(plans[name], task=s.watched(make(s.config, name, s.encoder)), test={}) for name in TASKS
    }
    if s.spec.second != "multitask":
        return seconds
    checkpoints = method_folder(s.study, "multitask-base") / "checkpoints"
    return {name: replace(plan, base=checkpoints / name / "iteration-000") for name, plan in seconds.items()}


def run_method(s: Setting) -> Outcomes:
    """Carry out a method's procedure in its run."""
    return PROCEDURES[s.spec.procedure](s)


def _base(s: Setting) -> Outcomes:
    plans = s.plans
    if s.spec.all_gold:
        gold = all_labels(s.config, s.data_dir)
        plans = {name: fully_trained(plans[name], getattr(gold, name), s.own_base(name)) for name in TASKS}
    return base(s.run, plans, settings=s.settings, listener=s.listener)


def _same_steps(s: Setting) -> Outcomes:
    return base_same_steps(s.run, s.plans, settings=s.settings, listener=s.listener)


def _multitask(s: Setting) -> Outcomes:
    return multitask_base(s.run, _from_encoder(s), settings=s.settings, listener=s.listener)


def _self_training(s: Setting) -> Outcomes:
    plans: Mapping[str, TaskPlan] = s.plans
    if s.spec.labels == "bridge":  # CSRL alone, self-trained on what the bridge predicts in its place
        plan = s.plans["csrl"]
        plans = {"csrl": replace(plan, task=LabelledByBridge(plan.task, naming_bridge(s.config, s.bridge)))}
    return sst(s.run, plans, s.data.pool, settings=s.settings, audit=s.data.audit, listener=s.listener)


def _friend_training(s: Setting) -> Outcomes:
    pool, audit = s.data.pool, s.data.audit
    return fdt(s.run, s.plans, [_friendship(s)], pool, settings=s.settings, audit=audit, listener=s.listener)


def _friendship(s: Setting) -> Friendship:
    """The friendship with the friend and the labels that the method asks for."""
    friendship = s.friendship
    match s.spec.labels:
        case "merged":
            friendship = replace(friendship, merge_first=MergedRoles(s.bridge))
        case "checked" | "answers" | "checked-by-foreign" | "unchecked" as labels:
            friendship = replace(friendship, merge_first=CheckedRoles(s.bridge, CHECKS[labels], s.config.pronouns))
    match s.spec.friend:
        case "shuffled":
            return shuffled(friendship, seed=s.settings.seed)
        case "oracle":
            return oracle(friendship, s.data.audit)
        case "gold-bridge":
            return with_gold_bridge(friendship, s.data.gold_sigma)
    return friendship


CHECKS: dict[str, Check] = {
    "checked": "friend",
    "answers": "answers",
    "checked-by-foreign": "foreign",
    "unchecked": "none",
}
"""Who must confirm an argument for it to be learnt."""


def _strong_friends(s: Setting) -> Outcomes:
    gold = all_labels(s.config, s.data_dir)
    trained = Run.open(method_folder(s.study, "base-full"))
    friends = {
        strong_name(name): replace(
            s.plans[name],
            task=s.watched(make_task(s.config, name, s.encoder)),
            gold=getattr(gold, name),
            base=trained.checkpoint(name, 0),
            test={},
        )
        for name in TASKS
    }
    found = fdt(
        s.run,
        {**s.plans, **friends},
        with_strong_friends(s.friendship),
        s.data.pool,
        settings=s.settings,
        fixed=tuple(friends) if s.spec.fixed_friends else (),
        audit=audit_strong(s.data.audit),
        listener=s.listener,
    )
    return {name: found[name] for name in TASKS}


def _two_readers(s: Setting) -> Outcomes:
    """Rewriting is read by a second model. With a friend CSRL takes part as in fdt-checked; else it would be SST's."""
    second = _seconds(s)["rewriting"]
    friends = [_friendship(s)] if s.spec.friend == "partner" else []
    plans = s.plans if friends else {"rewriting": s.plans["rewriting"]}
    seconds, audit = {"rewriting": second}, s.data.audit
    return readers(s.run, plans, seconds, friends, s.data.pool, settings=s.settings, audit=audit, listener=s.listener)


def _co_training(s: Setting) -> Outcomes:
    audit = s.data.audit
    return scot(s.run, s.plans, _seconds(s), s.data.pool, settings=s.settings, audit=audit, listener=s.listener)


def _cross_pseudo_supervision(s: Setting) -> Outcomes:
    return cps(s.run, s.plans, _seconds(s), s.data.pool, settings=s.settings, listener=s.listener)


def _mean_teacher(s: Setting) -> Outcomes:
    return mt(s.run, s.plans, s.data.pool, settings=s.settings, listener=s.listener)


def _batch_reweighting(s: Setting) -> Outcomes:
    return stbr(s.run, s.plans, s.data.pool, settings=s.settings, audit=s.data.audit, listener=s.listener)


def _self_teaching(s: Setting) -> Outcomes:
    return stea(s.run, s.plans, s.data.pool, settings=s.settings, listener=s.listener)


PROCEDURES: dict[str, Callable[[Setting], Outcomes]] = {
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


def naming_bridge(config: Config, bridge: Bridge) -> Bridge:
    """The bridge where it answers in CSRL's place."""
    return WithoutPronouns(bridge) if config.pronouns == "resolved" else bridge


def selectors(spec: MethodSpec, config: Config, data: RunData, study: Path, task: str) -> list[Selector]:
    """How a method chooses among a task's pseudo-labels, one selector per iteration."""
    section, iterations = getattr(config.tasks, task), config.iterations
    balance = wanted_balance(config, data, task)
    by_match = Selector(
        pick_of(section.pick_threshold), section.confidence_weight, content=section.content, balance=balance
    )
    by_confidence = Selector(pick_of(section.sst_threshold), 1.0, content=section.content, balance=balance)
    if spec.labels == "bridge":
        by_confidence = replace(by_confidence, balance=None)  # it has no label with an argument in another turn
    if spec.part_by_part and task == "csrl":  # arguments are chosen one by one: whatever has one left is learnt
        kept = balance if config.checked_labels == "balanced" else None
        return [replace(by_confidence, pick=Share(1.0), content="only", balance=kept)] * iterations
    if spec.friend == "oracle":  # exactly what is right; labels that say nothing are left out where they always are
        return [replace(by_match, pick=TotalAgreement())] * iterations
    match spec.choice:
        case "by-match":
            return [by_match] * iterations
        case "by-confidence":
            return [by_confidence] * iterations
        case "everything":
            return [replace(by_confidence, pick=Share(1.0))] * iterations
    assert spec.like is not None, f"{spec.title}: as many as which method?"
    counts = chosen_counts(Run.open(method_folder(study, spec.like)), task, iterations)
    if spec.choice == "as-many":
        return as_many(by_confidence, counts)
    drawn_from = by_match if spec.choice == "random-of-matched" else by_confidence
    return random_as_many(drawn_from, counts, seed=config.seed)
