"""Friend-training: cross-task self-training, where models of related tasks check each other's pseudo-labels.

The models of a run, from Python:

    from friend_training import load
    load("runs/demo").rewrite(["《沙漠简史》我推荐给潘文博了。", "它你推荐给他了。"]).text
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

FRONT_DOOR = {
    "load": "friend_training.scenarios.loading",
    "FriendTrainedModel": "friend_training.export.model",
}
"""Names that can be imported from here and where they live: opened on first use, because behind them waits torch."""


def __getattr__(name: str) -> Any:
    if name not in FRONT_DOOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(FRONT_DOOR[name]), name)
