"""The methods that friend-training is compared with, and its strong friends, as a study calls them: one line each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from friend_training.core.friendship import Friendship
from friend_training.core.loop import Outcome
from friend_training.core.plan import LoopSettings, TaskPlan, Training
from friend_training.core.run import Run
from friend_training.methods.base import base
from friend_training.methods.cps import cps
from friend_training.methods.fdt import fdt
from friend_training.methods.mt import mt
from friend_training.methods.multitask import multitask_base
from friend_training.methods.scot import scot
from friend_training.methods.stbr import stbr
from friend_training.methods.stea import stea
from friend_training.nn.torch_task import TorchTask
from friend_training.scenarios.config import Config, Method
from friend_training.scenarios.data import RunData
from friend_training.scenarios.folders import method_folder
from friend_training.scenarios.relay import Relay
from friend_training.scenarios.strong import all_labels, audit_strong, fully_trained, strong_name, with_strong_friends
from friend_training.scenarios.tasks import TASKS, TaskName, make_second_task, make_task

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


def _base_full(s: Setting) -> Outcomes:
    gold = all_labels(s.config, s.data_dir)
    plans: dict[str, TaskPlan] = {
        name: fully_trained(s.plans[name], getattr(gold, name), s.own_base(name)) for name in TASKS
    }
    return base(s.run, plans, settings=s.settings, listener=s.listener)


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


def _stbr(s: Setting) -> Outcomes:
    return stbr(s.run, s.plans, s.data.pool, settings=s.settings, audit=s.data.audit, listener=s.listener)


def _stea(s: Setting) -> Outcomes:
    return stea(s.run, s.plans, s.data.pool, settings=s.settings, listener=s.listener)


def _multitask(s: Setting) -> Outcomes:
    return multitask_base(s.run, _from_encoder(s), settings=s.settings, listener=s.listener)


COMPARED: dict[Method, Callable[[Setting], Outcomes]] = {
    "multitask-base": _multitask,
    "mt": _mt,
    "cps": _cps,
    "scot": _scot,
    "stbr": _stbr,
    "stea": _stea,
    "base-full": _base_full,
    "fdt-s": partial(_fdt_strong, fixed=False),
    "fdt-sf": partial(_fdt_strong, fixed=True),
}
"""A new method is its file in methods/ and its line here (and its name in `config.Method`)."""
