"""Training on several kinds of batches at once: what mean teacher, CPS, STBR, STea and multi-task learning share.

They train by `nn.training.learn`, as every task does, so that only the loss tells these methods from the others.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from friend_training.core.pool import Inputs, ShardSource, as_pool
from friend_training.core.seeds import derived_seed
from friend_training.core.task import FitPlan
from friend_training.errors import DataError
from friend_training.nn import processes
from friend_training.nn.definition import Batch
from friend_training.nn.heads import Head
from friend_training.nn.shares import Items, Part, counted, own_batches, whole_or_parts
from friend_training.nn.torch_protocol import NetworkTask

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
    return processes.mean(torch.cat([counted(some, batch) for some, batch in zip(values, of, strict=True)]))


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
