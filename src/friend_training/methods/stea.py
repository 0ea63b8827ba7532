"""Self-teaching (STea), Yu et al. 2021: junior teacher, senior teacher, expert student, one after the other.

As published: a junior teacher is trained first; its soft labels are merged with the hard ones that the data carries,
and a senior teacher is trained on the result; its soft labels, merged likewise, train the expert student, who answers.

Ours. Only the opening of the paper was at hand; what follows it is the friend-training paper's appendix ("sequentially
trains a junior teacher, a senior teacher and an expert student", a "merging weight of soft and hard labels").
- The junior teacher is Base: trained on gold alone, until dev stops improving, and by then trained enough.
- Their weakly labelled data has hard labels of its own; our pool has none, so there the hard label is the teacher's
  best guess and merging sharpens it. On gold the hard label is gold. The merging weight is one half.
- Teacher and student share the architecture and the student begins as its teacher. The steps of all iterations are
  shared by the two models that are trained here (rounded up).
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from friend_training.core.listener import Listener
from friend_training.core.loop import Outcome
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.run import Run
from friend_training.core.task import FitPlan, FitSummary, Input, PseudoLabel
from friend_training.methods.inside import InsideTask, going_on, train_inside
from friend_training.nn.definition import Batch
from friend_training.nn.heads import unit_losses
from friend_training.nn.semi_supervised import (
    Learning,
    hard_labels,
    learn,
    merged_labels,
    mixed_batches,
    soft_labels,
    unlabelled_items,
)
from friend_training.nn.torch_protocol import NetworkTask, network_task
from friend_training.nn.training import seed_everything, weighted_mean

SENIOR_AND_EXPERT = 2


def stea(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Sequence[Input],
    *,
    settings: LoopSettings,
    hard_share: float = 0.5,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Iteration 0 is the junior teacher, 1 the senior teacher, 2 the expert student; the best on dev is reported."""
    taught = {}
    for name, plan in plans.items():
        update = going_on(plan, "self-teaching").update
        assert update is not None
        task = network_task(plan.task, "self-teaching")
        steps = -(-settings.iterations * update.steps // SENIOR_AND_EXPERT)
        taught[name] = replace(
            plan,
            task=InsideTask(task, SelfTeaching(task, pool, hard_share).train),
            update=replace(update, steps=steps),
        )
    settings = replace(settings, iterations=SENIOR_AND_EXPERT if settings.iterations else 0)
    return train_inside(run, taught, settings=settings, listener=listener)


@dataclass(frozen=True, slots=True)
class SelfTeaching:
    """One lesson: the task's present network is the teacher of the one that takes its place."""

    task: NetworkTask
    pool: Sequence[Input]
    hard_share: float

    def train(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        seed_everything(plan.seed)
        task = self.task
        teacher = copy.deepcopy(task.network).eval()
        pairs = mixed_batches(task, task.definition.gold_items(gold), unlabelled_items(task, self.pool), plan.seed)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            labelled, unlabelled = next(pairs)
            from_gold = unit_losses(networks[0](labelled), self._targets(teacher, labelled, labelled.targets))
            from_pool = unit_losses(networks[0](unlabelled), self._targets(teacher, unlabelled, None))
            return weighted_mean(from_gold, labelled.weights) + plan.pseudo_weight * from_pool.mean()

        what = Learning([task.network], loss, task.dev_score(dev), kept=[task.network])
        return learn(what, plan=plan, settings=task.settings, progress=task.progress)

    def _targets(self, teacher: nn.Module, batch: Batch, gold: Sequence[Tensor] | None) -> list[Tensor]:
        with torch.no_grad():
            heads = teacher(batch)
        return merged_labels(gold or hard_labels(heads), soft_labels(heads), self.hard_share)
