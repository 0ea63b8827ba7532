"""Who labels the pool, as a config says it."""

from friend_training.core.engines.local import LocalEngine
from friend_training.core.engines.ray import RayEngine
from friend_training.core.engines.work import Engine
from friend_training.scenarios import config


def make_engine(choice: config.LocalEngine | config.RayEngine) -> Engine | None:
    """None is the coordinating process itself."""
    if isinstance(choice, config.RayEngine):
        return RayEngine(address=choice.address, workers=choice.workers)
    return None if choice.workers == 1 else LocalEngine(choice.workers)
