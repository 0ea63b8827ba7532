"""Multitask-Base: one encoder shared by the tasks, a head each, gold alone (Caruana 1997; Table 1 of the paper).

The paper only says that the two tasks share the dialogue encoder; how several tasks are trained in one network is
`nn/one_network.py`. The steps are those of all the tasks' Bases together, so that every task sees its gold as often as
its own Base does. It begins with the encoder, not with Base.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from friend_training.core.beside import Lesson
from friend_training.core.checkpoint import save_checkpoint
from friend_training.core.listener import Listener
from friend_training.core.loop import Outcome, Work, carry_out, outcome
from friend_training.core.phases import Advanced, Phases
from friend_training.core.plan import LoopSettings, TaskPlan, Training, check_plan
from friend_training.core.run import Run
from friend_training.core.seeds import derived_seed
from friend_training.errors import ConfigError
from friend_training.nn.one_network import check_same, fit_in_one_network
from friend_training.nn.torch_protocol import NetworkTask, network_task

METHOD, TOGETHER = "Multitask-Base", "train-together"


def multitask_base(
    run: Run, plans: Mapping[str, TaskPlan], *, settings: LoopSettings, listener: Listener | None = None
) -> dict[str, Outcome]:
    """All tasks at once, iteration 0 and no other. `base` of each plan is how its own Base would be trained."""
    fixed = {name: _without_update(plan) for name, plan in plans.items()}
    check_plan(fixed, (), (), settings)
    training = joint_training(plans)
    tasks = {name: network_task(plan.task, METHOD) for name, plan in plans.items()}
    check_same(tasks, METHOD)
    phases = Phases(run, fixed, (), (), settings, None)
    together: Work = partial(_train_together, run, plans, tasks, training, settings.seed)
    carry_out(run, [(TOGETHER, together), *_phases(phases, run)], listener)
    return {name: outcome(run, name) for name in plans}


def joint_training(plans: Mapping[str, TaskPlan]) -> Training:
    """As many steps, and as much patience, as the tasks have for their own Bases together."""
    parts = []
    for name, plan in plans.items():
        if not isinstance(plan.base, Training):
            raise ConfigError(f"Multitask-Base trains task {name!r} from the encoder; given the checkpoint {plan.base}")
        parts.append(plan.base)
    patience = [part.patience for part in parts if part.patience is not None]
    return Training(
        steps=sum(part.steps for part in parts), patience=sum(patience) if len(patience) == len(parts) else None
    )


def _train_together(
    run: Run,
    plans: Mapping[str, TaskPlan],
    tasks: Mapping[str, NetworkTask],
    training: Training,
    seed: int,
    advanced: Advanced,
) -> dict[str, Any]:
    """Afterwards each task has a checkpoint of its own, with the encoder in it: it can be used by itself."""
    lessons = {name: Lesson(plan.gold) for name, plan in plans.items()}
    dev = {name: plan.dev for name, plan in plans.items()}
    fit_plan = training.plan(derived_seed(seed, TOGETHER), restart=True)
    done = fit_in_one_network(tasks, lessons, dev=dev, plan=fit_plan, method=METHOD)
    advanced(1, 2)
    summary = {"steps": done.steps, "best_step": done.best_step, "best_score": done.best_score}
    return summary | {"digests": {name: save_checkpoint(task, run.checkpoint(name, 0)) for name, task in tasks.items()}}


def _phases(phases: Phases, run: Run) -> Iterator[tuple[str, Work]]:
    for name in phases.plans:
        yield f"train-{name}-0", partial(_take_over, run, name)
        yield f"evaluate-{name}-0", partial(phases.evaluate, name, 0)
    for name in phases.plans:
        yield f"test-{name}", partial(phases.test, name)


def _take_over(run: Run, name: str, advanced: Advanced) -> dict[str, Any]:
    done = run.require(TOGETHER)
    return {"digest": done["digests"][name], "steps": done["steps"], "best_step": done["best_step"]}


def _without_update(plan: TaskPlan) -> TaskPlan:
    return TaskPlan(plan.task, plan.gold, plan.dev, plan.base, update=None, test=plan.test, test_by=plan.test_by)
