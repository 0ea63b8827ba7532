"""Friend-training: cross-task self-training, where models of related tasks check each other's pseudo-labels.

The models of a run, from Python:

    from friend_training import load
    load("runs/demo").rewrite(["《沙漠简史》我推荐给潘文博了。", "它你推荐给他了。"]).text
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from friend_training.errors import naming_missing_packages

if TYPE_CHECKING:  # for editors and type checkers; when the program runs, __getattr__ does it
    from friend_training.friendships.labels import label_friendship
    from friend_training.inference.model import load
    from friend_training.inference.transformers_model import FriendTrainedModel
    from friend_training.tasks.text_classification.task import TextClassification

__version__ = "0.1.0"

__all__ = ["FriendTrainedModel", "TextClassification", "__version__", "label_friendship", "load"]

_PLACES = {
    "FriendTrainedModel": "friend_training.inference.transformers_model",
    "TextClassification": "friend_training.tasks.text_classification.task",
    "label_friendship": "friend_training.friendships.labels",
    "load": "friend_training.inference.model",
}
"""Where the names of this front door live: each is opened on first use, because behind it waits torch."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with naming_missing_packages():
        found = getattr(import_module(_PLACES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
