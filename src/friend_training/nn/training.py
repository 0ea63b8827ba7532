"""One training loop for all tasks: gold and chosen pseudo-labels in one shuffled union, Eq. 1, best weights on dev.

AdamW for the network, lazy Adam for the rows of sparse embeddings, one schedule and one clipping for both. A device
that runs out of memory is told as one of our own errors that names the setting to lower.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from friend_training.core.task import FitPlan, FitSummary
from friend_training.errors import DeviceMemoryError
from friend_training.nn import parallel
from friend_training.nn.encoder import AnyEncoder, Precision
from friend_training.nn.heads import unit_losses
from friend_training.nn.parallel import Hands, Items, batches_by_hand

WITH_FUSED_ADAM = ("cpu", "cuda")
"""Devices on which all versions of torch that we take have AdamW in one kernel."""


def make_optimizers(
    module: nn.Module, *, encoder_rate: float, head_rate: float, weight_decay: float
) -> list[torch.optim.Optimizer]:
    """Rows of an embedding table that a batch does not touch cost nothing: SparseAdam leaves them alone.

    Where a device has no sparse gradients (`nn.devices.put_on`) tables are weights like all others.
    """
    encoders = [part for part in module.modules() if isinstance(part, AnyEncoder)]
    inside_encoders = [part for encoder in encoders for part in encoder.modules()]
    tables = [part for part in inside_encoders if isinstance(part, nn.Embedding | nn.EmbeddingBag) and part.sparse]
    rows = [table.weight for table in tables]
    row_ids = {id(weight) for weight in rows}
    encoder_weights = [p for encoder in encoders for p in encoder.parameters() if id(p) not in row_ids]
    inside = row_ids | {id(weight) for weight in encoder_weights}
    head_weights = [p for p in module.parameters() if id(p) not in inside]
    groups = [
        *_decayed(encoder_weights, encoder_rate, weight_decay),
        *_decayed(head_weights, head_rate, weight_decay),
    ]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, fused=_can_be_fused(module))]
    if rows:
        optimizers.append(torch.optim.SparseAdam(rows, lr=encoder_rate))
    return optimizers


def _can_be_fused(module: nn.Module) -> bool:
    return all(weight.device.type in WITH_FUSED_ADAM for weight in module.parameters())


def _decayed(weights: list[nn.Parameter], rate: float, weight_decay: float) -> list[dict[str, object]]:
    """Biases and normalisation gains are not decayed."""
    return [
        {"params": [w for w in weights if w.dim() > 1], "lr": rate, "weight_decay": weight_decay},
        {"params": [w for w in weights if w.dim() <= 1], "lr": rate, "weight_decay": 0.0},
    ]


def warm_up_then_decay(step: int, *, steps: int, warm_up: float) -> float:
    """Up to 1 over the first `warm_up` share of the steps, then linearly down to 0."""
    rising = max(1, math.ceil(warm_up * steps))
    return (step + 1) / rising if step < rising else max(0.0, (steps - step) / max(1, steps - rising))


def clip_gradients(weights: Iterable[nn.Parameter], maximum: float) -> None:
    """Scale all gradients, dense and sparse, so that their common norm is at most `maximum`."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    values: list[Tensor] = [g.coalesce().values() if g.is_sparse else g for g in gradients]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(value) for value in values]))
    if norm > maximum:
        for gradient in gradients:
            gradient.mul_(maximum / (norm + 1e-6))


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
                parallel.backward(loss, [network])
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
        parallel.backward(loss(networks, step), networks)

    return gradients


def learn(what: Learning, *, plan: FitPlan, settings: TrainingSettings, progress: Progress) -> FitSummary:
    """The training loop: train in place and leave the weights that were best on dev.

    Of several processes all do (`nn.parallel`). Networks stay on the device where they are.
    """
    parallel.begin_alike([*what.networks, *what.kept], plan.seed)
    learners = [_Learner(network, plan.steps, settings) for network in what.networks]
    best_score, best_step, best_weights = float("-inf"), 0, [copy_weights(network) for network in what.kept]
    evaluations_without_gain, step = 0, 0
    curve: list[tuple[int, float]] = []
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
            score = parallel.agreed(what.dev_score())
            curve.append((step, score))
            evaluations_without_gain = 0 if score > best_score else evaluations_without_gain + 1
            if score > best_score:
                best_score, best_step = score, step
                best_weights = [copy_weights(network) for network in what.kept]
            if plan.patience is not None and evaluations_without_gain >= plan.patience:
                break
    for network, weights in zip(what.kept, best_weights, strict=True):
        network.load_state_dict(weights)
    return FitSummary(steps=step, best_step=best_step, best_score=best_score, curve=tuple(curve))


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
    return parallel.mean(losses[: len(weights)] * weights)


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in network.state_dict().items()}


def save_weights(network: nn.Module, path: Path) -> None:
    """Write all weights, wherever the network is, for any device to load."""
    save_file({name: weight.cpu().contiguous() for name, weight in network.state_dict().items()}, path)


def seed_everything(seed: int) -> None:
    """All that training draws from (initial weights, dropout); the order of batches has a generator of its own."""
    torch.manual_seed(seed)


SizeSetting = Literal["batch_size", "labelling_pieces"]
"""The settings that decide how much is on the device at once: in training, and in labelling."""


def device_of(network: nn.Module) -> torch.device:
    return next(network.parameters()).device


@contextmanager
def explain_full_device(
    task: str, settings: TrainingSettings, setting: SizeSetting, device: torch.device
) -> Iterator[None]:
    """Around what computes. CUDA has an error of its own for this, MPS only says so."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "out of memory" not in str(error):
            raise
        raise DeviceMemoryError(task, setting, getattr(settings, setting), str(device)) from error
