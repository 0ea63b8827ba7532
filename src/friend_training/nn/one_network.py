"""Several tasks on one encoder, a head each: one training for all of them (Caruana 1997).

Every batch holds as many examples of each task and the losses are added. There is one model, so of the looks at dev the
one with the best mean of the watched tasks' main metrics is kept for all of them.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from friend_training.core.beside import Lesson
from friend_training.core.seeds import derived_seed
from friend_training.core.task import FitPlan, FitSummary
from friend_training.errors import ConfigError
from friend_training.nn.encoders import open_encoder
from friend_training.nn.heads import unit_losses
from friend_training.nn.semi_supervised import Learning, batches, learn
from friend_training.nn.shares import pseudo_parts, whole_or_parts
from friend_training.nn.torch_protocol import NetworkTask
from friend_training.nn.training import seed_everything, weighted_mean


def fit_in_one_network(
    tasks: Mapping[str, NetworkTask],
    lessons: Mapping[str, Lesson],
    *,
    dev: Mapping[str, Sequence[Any]],
    plan: FitPlan,
    method: str,
) -> FitSummary:
    """Train all tasks in place: from the encoder if the plan says `restart`, else on from the one that they share.

    `dev` has the examples of the tasks that are watched.
    """
    check_same(tasks, method)
    seed_everything(plan.seed)
    _share_encoder(tasks, method, anew=plan.restart)
    together = nn.ModuleList([task.network for task in tasks.values()])
    first = next(iter(tasks.values()))
    size = max(1, first.settings.batch_size // len(tasks))
    drawn = []
    for name, task in tasks.items():
        lesson = lessons[name]
        chosen = pseudo_parts(task.definition, lesson.pseudo, lesson.pseudo_weight)
        items = whole_or_parts([partial(task.definition.gold_items, lesson.gold), *chosen])
        drawn.append(batches(task, items, size, seed=derived_seed(plan.seed, name), steps=plan.steps))
    scores = [tasks[name].dev_score(examples) for name, examples in dev.items()]

    def loss(networks: Any, step: int) -> Tensor:
        parts = []
        for network, its_own in zip(networks[0], drawn, strict=True):
            batch = next(its_own)
            parts.append(weighted_mean(unit_losses(network(batch), batch.targets), batch.weights))
        return torch.stack(parts).sum()

    def dev_score() -> float:
        return sum(score() for score in scores) / len(scores)

    what = Learning([together], loss, dev_score, kept=[together])
    return learn(what, plan=plan, settings=first.settings, progress=first.progress)


def check_same(tasks: Mapping[str, NetworkTask], method: str) -> None:
    """One encoder cannot be trained in two ways."""
    encoders = {str(task.encoder) for task in tasks.values()}
    if len(encoders) > 1:
        raise ConfigError(f"{method}: the tasks have different encoders: {', '.join(sorted(encoders))}")
    if len({task.settings for task in tasks.values()}) > 1:
        raise ConfigError(f"{method}: tasks that share an encoder need the same training settings")


def _share_encoder(tasks: Mapping[str, NetworkTask], method: str, *, anew: bool) -> None:
    """Put every task's head on one and the same encoder."""
    first = next(iter(tasks.values()))
    if anew:
        encoder = open_encoder(first.encoder)
        for task in tasks.values():
            task.network = task.definition.network(encoder)
        return
    shared: Any = first.network.encoder
    weights = shared.state_dict()
    for name, task in tasks.items():
        network: Any = task.network
        own = network.encoder.state_dict()
        if own.keys() != weights.keys() or not all(torch.equal(own[key], weights[key]) for key in weights):
            raise ConfigError(f"{method}: {name!r} has another encoder than {first.name!r}; begin with Multitask-Base")
        network.encoder = shared
