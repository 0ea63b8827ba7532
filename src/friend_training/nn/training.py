"""One training loop for all tasks: gold and chosen pseudo-labels in one shuffled union, Eq. 1, best weights on dev."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from friend_training.core.task import FitPlan, FitSummary
from friend_training.nn import distributed
from friend_training.nn.distributed import Items, batches_by_hand
from friend_training.nn.encoder import Precision
from friend_training.nn.heads import unit_losses
from friend_training.nn.optimizer import clip_gradients, make_optimizers, warm_up_then_decay
from friend_training.nn.threads import Hands

Progress = Callable[[int, int], None]
"""Told from time to time how many of how many are done."""

Losses = Callable[[int, float], None]
"""Told from time to time a training step and its loss."""

TELL_EVERY = 10


def no_progress(done: int, total: int) -> None:
    """For when nobody watches."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a network is trained; the paper's are AdamW, batch 16, one rate of 4e-5 for twelve layers."""

    batch_size: int = 16
    encoder_rate: float = 1e-4
    head_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.1
    clip: float = 1.0
    look_every: int = 50
    early_stopping_units: int = 300
    labelling_pieces: int = 1024
    precision: Precision = "fp32"


def train(
    network: nn.Module,
    items: Items,
    collate: Callable[[Sequence[Any]], Any],
    dev_score: Callable[[], float],
    *,
    plan: FitPlan,
    settings: TrainingSettings,
    progress: Progress = no_progress,
    losses: Losses | None = None,
) -> FitSummary:
    """Train one network by Eq. 1 on the shuffled union of its items, which `collate` puts on the network's device."""
    with Hands(network, batch_size=settings.batch_size, seed=plan.seed) as hands:
        batches = batches_by_hand(
            items, collate, settings.batch_size, seed=plan.seed, steps=plan.steps, hands=hands.count
        )

        def gradients(step: int) -> None:
            batch = next(batches)
            if hands.count > 1:
                loss = hands.backward(batch)
            else:
                (whole,) = batch
                loss = weighted_mean(unit_losses(network(whole), whole.targets), whole.weights)
                distributed.backward(loss, [network])
            if losses is not None and step % TELL_EVERY == 0:
                losses(step, float(loss.detach()))

        what = Learning([network], gradients, partial(hands.rested, dev_score), kept=[network])
        return learn(what, plan=plan, settings=settings, progress=progress)


Loss = Callable[[Sequence[nn.Module], int], Tensor]
"""The loss of a step (counted from 1), given the networks that learn, ready for training.

Its means are `weighted_mean` and `nn.semi_supervised.mean_over_units`, which know of other processes.
"""


@dataclass(frozen=True, slots=True)
class Learning:
    """What learns and how it is watched.

    `gradients` leaves those of a step (counted from 1) at the weights of the networks, which are ready for training.
    `kept` are all networks whose best weights belong together.
    """

    networks: Sequence[nn.Module]
    gradients: Callable[[int], None]
    dev_score: Callable[[], float]
    kept: Sequence[nn.Module]
    after_step: Callable[[int], None] = lambda step: None


def gradients_of(loss: Loss, networks: Sequence[nn.Module]) -> Callable[[int], None]:
    """The gradients of one loss over all networks."""

    def gradients(step: int) -> None:
        distributed.backward(loss(networks, step), networks)

    return gradients


def learn(what: Learning, *, plan: FitPlan, settings: TrainingSettings, progress: Progress) -> FitSummary:
    """The training loop: train in place and leave the weights that were best on dev.

    Of several processes all do (`nn.processes`). Networks stay on the device where they are.
    """
    distributed.begin_alike([*what.networks, *what.kept], plan.seed)
    learners = [_Learner(network, plan.steps, settings) for network in what.networks]
    best_score, best_step, best_weights = float("-inf"), 0, [copy_weights(network) for network in what.kept]
    evaluations_without_gain, step = 0, 0
    for step in range(1, plan.steps + 1):
        for network in what.networks:
            network.train()
        what.gradients(step)
        for learner in learners:
            learner.step(step)
        what.after_step(step)
        if step % TELL_EVERY == 0:
            progress(step, plan.steps)
        if step % settings.look_every == 0 or step == plan.steps:
            score = distributed.agreed(what.dev_score())
            evaluations_without_gain = 0 if score > best_score else evaluations_without_gain + 1
            if score > best_score:
                best_score, best_step = score, step
                best_weights = [copy_weights(network) for network in what.kept]
            if plan.patience is not None and evaluations_without_gain >= plan.patience:
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


def weighted_mean(losses: Tensor, weights: Tensor) -> Tensor:
    """Weights scale a unit's share, they do not renormalise the batch: λ = 0.5 really halves the pseudo-labels.

    Of several processes each gets its share of the mean over all of them. A unit without a weight does not count.
    """
    return distributed.mean(losses[: len(weights)] * weights)


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in network.state_dict().items()}


def save_weights(network: nn.Module, path: Path) -> None:
    """Write all weights, wherever the network is, for any device to load."""
    save_file({name: weight.cpu().contiguous() for name, weight in network.state_dict().items()}, path)


def seed_everything(seed: int) -> None:
    """All that training draws from (initial weights, dropout); the order of batches has a generator of its own."""
    torch.manual_seed(seed)
