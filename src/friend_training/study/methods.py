"""What the methods of a study do: one function for each procedure of the registry, given all that the study has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship
from friend_training.core.selector import Selector, Share, TotalAgreement, shares_of_kinds
from friend_training.core.task import Prediction
from friend_training.data import benchmark_splits, synthetic
from friend_training.errors import ConfigError
from friend_training.friendships.bridge_controls import LabelledByBridge, with_gold_bridge
from friend_training.friendships.joint_labels import Check, CheckedRoles, MergedRoles, WithoutPronouns
from friend_training.loop.algorithm import Outcome
from friend_training.loop.labelling import Audit
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.methods.base import base, base_same_steps, multitask_base
from friend_training.methods.co_training import readers, scot
from friend_training.methods.controls import as_many, chosen_counts, oracle, random_as_many, shuffled
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.friend_training import fdt
from friend_training.methods.mean_teacher import mt
from friend_training.methods.registry import MethodSpec
from friend_training.methods.self_teaching import stea
from friend_training.methods.self_training import sst, stbr
from friend_training.nn.task import TorchTask
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.study import data
from friend_training.study.config import Config, PublicDataConfig, SyntheticDataConfig, pick_of
from friend_training.study.data import RunData, data_folder
from friend_training.study.folders import method_folder
from friend_training.study.tasks import TASKS, TaskName, make_second_task, make_task
from friend_training.tasks.csrl.task import kind_of_roles
from friend_training.tasks.rewriting.task import kind_of_text
from friend_training.types import CsrlExample, RewritingExample

# A selector that keeps a balance: as many labels with an argument in another turn, say, as gold has.
#
# Friends agree most easily on what both leave out: CSRL does not find the argument in an earlier turn, the rewriter
# does not insert it, and the two omissions match. Without balance a model is taught to leave it out.
#
# Where dev is of another domain than gold, its balance is another one: in REWRITE every utterance needs a rewrite, in
# RESTORATION six of ten. `balance: dev` keeps that of dev; of its labels nothing else is used.


def wanted_balance(config: Config, data: RunData, task: str) -> dict[str, float] | None:
    """The shares that the config asks for, or None."""
    source = getattr(config.tasks, task).balance
    if source == "none":
        return None
    if task == "csrl":
        return csrl_shares(data.csrl_gold if source == "gold" else data.csrl_dev)
    return rewriting_shares(data.rewriting_gold if source == "gold" else data.rewriting_dev)


def csrl_shares(gold: Sequence[CsrlExample]) -> dict[str, float]:
    """Of the gold labels that say something: where their arguments stand."""
    found = [kind_of_roles(roles, len(e.dialogue.turns) - 1) for e in gold for roles in e.roles if roles.arguments]
    return shares_of_kinds(found)


def rewriting_shares(gold: Sequence[RewritingExample]) -> dict[str, float]:
    """How many utterances need a rewrite."""
    return shares_of_kinds([kind_of_text(example.rewrite, example.dialogue) for example in gold])


# Strong friends (FDT-S, FDT-SF): each task once more, trained on all the labels of its domain there are.


BUDGET = 3
"""A fully trained Base takes so many times the steps of one with few labels, and takes them all."""


@dataclass(frozen=True, slots=True)
class AllLabels:
    """The whole training sets that gold is drawn from."""

    csrl: Sequence[Any]
    rewriting: Sequence[Any]


def all_labels(config: Config, data_dir: Path | None) -> AllLabels:
    given = config.data
    if isinstance(given, SyntheticDataConfig):
        count = data.SYNTHETIC_TRAIN
        made = synthetic.generate(
            2 * count, seed=data.TRAIN_SEED, domain=synthetic.Domain(given.domain), prefix="train-"
        )
        csrl = [example for example in synthetic.csrl_examples(made[:count]) if example.roles]
        return AllLabels(csrl, synthetic.rewriting_examples(made[count:]))
    if isinstance(given, PublicDataConfig):
        folder = data_folder(data_dir)
        return AllLabels(benchmark_splits.duconv(folder)[0], benchmark_splits.rewrite(folder)[0])
    raise ConfigError("base-full, fdt-s and fdt-sf need more labels than gold; of your own files all labels are gold")


def fully_trained(plan: TaskPlan, gold: Sequence[Any], base: Training) -> TaskPlan:
    """A plan of the same task with all its labels."""
    return replace(plan, gold=gold, base=Training(BUDGET * base.steps))


def strong_name(task: str) -> str:
    return f"{task}.strong"


def with_strong_friends(friendship: Friendship) -> list[Friendship]:
    """Two runs in one: the first task with a strong second one, and the other way round. The two never meet."""
    first, second = friendship.first, friendship.second
    return [
        replace(friendship, name=f"{friendship.name}, strong {second}", second=strong_name(second)),
        replace(friendship, name=f"{friendship.name}, strong {first}", first=strong_name(first)),
    ]


def audit_strong(audit: Audit | None) -> Audit | None:
    """Strong friends answer for the same tasks."""
    return None if audit is None else partial(_audit_strong, audit)


def _audit_strong(audit: Audit, task: str, prediction: Prediction) -> bool | None:
    return audit(task.removesuffix(".strong"), prediction)


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
