"""Methods that work inside training: the task stays what it is, only the way it is updated becomes the method's.

Mean teacher, CPS, STBR, STea and multi-task learning share this, and train by `nn.training.learn`, as every task does:
only the loss tells these methods from the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from friend_training.core.pool import Inputs, ShardSource, as_pool
from friend_training.core.selector import Nothing, Selector
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, derived_seed
from friend_training.errors import ConfigError, DataError
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, friend_train
from friend_training.nn import training
from friend_training.nn.heads import Head
from friend_training.nn.interfaces import Batch
from friend_training.nn.task import NetworkTask
from friend_training.nn.training import (
    Items,
    Part,
    counted,
    device_of,
    explain_full_device,
    own_batches,
    whole_or_parts,
)
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run

Train = Callable[[Sequence[Any], Sequence[PseudoLabel], Sequence[Any], FitPlan], FitSummary]
"""An update as the method does it: gold, chosen pseudo-labels, dev and the plan."""


class State(Protocol):
    """What a method has to find again besides the task: `load` comes after the task has loaded the same folder."""

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None: ...


class InsideTask:
    """A task whose updates are the method's. Its Base (`restart`) is the one that all methods start from."""

    def __init__(self, task: NetworkTask, train: Train, state: State | None = None) -> None:
        self.task, self.train, self.state = task, train, state
        self.name, self.label_type, self.main_metric = task.name, task.label_type, task.main_metric

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        if plan.restart:
            return self.task.fit(gold, pseudo, dev=dev, plan=plan)
        with explain_full_device(self.name, self.task.settings, "batch_size", device_of(self.task.network)):
            return self.train(gold, pseudo, dev, plan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return self.task.predict(inputs)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return self.task.evaluate(gold)

    def save(self, folder: Path) -> None:
        self.task.save(folder)
        if self.state is not None:
            self.state.save(folder)

    def load(self, folder: Path) -> None:
        self.task.load(folder)
        if self.state is not None:
            self.state.load(folder)


def going_on(plan: TaskPlan, method: str) -> TaskPlan:
    """The plan, if its updates go on from the last weights: a method with a teacher cannot begin anew each time."""
    if plan.update is None:
        raise ConfigError(f"{method}: task {plan.task.name!r} has no update, and to update it is all the method does")
    if plan.update.restart:
        raise ConfigError(f"{method} goes on from Base: task {plan.task.name!r} cannot restart in each iteration")
    return plan


def train_inside(
    run: Run,
    plans: Mapping[str, TaskPlan],
    *,
    settings: LoopSettings,
    beside: Mapping[str, TaskPlan] | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """The loop with nothing to label or select: each iteration is one update, saved, and scored on dev.

    The tasks `beside` only get their Base, for the others to use.
    """
    nothing = [Selector(Nothing())] * settings.iterations
    trained = {name: replace(plan, selectors=nothing) for name, plan in plans.items()}
    fixed = {name: replace(plan, update=None, test={}) for name, plan in (beside or {}).items()}
    found = friend_train(run, {**fixed, **trained}, (), (), settings=settings, listener=listener)
    return {name: found[name] for name in plans}


POOL_PART = 1000
"""So many inputs of the pool are made into items at once, where several processes share them."""


def batches(task: NetworkTask, items: Items, size: int, *, seed: int, steps: int) -> Iterator[Batch]:
    """Shuffled batches of about equal length, one for each step: this process's part of them."""
    if not len(items):
        raise DataError(f"task {task.name}: nothing to train on (no gold, chosen or unlabelled input could be used)")
    yield from own_batches(items, task.collate, size, seed=seed, steps=steps)


def mixed_batches(
    task: NetworkTask, labelled: Items, unlabelled: Items, plan: FitPlan
) -> Iterator[tuple[Batch, Batch]]:
    """Half a batch of gold and half a batch of the rest: a step sees as many examples as with any other method."""
    others = task.settings.batch_size // 2
    return zip(
        batches(task, labelled, max(1, task.settings.batch_size - others), seed=plan.seed, steps=plan.steps),
        batches(task, unlabelled, max(1, others), seed=derived_seed(plan.seed, "unlabelled"), steps=plan.steps),
        strict=True,
    )


def unlabelled_items(task: NetworkTask, pool: Inputs) -> Items:
    """The pool's items; those without a unit (a dialogue without a predicate) have nothing to learn from."""
    shards = as_pool(pool, POOL_PART)
    parts: list[Part] = [partial(_with_units, task, shards.shard(number)) for number in range(shards.shards)]
    return whole_or_parts(parts)


def _with_units(task: NetworkTask, shard: ShardSource) -> list[Any]:
    items = task.definition.input_items(shard.read().inputs)
    return [item for item in items if len(task.definition.collate([item]).weights)]


def mean_over_units(values: Sequence[Tensor], of: Sequence[Batch]) -> Tensor:
    """The mean of values [U] that belong to the units of several batches."""
    return training.mean(torch.cat([counted(some, batch) for some, batch in zip(values, of, strict=True)]))


def soft_labels(heads: Sequence[Head]) -> list[Tensor]:
    """[U, N, C] probabilities, no gradient."""
    return [head.logits.detach().softmax(dim=-1) for head in heads]


def hard_labels(heads: Sequence[Head]) -> list[Tensor]:
    """[U, N] the likeliest classes."""
    return [head.logits.detach().argmax(dim=-1) for head in heads]


def merged_labels(hard: Sequence[Tensor], soft: Sequence[Tensor], hard_share: float) -> list[Tensor]:
    """[U, N, C]: hard_share · one-hot + (1 - hard_share) · soft."""
    return [
        torch.lerp(given, F.one_hot(label, given.size(-1)).to(given.dtype), hard_share)
        for label, given in zip(hard, soft, strict=True)
    ]
