"""How a study calls its methods: most are given run, plans and pool; those that need more have a function here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path

from friend_training.core.friendship import Friendship
from friend_training.core.picks import TotalAgreement
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
from friend_training.methods.controls import shuffled
from friend_training.methods.cps import cps
from friend_training.methods.fdt import fdt
from friend_training.methods.mt import mt
from friend_training.methods.multitask import multitask_base
from friend_training.methods.readers import readers
from friend_training.methods.scot import scot
from friend_training.methods.sst import sst
from friend_training.methods.stea import stea
from friend_training.nn.torch_task import TorchTask
from friend_training.scenarios.config import Config
from friend_training.scenarios.data import RunData
from friend_training.scenarios.folders import method_folder
from friend_training.scenarios.relay import Relay
from friend_training.scenarios.strong import all_labels, audit_strong, fully_trained, strong_name, with_strong_friends
from friend_training.scenarios.tasks import TASKS, TaskName, make_second_task, make_task
from friend_training.tasks.srl.bridge import Bridge

Outcomes = dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a method of a study is given. `plans` start from the shared Base, `study` is the folder of all methods."""

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


def _seconds(s: Setting, make: Callable[[Config, TaskName, str | Path], TorchTask]) -> dict[str, TaskPlan]:
    """Second models, each with a Base of its own: same gold, same budget, another seed."""
    plans = _from_encoder(s)
    return {name: replace(plans[name], task=s.watched(make(s.config, name, s.encoder)), test={}) for name in TASKS}


def _base(s: Setting) -> Outcomes:
    return base(s.run, s.plans, settings=s.settings, listener=s.listener)


def _base_same_steps(s: Setting) -> Outcomes:
    return base_same_steps(s.run, s.plans, settings=s.settings, listener=s.listener)


def _base_full(s: Setting) -> Outcomes:
    gold = all_labels(s.config, s.data_dir)
    plans: dict[str, TaskPlan] = {
        name: fully_trained(s.plans[name], getattr(gold, name), s.own_base(name)) for name in TASKS
    }
    return base(s.run, plans, settings=s.settings, listener=s.listener)


def _fdt(s: Setting, *, friendship: Friendship | None = None) -> Outcomes:
    friends = [friendship or s.friendship]
    audit = s.data.audit
    return fdt(s.run, s.plans, friends, s.data.pool, settings=s.settings, audit=audit, listener=s.listener)


def _fdt_shuffled(s: Setting) -> Outcomes:
    return _fdt(s, friendship=shuffled(s.friendship, seed=s.settings.seed))


def _fdt_merged(s: Setting) -> Outcomes:
    return _fdt(s, friendship=replace(s.friendship, merge_first=MergedRoles(s.bridge)))


def _fdt_checked(s: Setting, *, check: Check) -> Outcomes:
    return _fdt(s, friendship=_checking(s, check))


def _checking(s: Setting, check: Check) -> Friendship:
    return replace(s.friendship, merge_first=CheckedRoles(s.bridge, check, s.config.pronouns))


def _fdt_readers(s: Setting) -> Outcomes:
    """CSRL as in fdt-checked; rewriting is read by a second model that has learnt with CSRL in one network."""
    shared = method_folder(s.study, "multitask-base") / "checkpoints" / "rewriting" / "iteration-000"
    return _readers(s, s.plans, replace(_seconds(s, make_task)["rewriting"], base=shared), [_checking(s, "friend")])


def _sst_readers(s: Setting) -> Outcomes:
    """Rewriting alone, without a friend: the second rewriter has a Base of its own. CSRL would be SST's."""
    return _readers(s, {"rewriting": s.plans["rewriting"]}, _seconds(s, make_task)["rewriting"], [])


def _readers(s: Setting, plans: Mapping[str, TaskPlan], second: TaskPlan, friends: Sequence[Friendship]) -> Outcomes:
    seconds, audit = {"rewriting": second}, s.data.audit
    return readers(s.run, plans, seconds, friends, s.data.pool, settings=s.settings, audit=audit, listener=s.listener)


def _fdt_oracle(s: Setting) -> Outcomes:
    plans = {
        name: replace(plan, selectors=[_only_right(one) for one in plan.selectors]) for name, plan in s.plans.items()
    }
    return _fdt(replace(s, plans=plans), friendship=oracle(s.friendship, s.data.audit))


def _only_right(selector: Selector) -> Selector:
    """Exactly what the oracle says is right; labels that say nothing are left out where they always are."""
    return replace(selector, pick=TotalAgreement())


def _fdt_gold_bridge(s: Setting) -> Outcomes:
    return _fdt(s, friendship=with_gold_bridge(s.friendship, s.data.gold_sigma))


def _fdt_strong(s: Setting, *, fixed: bool) -> Outcomes:
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
        fixed=tuple(friends) if fixed else (),
        audit=audit_strong(s.data.audit),
        listener=s.listener,
    )
    return {name: found[name] for name in TASKS}


def _mt(s: Setting) -> Outcomes:
    return mt(s.run, s.plans, s.data.pool, settings=s.settings, listener=s.listener)


def _cps(s: Setting) -> Outcomes:
    return cps(s.run, s.plans, _seconds(s, make_task), s.data.pool, settings=s.settings, listener=s.listener)


def _scot(s: Setting) -> Outcomes:
    others = _seconds(s, make_second_task)
    audit = s.data.audit
    return scot(s.run, s.plans, others, s.data.pool, settings=s.settings, audit=audit, listener=s.listener)


def _stea(s: Setting) -> Outcomes:
    return stea(s.run, s.plans, s.data.pool, settings=s.settings, listener=s.listener)


def _multitask(s: Setting) -> Outcomes:
    return multitask_base(s.run, _from_encoder(s), settings=s.settings, listener=s.listener)


def _bridge_labels(s: Setting) -> Outcomes:
    """CSRL alone, self-trained on what the bridge says of it."""
    plan = s.plans["csrl"]
    labelled = {"csrl": replace(plan, task=LabelledByBridge(plan.task, naming_bridge(s.config, s.bridge)))}
    return sst(s.run, labelled, s.data.pool, settings=s.settings, audit=s.data.audit, listener=s.listener)


def naming_bridge(config: Config, bridge: Bridge) -> Bridge:
    """The bridge where it answers in CSRL's place."""
    return WithoutPronouns(bridge) if config.pronouns == "resolved" else bridge


def _as_most_are(s: Setting, *, name: str) -> Outcomes:
    """The function of methods/<name>.py that has the file's name, given run, plans and pool."""
    method = getattr(import_module(f"friend_training.methods.{name}"), name)
    found: Outcomes = method(s.run, s.plans, s.data.pool, settings=s.settings, audit=s.data.audit, listener=s.listener)
    return found


OTHERWISE: dict[str, Callable[[Setting], Outcomes]] = {
    "base": _base,
    "multitask-base": _multitask,
    "base-same-steps": _base_same_steps,
    "mt": _mt,
    "cps": _cps,
    "scot": _scot,
    "stea": _stea,
    "fdt": _fdt,
    "fdt-s": partial(_fdt_strong, fixed=False),
    "fdt-sf": partial(_fdt_strong, fixed=True),
    "sst-as-many": partial(_as_most_are, name="sst"),
    "fdt-merged": _fdt_merged,
    "merged-random": _fdt_merged,  # with selectors that draw
    "fdt-checked": partial(_fdt_checked, check="friend"),
    "fdt-answers": partial(_fdt_checked, check="answers"),
    "checked-shuffled": partial(_fdt_checked, check="foreign"),
    "unchecked": partial(_fdt_checked, check="none"),
    "fdt-readers": _fdt_readers,
    "sst-readers": _sst_readers,
    "fdt-shuffled": _fdt_shuffled,
    "fdt-oracle": _fdt_oracle,
    "fdt-gold-bridge": _fdt_gold_bridge,
    "random-as-many": partial(_as_most_are, name="sst"),
    "bridge-labels": _bridge_labels,
    "bridge-labels-all": _bridge_labels,  # with selectors that leave none out
    "base-full": _base_full,
}
"""Methods that are given something else than run, plans and pool, or that are another one with other selectors."""


def run_method(name: str, setting: Setting) -> Outcomes:
    call = OTHERWISE.get(name) or partial(_as_most_are, name=name.replace("-", "_"))
    return call(setting)
