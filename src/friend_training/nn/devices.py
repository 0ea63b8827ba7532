"""Where networks compute: a processor, a graphics card (CUDA) or Apple's (MPS), and how batches get there."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from friend_training.errors import ConfigError

AUTO = "auto"
"""The first graphics card, else Apple's, else the processor."""

T = TypeVar("T")


def choose_device(name: str = AUTO) -> torch.device:
    """The device of that name (`auto`, `cpu`, `cuda`, `cuda:N`, `mps`); one that this machine lacks is refused."""
    if name == AUTO:
        return torch.device("cuda", 0) if torch.cuda.is_available() else _apple_or_processor()
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (number and (kind != "cuda" or not number.isdigit())):
        raise ConfigError(f"device {name!r}: expected auto, cpu, cuda, cuda:N or mps")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ConfigError("device 'mps': this machine, or this build of torch, has no Apple graphics card")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"device {name!r}: torch {torch.__version__} sees {torch.cuda.device_count()} CUDA card(s) here"
        )
    return torch.device("cuda", int(number or 0)) if kind == "cuda" else torch.device(kind)


def _apple_or_processor() -> torch.device:
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def on_device(value: T, device: torch.device) -> T:
    """A batch (a dataclass of tensors, tuples of tensors and anything else) with all its tensors on the device."""
    moved: Any = value
    if isinstance(value, Tensor):
        moved = value.to(device, non_blocking=True)
    elif isinstance(value, tuple) and any(isinstance(part, Tensor) for part in value):
        moved = tuple(on_device(part, device) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: on_device(part, device) for name, part in parts.items()}
        moved = replace(value, **{name: part for name, part in changed.items() if part is not parts[name]})
    result: T = moved
    return result
