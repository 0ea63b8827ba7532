"""Standard self-training: each task by itself, its own confidence is all it goes by."""

from collections.abc import Mapping
from dataclasses import replace

from friend_training.core.labelling import Audit
from friend_training.core.listener import Listener
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.pool import Inputs
from friend_training.core.run import Run
from friend_training.loop.algorithm import Outcome, friend_train


def sst(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Friend-training without friends: the overall score is the confidence."""
    plans = {
        name: replace(plan, selectors=[replace(selector, confidence_weight=1.0) for selector in plan.selectors])
        for name, plan in plans.items()
    }
    return friend_train(run, plans, (), pool, settings=settings, audit=audit, listener=listener)
