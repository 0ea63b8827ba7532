"""Friend-training: cross-task self-training, where models of related tasks check each other's pseudo-labels.

The models of a run, from Python:

    from friend_training import load
    load("runs/demo").rewrite(["《沙漠简史》我推荐给潘文博了。", "它你推荐给他了。"]).text
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__version__ = "0.1.0"

__all__ = [
    "AnswerFile",
    "Csrl",
    "Endpoint",
    "Estimator",
    "FriendTrainedModel",
    "FriendTrainer",
    "Rewriting",
    "Rule",
    "TextClassification",
    "TokenClassification",
    "__version__",
    "label_friendship",
    "load",
    "load_rewriter",
    "rewriting_friendship",
    "span_friendship",
    "tag_friendship",
]

if TYPE_CHECKING:  # for editors and type checkers; when the program runs, a name is opened on first use
    from friend_training.friendships.csrl_rewriting import rewriting_friendship
    from friend_training.friendships.labels import label_friendship
    from friend_training.friendships.tags import span_friendship, tag_friendship
    from friend_training.inference.condense import load_rewriter
    from friend_training.inference.model import load
    from friend_training.inference.transformers_model import FriendTrainedModel
    from friend_training.tasks.csrl.task import Csrl
    from friend_training.tasks.estimators.task import Estimator
    from friend_training.tasks.rewriting.task import Rewriting
    from friend_training.tasks.sources import AnswerFile, Endpoint, Rule
    from friend_training.tasks.text_classification.task import TextClassification
    from friend_training.tasks.token_classification.task import TokenClassification
    from friend_training.trainer.trainer import FriendTrainer
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "friendships.csrl_rewriting": ("rewriting_friendship",),
            "friendships.labels": ("label_friendship",),
            "friendships.tags": ("span_friendship", "tag_friendship"),
            "inference.condense": ("load_rewriter",),
            "inference.model": ("load",),
            "inference.transformers_model": ("FriendTrainedModel",),
            "tasks.csrl.task": ("Csrl",),
            "tasks.estimators.task": ("Estimator",),
            "tasks.rewriting.task": ("Rewriting",),
            "tasks.sources": ("AnswerFile", "Endpoint", "Rule"),
            "tasks.text_classification.task": ("TextClassification",),
            "tasks.token_classification.task": ("TokenClassification",),
            "trainer.trainer": ("FriendTrainer",),
        },
    )


def __dir__() -> list[str]:
    return __all__
