"""Base: the task models trained on gold alone, where every method starts; and Base with as many steps as the others."""

from collections.abc import Mapping
from dataclasses import replace

from friend_training.core.listener import Listener
from friend_training.core.picks import Nothing
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.loop.algorithm import Outcome, friend_train


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
