"""The loop that speed is compared with: what one writes first, properly written.

The same network, items, loss and decoder as ours; but every predicate is an example with an encoder pass of its own,
every sequence is padded to 125 pieces, examples come in the order given (shuffled in training), 32 to a batch in
labelling and 16 in training, and one plain AdamW moves all weights, so the word embeddings get dense gradients.
Dropout is torch's own.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from friend_training.core.task import Prediction
from friend_training.nn.encoder import ByteDropout
from friend_training.nn.heads import unit_losses
from friend_training.nn.training import TrainingSettings, warm_up_then_decay, weighted_mean
from friend_training.tasks.csrl.model import RoleBatch
from friend_training.tasks.csrl.task import CsrlDefinition
from friend_training.tasks.dialogue_input import NO_TURN
from friend_training.tasks.rewriting.model import RewriteBatch
from friend_training.tasks.rewriting.task import RewritingDefinition

DialogueDefinition = CsrlDefinition | RewritingDefinition

LENGTH = 125
LABELLING_BATCH = 32
TRAINING_BATCH = 16


def label_one_by_one(
    definition: DialogueDefinition, network: nn.Module, inputs: Sequence[Any]
) -> list[list[Prediction]]:
    """The predictions of inputs that have one unit each."""
    network.eval()
    items: Sequence[Any] = definition.input_items(inputs)
    predictions: list[list[Prediction]] = []
    with torch.no_grad():
        for begin in range(0, len(items), LABELLING_BATCH):
            batch = padded(definition.collate(items[begin : begin + LABELLING_BATCH]), definition.tokenizer.pad_id)
            predictions.extend(definition.decode(network(batch), batch))
    return predictions


def dense(network: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """One AdamW over all weights of the network, whose word embeddings now get dense gradients like all others."""
    encoder: Any = network.encoder
    encoder.words.sparse = False
    inside = {id(weight) for weight in encoder.parameters()}
    groups = [
        {"params": list(encoder.parameters()), "lr": settings.encoder_rate},
        {"params": [w for w in network.parameters() if id(w) not in inside], "lr": settings.head_rate},
    ]
    return torch.optim.AdamW(groups, weight_decay=settings.weight_decay)


def with_torch_dropout(network: nn.Module) -> None:
    """Ours replaces each `nn.Dropout` by one that draws faster; here they are put back."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, ByteDropout):
                setattr(parent, name, nn.Dropout(child.p))


def train_one_by_one(
    definition: DialogueDefinition, network: nn.Module, items: Sequence[Any], settings: TrainingSettings, *, seed: int
) -> int:
    """One epoch over items of one unit each; how many there were."""
    optimizer = dense(network, settings)
    with_torch_dropout(network)
    network.train()
    order = torch.randperm(len(items), generator=torch.Generator().manual_seed(seed)).tolist()
    units = 0
    for begin in range(0, len(order), TRAINING_BATCH):
        chosen = [items[index] for index in order[begin : begin + TRAINING_BATCH]]
        units += _step(definition, network, chosen, optimizer, settings)
    return units


def train_steps(
    definition: DialogueDefinition,
    network: nn.Module,
    items: Sequence[Any],
    settings: TrainingSettings,
    *,
    seed: int,
    steps: int,
) -> None:
    """So many steps over items of one unit each, epoch after epoch, with the schedule that ours has."""
    with_torch_dropout(network)
    optimizer = dense(network, settings)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warm_up_then_decay(step, steps=steps, warm_up=settings.warm_up)
    )
    generator = torch.Generator().manual_seed(seed)
    network.train()
    left: list[int] = []
    for _ in range(steps):
        left = left or torch.randperm(len(items), generator=generator).tolist()
        chosen, left = left[:TRAINING_BATCH], left[TRAINING_BATCH:]
        _step(definition, network, [items[index] for index in chosen], optimizer, settings)
        schedule.step()


def _step(
    definition: DialogueDefinition,
    network: nn.Module,
    items: Sequence[Any],
    optimizer: torch.optim.Optimizer,
    settings: TrainingSettings,
) -> int:
    """One step on a batch; how many units it had."""
    collated: Any = definition.collate(items)
    batch = padded(collated, definition.tokenizer.pad_id)
    loss = weighted_mean(unit_losses(network(batch), batch.targets), batch.weights)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
    optimizer.step()
    return len(batch.weights)


def padded(batch: Any, pad_id: int) -> Any:
    """The same batch with sequences of 125 pieces (an utterance that alone is longer stays as it is)."""
    missing = max(LENGTH - batch.ids.size(1), 0)

    def fill(table: Tensor, value: int) -> Tensor:
        return F.pad(table, (0, missing), value=value)

    wider: dict[str, Any] = {"ids": fill(batch.ids, pad_id), "types": fill(batch.types, 0), "mask": fill(batch.mask, 0)}
    if isinstance(batch, RoleBatch):
        return replace(batch, **wider, turn=fill(batch.turn, NO_TURN), targets=(fill(batch.targets[0], 0),))
    assert isinstance(batch, RewriteBatch)
    return replace(batch, **wider, source=fill(batch.source, False))
