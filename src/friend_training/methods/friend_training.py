"""Friend-training (FDT): tasks check each other's pseudo-labels through their friendships.

FDT-S is the same with a strong friend: give its plan all of its labels as `gold`, or a fully trained Base as `base`.
FDT-SF keeps that friend as it is: name it in `fixed`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from friend_training.core.friendship import Friendship
from friend_training.core.pool import Inputs
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, friend_train
from friend_training.loop.labelling import Audit
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run


def fdt(
    run: Run,
    plans: Mapping[str, TaskPlan],
    friendships: Sequence[Friendship],
    pool: Inputs,
    *,
    settings: LoopSettings,
    fixed: Collection[str] = (),
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Algorithm 1; the tasks named in `fixed` predict and match but are never trained again."""
    if not friendships:
        raise ConfigError("friend-training needs at least one friendship; without any, use sst")
    for name in fixed:
        if name not in plans:
            raise ConfigError(f"fixed: no task {name!r}; there are {', '.join(plans)}")
    plans = {name: replace(plan, update=None) if name in fixed else plan for name, plan in plans.items()}
    return friend_train(run, plans, friendships, pool, settings=settings, audit=audit, listener=listener)
