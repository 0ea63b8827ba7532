"""A second model of the same task, as co-training and cross pseudo supervision need one."""

from collections.abc import Mapping
from pathlib import Path

from friend_training.core.plan import TaskPlan, Training
from friend_training.errors import ConfigError


def partner_name(task: str) -> str:
    """How a run calls a task's second model: phases, checkpoints and pseudo-labels go by this name."""
    return f"{task}.second"


def check_partners(plans: Mapping[str, TaskPlan], partners: Mapping[str, TaskPlan], method: str) -> None:
    """Two models that are one have nothing to tell each other."""
    if set(plans) != set(partners):
        raise ConfigError(f"{method} needs a second model for each of {sorted(plans)}, given: {sorted(partners)}")
    for name, plan in plans.items():
        if partners[name].task is plan.task:
            raise ConfigError(f"{method}: the second model of task {name!r} is the same object as the first")
        bases = [one.base for one in (plan, partners[name]) if not isinstance(one.base, Training)]
        if len(bases) == 2 and Path(bases[0]) == Path(bases[1]):
            raise ConfigError(f"{method}: both models of task {name!r} begin as the same Base, {plan.base}")
