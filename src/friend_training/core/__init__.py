"""The paper's section 3, for tasks of any kind: what a task, a friendship and a selector are. It imports no torch.

task          a task's four verbs (fit, predict, evaluate, save and load), its predictions and pseudo-labels
friendship    two translations into a common space and a matcher (Eq. 4); several friends of one task
selector      the augmented selector (Eq. 5): rules, thresholds, balance, and the reason for every decision
pool          unlabeled inputs, in memory or in shards
counts        what `evaluate` returns: counts per example, which add up to metrics
seeds         every random choice derives from the run's seed
limits        how large a file from elsewhere may be
yaml_values   YAML read without surprises
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
    from friend_training.core.counts import PRF, Counts, Evaluation, group_counts
    from friend_training.core.friendship import Aggregation, Friendship, Match, Matcher, Merge, Translation
    from friend_training.core.limits import Limits
    from friend_training.core.pool import Inputs, Pool, SetAside, ShardSource, as_pool
    from friend_training.core.seeds import derived_seed, draws
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
    from friend_training.core.task import FitPlan, FitSummary, Input, Prediction, PseudoLabel, Task
    from friend_training.core.yaml_values import read_yaml
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "counts": ("PRF", "Counts", "Evaluation", "group_counts"),
            "friendship": ("Aggregation", "Friendship", "Match", "Matcher", "Merge", "Translation"),
            "limits": ("Limits",),
            "pool": ("Inputs", "Pool", "SetAside", "ShardSource", "as_pool"),
            "seeds": ("derived_seed", "draws"),
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
            "task": ("FitPlan", "FitSummary", "Input", "Prediction", "PseudoLabel", "Task"),
            "yaml_values": ("read_yaml",),
        },
    )
