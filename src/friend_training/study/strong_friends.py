"""What the methods of a study do: one function for each procedure of the registry, given all that the study has."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction
from friend_training.data import benchmark_splits, synthetic
from friend_training.errors import ConfigError
from friend_training.loop.labelling import Audit
from friend_training.loop.plan import TaskPlan, Training
from friend_training.study import data
from friend_training.study.config import Config, PublicDataConfig, SyntheticDataConfig
from friend_training.study.data import data_folder

# Strong friends (FDT-S, FDT-SF): each task once more, trained on all the labels of its domain there are.


BUDGET = 3
"""A fully trained Base takes so many times the steps of one with few labels, and takes them all."""


@dataclass(frozen=True, slots=True)
class AllLabels:
    """The whole training sets that gold is drawn from."""

    csrl: Sequence[Any]
    rewriting: Sequence[Any]


def all_labels(config: Config, data_dir: Path | None) -> AllLabels:
    given = config.data
    if isinstance(given, SyntheticDataConfig):
        count = data.SYNTHETIC_TRAIN
        made = synthetic.generate(
            2 * count, seed=data.TRAIN_SEED, domain=synthetic.Domain(given.domain), prefix="train-"
        )
        csrl = [example for example in synthetic.csrl_examples(made[:count]) if example.roles]
        return AllLabels(csrl, synthetic.rewriting_examples(made[count:]))
    if isinstance(given, PublicDataConfig):
        folder = data_folder(data_dir)
        return AllLabels(benchmark_splits.duconv(folder)[0], benchmark_splits.rewrite(folder)[0])
    raise ConfigError("base-full, fdt-s and fdt-sf need more labels than gold; of your own files all labels are gold")


def fully_trained(plan: TaskPlan, gold: Sequence[Any], base: Training) -> TaskPlan:
    """A plan of the same task with all its labels."""
    return replace(plan, gold=gold, base=Training(BUDGET * base.steps))


def strong_name(task: str) -> str:
    return f"{task}.strong"


def with_strong_friends(friendship: Friendship) -> list[Friendship]:
    """Two runs in one: the first task with a strong second one, and the other way round. The two never meet."""
    first, second = friendship.first, friendship.second
    return [
        replace(friendship, name=f"{friendship.name}, strong {second}", second=strong_name(second)),
        replace(friendship, name=f"{friendship.name}, strong {first}", first=strong_name(first)),
    ]


def audit_strong(audit: Audit | None) -> Audit | None:
    """Strong friends answer for the same tasks."""
    return None if audit is None else partial(_audit_strong, audit)


def _audit_strong(audit: Audit, task: str, prediction: Prediction) -> bool | None:
    return audit(task.removesuffix(".strong"), prediction)
