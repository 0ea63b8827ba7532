"""Algorithm 1: train on gold, then label, match, select and update, for any tasks and friendships.

algorithm    what a run is given (the plan of each task, settings), and the loop, line by line as in the paper
labelling    one shard of the pool: every task predicts, every friendship matches
selection    the selectors' decisions on a labelled iteration, by Eq. 5 or by a score that is learned on dev
thresholds   pick thresholds found on dev: estimated, or promised
engines/     where shards are labelled: processes of this machine, or a Ray cluster
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "Audit",
    "Engine",
    "LearnedScore",
    "LoopSettings",
    "Outcome",
    "Probe",
    "TaskPlan",
    "Training",
    "fixed_friend",
    "friend_train",
    "label_shard",
    "outcome",
]

if TYPE_CHECKING:
    from friend_training.loop.algorithm import (
        LoopSettings,
        Outcome,
        TaskPlan,
        Training,
        fixed_friend,
        friend_train,
        outcome,
    )
    from friend_training.loop.labelling import Audit, Engine, label_shard
    from friend_training.loop.selection import LearnedScore
    from friend_training.loop.thresholds import Probe
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "algorithm": (
                "LoopSettings",
                "Outcome",
                "TaskPlan",
                "Training",
                "fixed_friend",
                "friend_train",
                "outcome",
            ),
            "labelling": (
                "Audit",
                "Engine",
                "label_shard",
            ),
            "selection": ("LearnedScore",),
            "thresholds": ("Probe",),
        },
    )
