"""The plan of a run: for each task its data, its selectors and its training; and what all tasks share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from friend_training.core.friendship import Aggregation, Friendship
from friend_training.core.pool import Inputs, check_ids, is_empty
from friend_training.core.selector import Aim, Nothing, Selector
from friend_training.core.task import FitPlan, Task
from friend_training.errors import ConfigError
from friend_training.loop.labelling import Engine, FirstLabels
from friend_training.loop.thresholds import Probe
from friend_training.runs.checkpoints import EqualTrainings


@dataclass(frozen=True, slots=True)
class Training:
    """A FitPlan without its seed, which each step derives anew. `pseudo_weight` is λ of Eq. 1."""

    steps: int
    restart: bool = False
    patience: int | None = None
    pseudo_weight: float = 1.0

    def plan(self, seed: int, *, restart: bool | None = None) -> FitPlan:
        return FitPlan(
            seed=seed,
            steps=self.steps,
            restart=self.restart if restart is None else restart,
            patience=self.patience,
            pseudo_weight=self.pseudo_weight,
        )


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task of a run.

    `base` pre-trains the task on gold, or is the checkpoint of a Base that was trained once for several methods.
    `update` trains it in each iteration; a task without `update` is a friend with fixed parameters (FDT-SF).
    `selectors` has one selector per iteration; a fixed friend needs none, and without `dev` it is not scored either.
    `start` is a checkpoint that a Base which is trained goes on from, instead of beginning anew. `probe` is what
    selectors that need dev are tried on.
    """

    task: Task
    gold: Sequence[Any]
    dev: Sequence[Any]
    base: Training | str | Path
    update: Training | None
    selectors: Sequence[Selector] = ()
    test: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    start: str | Path | None = None
    probe: Probe | None = None

    def selector(self, iteration: int) -> Selector:
        return Selector(Nothing()) if self.update is None else self.selectors[iteration - 1]

    def doubts(self) -> list[str]:
        """What speaks against promises that rest on this task's dev."""
        found = []
        trained = [one for one in (self.base, self.update) if isinstance(one, Training)]
        if any(one.patience is not None for one in trained):
            found.append("training was stopped by dev too: what dev promises is a little too good")
        if self.probe is not None and self.probe.other_domain:
            found.append("dev is of another domain than the pool: what dev promises need not hold there")
        return found

    def checkpoint_of(self, iteration: int) -> int:
        """The iteration whose weights this task has after `iteration`: a fixed friend stays what it was."""
        return 0 if self.update is None else iteration


def fixed_friend(task: Task, *, dev: Sequence[Any] = (), test: Mapping[str, Sequence[Any]] | None = None) -> TaskPlan:
    """The plan of a friend that came finished (a rule, a service, a file of predictions): no gold and no training."""
    return TaskPlan(task, gold=(), dev=dev, base=Training(steps=0), update=None, test=test or {})


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """`shard_size` is in inputs; `aggregate` makes one matching score of those with several friends.

    `stop` "agreement" ends before `iterations` where dev shows that friends agree more often because they copy each
    other (loop/thresholds.py); the tasks that learn need a probe.
    `engine` says who labels the pool; None is this process. Nothing but the time it takes depends on it, nor on
    `first_labels` and `equal_trainings`, which the methods of a study share.
    """

    seed: int
    iterations: int
    shard_size: int = 1000
    aggregate: Aggregation = "mean"
    stop: Literal["agreement"] | None = None
    engine: Engine | None = None
    first_labels: FirstLabels | None = None
    equal_trainings: EqualTrainings | None = None


def check_plan(
    plans: Mapping[str, TaskPlan], friendships: Sequence[Friendship], pool: Inputs, settings: LoopSettings
) -> None:
    """Refuse, before anything is trained, what would fail or mean nothing later."""
    if settings.iterations < 0 or settings.shard_size < 1:
        raise ConfigError(f"{settings}: expected iterations ≥ 0 and shard_size ≥ 1")
    if settings.stop not in (None, "agreement"):
        raise ConfigError(f"stop is {settings.stop!r}, expected 'agreement' or None")
    for friendship in friendships:
        for name in (friendship.first, friendship.second):
            if name not in plans:
                raise ConfigError(f"friendship {friendship.name!r}: no task {name!r}; there are {', '.join(plans)}")
        if friendship.first == friendship.second:
            raise ConfigError(f"friendship {friendship.name!r} joins task {friendship.first!r} with itself")
    if len({friendship.name for friendship in friendships}) < len(friendships):
        raise ConfigError(f"two friendships of the same name: {[friendship.name for friendship in friendships]}")
    for name, plan in plans.items():
        _check_task(name, plan, friendships, pool, settings)
    check_ids(pool)


def _check_task(
    name: str, plan: TaskPlan, friendships: Sequence[Friendship], pool: Inputs, settings: LoopSettings
) -> None:
    if not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(f"task {name!r}: a name of letters, digits, '_', '-' and '.' was expected, it names files")
    if plan.update is None:
        return
    if not plan.dev:
        raise ConfigError(f"task {name!r} has no dev examples: by them the best of its iterations is found")
    if len(plan.selectors) != settings.iterations:
        raise ConfigError(f"task {name!r}: {len(plan.selectors)} selectors for {settings.iterations} iterations")
    has_friend = any(name in (friendship.first, friendship.second) for friendship in friendships)
    if settings.stop is not None and has_friend and (plan.probe is None or not plan.probe.inputs):
        raise ConfigError(f"task {name!r}: to stop by agreement its plan needs a probe, dev inputs whose gold is known")
    for selector in plan.selectors:
        if selector.needs_dev:
            _check_probe(name, plan, selector)
        if selector.needs_match and not has_friend:
            raise ConfigError(f"task {name!r} has no friend, so nothing can match: confidence_weight must be 1")
        if is_empty(pool) and not isinstance(selector.pick, Nothing):
            raise ConfigError(f"task {name!r} selects pseudo-labels, but the pool of unlabeled inputs is empty")


def _check_probe(name: str, plan: TaskPlan, selector: Selector) -> None:
    aims = isinstance(selector.pick, Aim)
    if plan.probe is None or not plan.probe.inputs:
        what = "aims at a precision" if aims else "learns its score"
        raise ConfigError(f"task {name!r} {what}: its plan needs a probe, dev inputs whose gold is known")
    if aims and selector.balance is not None:
        raise ConfigError(f"task {name!r}: a selector that aims at a precision cannot balance labels as well")
