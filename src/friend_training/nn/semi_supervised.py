"""Training on several kinds of batches at once: what mean teacher, CPS, STBR, STea and multi-task learning share.

It is `nn.training.train` for any loss and any number of networks: the same optimizers, schedule, clipping, looks at dev
and best weights, so that only the loss tells these methods from the others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from friend_training.core.pool import Inputs, ShardSource, as_pool
from friend_training.core.seeds import derived_seed
from friend_training.core.task import FitPlan, FitSummary
from friend_training.errors import DataError
from friend_training.nn import processes
from friend_training.nn.definition import Batch
from friend_training.nn.heads import Head
from friend_training.nn.optimizer import clip_gradients, make_optimizers, warm_up_then_decay
from friend_training.nn.shares import Items, Part, counted, own_batches, whole_or_parts
from friend_training.nn.torch_protocol import NetworkTask
from friend_training.nn.training import TELL_EVERY, Progress, TrainingSettings, copy_weights

Loss = Callable[[Sequence[nn.Module], int], Tensor]
"""The loss of a step (counted from 1), given the networks that learn, ready for training.

Its means are `nn.training.weighted_mean` and `mean_over_units`, which know of other processes.
"""

POOL_PART = 1000
"""So many inputs of the pool are made into items at once, where several processes share them."""


@dataclass(frozen=True, slots=True)
class Learning:
    """What learns and how it is watched. `kept` are all networks whose best weights belong together."""

    networks: Sequence[nn.Module]
    loss: Loss
    dev_score: Callable[[], float]
    kept: Sequence[nn.Module]
    after_step: Callable[[int], None] = lambda step: None


def learn(what: Learning, *, plan: FitPlan, settings: TrainingSettings, progress: Progress) -> FitSummary:
    """Train in place and leave the weights that were best on dev."""
    processes.begin_alike([*what.networks, *what.kept], plan.seed)
    learners = [_Learner(network, plan.steps, settings) for network in what.networks]
    best_score, best_step, best_weights = float("-inf"), 0, [copy_weights(network) for network in what.kept]
    looks_without_gain, step = 0, 0
    for step in range(1, plan.steps + 1):
        for network in what.networks:
            network.train()
        processes.backward(what.loss(what.networks, step), what.networks)
        for learner in learners:
            learner.step(step)
        what.after_step(step)
        if step % TELL_EVERY == 0:
            progress(step, plan.steps)
        if step % settings.look_every == 0 or step == plan.steps:
            score = processes.agreed(what.dev_score())
            looks_without_gain = 0 if score > best_score else looks_without_gain + 1
            if score > best_score:
                best_score, best_step = score, step
                best_weights = [copy_weights(network) for network in what.kept]
            if plan.patience is not None and looks_without_gain >= plan.patience:
                break
    for network, weights in zip(what.kept, best_weights, strict=True):
        network.load_state_dict(weights)
    return FitSummary(steps=step, best_step=best_step, best_score=best_score)


class _Learner:
    """One network with its optimizers; several that learn together are clipped and stepped each by itself."""

    def __init__(self, network: nn.Module, steps: int, settings: TrainingSettings) -> None:
        self.optimizers = make_optimizers(
            network,
            encoder_rate=settings.encoder_rate,
            head_rate=settings.head_rate,
            weight_decay=settings.weight_decay,
        )
        self.network, self.steps, self.settings = network, steps, settings
        self.rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]

    def step(self, step: int) -> None:
        clip_gradients(self.network.parameters(), self.settings.clip)
        factor = warm_up_then_decay(step - 1, steps=self.steps, warm_up=self.settings.warm_up)
        for optimizer, rates in zip(self.optimizers, self.rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


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
