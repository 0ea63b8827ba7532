"""The paper's section 3, for tasks of any kind: what a task, a friendship and a selector are. It imports no torch.

task         a task's four verbs (fit, predict, evaluate, save and load), its predictions and pseudo-labels;
             what `evaluate` returns: counts per example, which add up to metrics; seeds of every random choice
friendship   two translations into a common space and a matcher (Eq. 4); several friends of one task; labels that
             friends decide on together
selector     the augmented selector (Eq. 5): rules, thresholds, balance, and the reason for every decision
pool         unlabeled inputs, in memory or in shards
limits       how large a file from elsewhere may be; YAML read without surprises
expected     what is wrong with a value that was checked, in our words
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "PRF",
    "Aggregation",
    "Counts",
    "Decisions",
    "Evaluation",
    "FalseDiscovery",
    "FitPlan",
    "FitSummary",
    "Friendship",
    "Input",
    "Inputs",
    "Limits",
    "Match",
    "Matcher",
    "Merge",
    "Nothing",
    "Pool",
    "Precision",
    "Prediction",
    "PseudoLabel",
    "Random",
    "Reason",
    "Scores",
    "Selector",
    "SetAside",
    "ShardSource",
    "Share",
    "Task",
    "Threshold",
    "TopN",
    "TotalAgreement",
    "Translation",
    "as_pool",
    "derived_seed",
    "draws",
    "gold_shares",
    "group_counts",
    "read_yaml",
]

if TYPE_CHECKING:
    from friend_training.core.friendship import Aggregation, Friendship, Match, Matcher, Merge, Translation
    from friend_training.core.limits import Limits, read_yaml
    from friend_training.core.pool import Inputs, Pool, SetAside, ShardSource, as_pool
    from friend_training.core.selector import (
        Decisions,
        FalseDiscovery,
        Nothing,
        Precision,
        Random,
        Reason,
        Scores,
        Selector,
        Share,
        Threshold,
        TopN,
        TotalAgreement,
        gold_shares,
    )
    from friend_training.core.task import (
        PRF,
        Counts,
        Evaluation,
        FitPlan,
        FitSummary,
        Input,
        Prediction,
        PseudoLabel,
        Task,
        derived_seed,
        draws,
        group_counts,
    )
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "friendship": (
                "Aggregation",
                "Friendship",
                "Match",
                "Matcher",
                "Merge",
                "Translation",
            ),
            "limits": (
                "Limits",
                "read_yaml",
            ),
            "pool": (
                "Inputs",
                "Pool",
                "SetAside",
                "ShardSource",
                "as_pool",
            ),
            "selector": (
                "Decisions",
                "FalseDiscovery",
                "Nothing",
                "Precision",
                "Random",
                "Reason",
                "Scores",
                "Selector",
                "Share",
                "Threshold",
                "TopN",
                "TotalAgreement",
                "gold_shares",
            ),
            "task": (
                "Counts",
                "Evaluation",
                "FitPlan",
                "FitSummary",
                "Input",
                "PRF",
                "Prediction",
                "PseudoLabel",
                "Task",
                "derived_seed",
                "draws",
                "group_counts",
            ),
        },
    )
