"""Training methods: friend-training and everything it is compared with. They know no concrete task.

registry                   one `MethodSpec` per method: all that configs, tables and estimates need to know
friend_training            FDT
base                       Base, Base with as many steps as the others, Multitask-Base
self_training              SST and STBR
co_training                SCoT, and two models of a task that label the pool together
mean_teacher               MT
cross_pseudo_supervision   CPS
self_teaching              STea
controls                   controls and ceilings: shuffled friends, random selection, an oracle
update                     what methods that work inside training share

Base itself is imported from its file (`methods.base`), because both have the same name.
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "METHODS",
    "MethodSpec",
    "as_many",
    "base_same_steps",
    "chosen_counts",
    "cps",
    "fdt",
    "mt",
    "multitask_base",
    "oracle",
    "random_as_many",
    "readers",
    "scot",
    "shuffled",
    "sst",
    "stbr",
    "stea",
    "surer",
    "with_needed",
]

if TYPE_CHECKING:
    from friend_training.methods.base import base_same_steps, multitask_base
    from friend_training.methods.co_training import readers, scot, surer
    from friend_training.methods.controls import as_many, chosen_counts, oracle, random_as_many, shuffled
    from friend_training.methods.cross_pseudo_supervision import cps
    from friend_training.methods.friend_training import fdt
    from friend_training.methods.mean_teacher import mt
    from friend_training.methods.registry import METHODS, MethodSpec, with_needed
    from friend_training.methods.self_teaching import stea
    from friend_training.methods.self_training import sst, stbr
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "base": ("base_same_steps", "multitask_base"),
            "co_training": ("readers", "scot", "surer"),
            "controls": ("as_many", "chosen_counts", "oracle", "random_as_many", "shuffled"),
            "cross_pseudo_supervision": ("cps",),
            "friend_training": ("fdt",),
            "mean_teacher": ("mt",),
            "registry": ("METHODS", "MethodSpec", "with_needed"),
            "self_teaching": ("stea",),
            "self_training": ("sst", "stbr"),
        },
    )
