"""Out of memory on a device: told as one of our own errors that names the setting to lower."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import nn

from friend_training.errors import DeviceMemoryError
from friend_training.nn.training import TrainingSettings

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
