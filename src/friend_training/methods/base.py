"""Models trained on gold alone: Base, where every method starts, Base with as many steps as others, Multitask-Base."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from friend_training.core.selector import Nothing, Selector
from friend_training.core.task import FitPlan, derived_seed
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import (
    Advanced,
    Loop,
    LoopSettings,
    Once,
    Outcome,
    TaskPlan,
    Training,
    carry_out,
    check_plan,
    friend_train,
    outcome,
)
from friend_training.methods.update import batches
from friend_training.nn.encoder import open_encoder
from friend_training.nn.heads import unit_losses
from friend_training.nn.task import NetworkTask, network_task
from friend_training.nn.training import (
    Learning,
    device_of,
    explain_full_device,
    gradients_of,
    learn,
    seed_everything,
    weighted_mean,
)
from friend_training.runs.checkpoints import save_checkpoint
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Test, Train, TrainTogether


def base(
    run: Run, plans: Mapping[str, TaskPlan], *, settings: LoopSettings, listener: Listener | None = None
) -> dict[str, Outcome]:
    """Iteration 0 and no other. Its checkpoints are what the other methods take as `TaskPlan.base`."""
    plans = {name: replace(plan, selectors=()) for name, plan in plans.items()}
    return friend_train(run, plans, (), (), settings=replace(settings, iterations=0), listener=listener)


def base_same_steps(
    run: Run, plans: Mapping[str, TaskPlan], *, settings: LoopSettings, listener: Listener | None = None
) -> dict[str, Outcome]:
    """The loop with nothing chosen: what more steps on gold do by themselves.

    A Base that is trained too little makes every method look good; this row tells how much of a gain is only that.
    """
    nothing = [Selector(Nothing())] * settings.iterations
    plans = {name: replace(plan, selectors=nothing) for name, plan in plans.items()}
    return friend_train(run, plans, (), (), settings=settings, listener=listener)


def multitask_base(
    run: Run, plans: Mapping[str, TaskPlan], *, settings: LoopSettings, listener: Listener | None = None
) -> dict[str, Outcome]:
    """Multitask-Base: one encoder shared by the tasks, a head each, gold alone (Caruana 1997; Table 1 of the paper).

    The paper only has that the two tasks share the dialogue encoder. Here every batch holds as many examples of each
    task, the loss is the sum of theirs, and the steps are those of all the tasks' Bases together, so that every task
    sees its gold as often as its own Base does. It begins with the encoder, not with Base. There is one model, so all
    tasks have the weights with the best mean of their main metrics on dev.

    All tasks are trained at once, iteration 0 and no other. `base` of each plan is how its own Base would be trained.
    """
    fixed = {name: _without_update(plan) for name, plan in plans.items()}
    check_plan(fixed, (), (), settings)
    training = joint_training(plans)
    tasks = {name: network_task(plan.task, "Multitask-Base") for name, plan in plans.items()}
    _check_same(tasks)
    loop = Loop(run, fixed, (), (), settings, None)

    def procedure(once: Once) -> None:
        once(TrainTogether(), partial(_train_together, run, plans, tasks, training, settings.seed))
        for name in plans:
            once(Train(name, 0), partial(_take_over, run, name))
            once(Evaluate(name, 0), partial(loop.evaluate, name, 0))
        for name in plans:
            once(Test(name), partial(loop.test, name))

    carry_out(run, procedure, listener)
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


def train_together(tasks: Mapping[str, NetworkTask], plans: Mapping[str, TaskPlan], plan: FitPlan) -> dict[str, Any]:
    """Give every task a network on one and the same encoder, and train them with mixed batches."""
    seed_everything(plan.seed)
    first = next(iter(tasks.values()))
    encoder = open_encoder(first.encoder)
    for task in tasks.values():
        task.network = task.definition.network(encoder)
    together = nn.ModuleList([task.network for task in tasks.values()])
    size = max(1, first.settings.batch_size // len(tasks))
    gold = [
        batches(
            task,
            task.definition.gold_items(plans[name].gold),
            size,
            seed=derived_seed(plan.seed, name),
            steps=plan.steps,
        )
        for name, task in tasks.items()
    ]
    scores = [task.dev_score(plans[name].dev) for name, task in tasks.items()]

    def loss(networks: Any, step: int) -> Tensor:
        parts = []
        for network, its_gold in zip(networks[0], gold, strict=True):
            batch = next(its_gold)
            parts.append(weighted_mean(unit_losses(network(batch), batch.targets), batch.weights))
        return torch.stack(parts).sum()

    def dev_score() -> float:
        return sum(score() for score in scores) / len(scores)

    what = Learning([together], gradients_of(loss, [together]), dev_score, kept=[together])
    with explain_full_device(first.name, first.settings, "batch_size", device_of(first.network)):
        summary = learn(what, plan=plan, settings=first.settings, progress=first.progress)
    return {"steps": summary.steps, "best_step": summary.best_step, "best_score": summary.best_score}


def _train_together(
    run: Run,
    plans: Mapping[str, TaskPlan],
    tasks: Mapping[str, NetworkTask],
    training: Training,
    seed: int,
    advanced: Advanced,
) -> dict[str, Any]:
    """Afterwards each task has a checkpoint of its own, with the encoder in it: it can be used by itself."""
    summary = train_together(tasks, plans, training.plan(derived_seed(seed, TrainTogether().name)))
    advanced(1, 2)
    return summary | {"digests": {name: save_checkpoint(task, run.checkpoint(name, 0)) for name, task in tasks.items()}}


def _take_over(run: Run, name: str, advanced: Advanced) -> dict[str, Any]:
    done = run.require(TrainTogether())
    return {"digest": done["digests"][name], "steps": done["steps"], "best_step": done["best_step"]}


def _without_update(plan: TaskPlan) -> TaskPlan:
    return TaskPlan(plan.task, plan.gold, plan.dev, plan.base, update=None, test=plan.test)


def _check_same(tasks: Mapping[str, NetworkTask]) -> None:
    """One encoder cannot be trained in two ways."""
    encoders = {str(task.encoder) for task in tasks.values()}
    if len(encoders) > 1:
        raise ConfigError(f"Multitask-Base: the tasks have different encoders: {', '.join(sorted(encoders))}")
    if len({task.settings for task in tasks.values()}) > 1:
        raise ConfigError("Multitask-Base: tasks that share an encoder need the same training settings")
