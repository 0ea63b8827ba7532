"""Where networks compute: a processor, a graphics card (CUDA) or Apple's (MPS), and how batches get there."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from friend_training.errors import ConfigError
from friend_training.runs.files import local_rank

AUTO = "auto"
"""A graphics card (of several processes each takes its own), else Apple's, else the processor."""

PROCESSOR = torch.device("cpu")

WITH_SPARSE_GRADIENTS = ("cpu", "cuda")
"""Devices that can give embedding tables gradients of the rows that a batch touched, and nothing of the others."""

T = TypeVar("T")


def choose_device(name: str = AUTO) -> torch.device:
    """The device of that name (`auto`, `cpu`, `cuda`, `cuda:N`, `mps`); one that this machine lacks is refused."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ConfigError(f"device {name!r}: expected auto, cpu, cuda, cuda:N or mps")
    cards = torch.cuda.device_count()
    if name == AUTO:
        return _own_card() if cards else _apple_or_processor()
    if name == "mps" and not torch.backends.mps.is_available():
        raise ConfigError("device 'mps': this machine, or this build of torch, has no Apple graphics card")
    if name.startswith("cuda") and int(name[5:] or 0) >= cards:
        raise ConfigError(f"device {name!r}: torch {torch.__version__} sees {cards} CUDA card(s) here")
    return _own_card() if name == "cuda" else torch.device(name)


def _own_card() -> torch.device:
    """Of the processes that a launcher started on this machine the first takes the first card, and so on."""
    number, cards = local_rank(), torch.cuda.device_count()
    if number >= cards:
        raise ConfigError(f"process {number + 1} of this machine has no card: torch sees {cards}; start one per card")
    return torch.device("cuda", number)


def _apple_or_processor() -> torch.device:
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def on_device(value: T, device: torch.device) -> T:
    """A batch (a dataclass of tensors, tuples of tensors and anything else) with all its tensors on the device."""
    moved: Any = value
    if isinstance(value, Tensor):
        moved = value.to(device)
    elif isinstance(value, tuple) and any(isinstance(part, Tensor) for part in value):
        there = tuple(on_device(part, device) for part in value)
        moved = there if any(new is not old for new, old in zip(there, value, strict=True)) else value
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: new for name, old in parts.items() if (new := on_device(old, device)) is not old}
        moved = replace(value, **changed) if changed else value
    result: T = moved
    return result


def put_on(network: nn.Module, device: torch.device) -> nn.Module:
    """The same network on the device; where there are no sparse gradients its tables have ordinary ones."""
    for part in network.modules():
        if isinstance(part, nn.Embedding | nn.EmbeddingBag) and device.type not in WITH_SPARSE_GRADIENTS:
            part.sparse = False
    return network.to(device)
