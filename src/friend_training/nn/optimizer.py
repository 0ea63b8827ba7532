"""AdamW for the network, lazy Adam for the rows of sparse embeddings, one schedule and one clipping for both."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from friend_training.nn.encoder import AnyEncoder

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
