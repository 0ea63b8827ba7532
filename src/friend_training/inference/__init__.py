"""Trained models in use: from Python, as folders that can leave, or as ONNX.

model                `load(run)`: the models of a run of the paper's pair
predicates           predicates of a dialogue that names none
trained_tasks        those of a run of any other tasks
diagnosis            what the models of a run make of dev
condense             a question that needs no history: the step before a search
answers              what they are given, and what they return
transformers_model   an exported model, loaded by `from_pretrained`
export               a model as a folder with its model card, or as ONNX
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "Agreement",
    "Condensed",
    "FriendTrainedModel",
    "Friends",
    "RewriteMade",
    "RolesFound",
    "export_model",
    "export_onnx",
    "load",
    "load_rewriter",
]

if TYPE_CHECKING:
    from friend_training.inference.answers import Agreement, RewriteMade, RolesFound
    from friend_training.inference.condense import Condensed, load_rewriter
    from friend_training.inference.export import export_model, export_onnx
    from friend_training.inference.model import Friends, load
    from friend_training.inference.transformers_model import FriendTrainedModel
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "answers": ("Agreement", "RewriteMade", "RolesFound"),
            "condense": ("Condensed", "load_rewriter"),
            "export": ("export_model", "export_onnx"),
            "model": ("Friends", "load"),
            "transformers_model": ("FriendTrainedModel",),
        },
    )
