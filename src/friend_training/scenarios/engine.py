"""Who labels the pool, as a config says it."""

import os

import torch

from friend_training.core.engines.local import LocalEngine
from friend_training.core.engines.ray import RayEngine
from friend_training.core.engines.work import Engine
from friend_training.errors import ConfigError
from friend_training.nn.devices import choose_device
from friend_training.scenarios import config


def make_engine(choice: config.LocalEngine | config.RayEngine, device: str) -> Engine | None:
    """None is the coordinating process itself. On graphics cards there is one worker per card at most."""
    on_card, named = choose_device(device).type == "cuda", ":" in device
    if isinstance(choice, config.RayEngine):
        if named:
            raise ConfigError(f"device {device!r}: Ray gives each worker a card of its own; use device: cuda")
        return RayEngine(address=choice.address, workers=choice.workers, cards=on_card)
    if not on_card:
        return None if choice.workers == 1 else LocalEngine(choice.workers)
    cards = () if named else visible_cards()[: choice.workers]
    return LocalEngine(len(cards), cards) if len(cards) > 1 else None


def visible_cards() -> tuple[str, ...]:
    """The cards that torch sees here, by their names in CUDA_VISIBLE_DEVICES."""
    count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(number) for number in range(count)] if named is None else named.split(",")
    return tuple(name.strip() for name in names[:count])
