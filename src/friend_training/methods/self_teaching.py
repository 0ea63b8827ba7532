"""Self-teaching (STea), Yu et al. 2021: junior teacher, senior teacher, expert student, one after the other.

What is known of it. Of the paper only abstract and opening were at hand (weakly labelled data improve a target task by
"self-teaching"), and there is no code. The friend-training paper adds that it "sequentially trains a junior teacher, a
senior teacher and an expert student" and has a "merging weight of soft and hard labels". How labels are merged is from
the code of the same group's next paper (nlpdata/script, Sun et al. 2022): ½ · hard + ½ · soft, for weakly labelled and
clean data alike, trained on by KL divergence, which is cross-entropy up to a constant; the hard label is the one that
the data carries. There the first student learns from both kinds of data and the last stage goes on with the clean data
alone; whether the expert student of self-teaching does so too could not be checked.

Ours:
- The junior teacher is Base: trained on gold alone, and by then trained enough.
- Their weakly labelled data has hard labels of its own; our pool has none, so there the hard label is the teacher's
  best guess and merging sharpens it. On gold the hard label is gold.
- Senior teacher and expert student both learn from gold and pool, half a batch each: it is the pool that the method is
  to make use of.
- Teacher and student share the architecture and the student begins as its teacher. The steps of all iterations are
  shared by the two models that are trained here (rounded up).
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from friend_training.core.pool import Inputs
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan
from friend_training.methods.update import (
    InsideTask,
    going_on,
    hard_labels,
    mean_over_units,
    merged_labels,
    mixed_batches,
    soft_labels,
    train_inside,
    unlabelled_items,
)
from friend_training.nn.heads import unit_losses
from friend_training.nn.interfaces import Batch
from friend_training.nn.task import NetworkTask, network_task
from friend_training.nn.training import Learning, gradients_of, learn, seed_everything, weighted_mean
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run

SENIOR_AND_EXPERT = 2


def stea(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Inputs,
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
    pool: Inputs
    hard_share: float

    def train(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        seed_everything(plan.seed)
        task = self.task
        teacher = copy.deepcopy(task.network).eval()
        pairs = mixed_batches(task, task.definition.gold_items(gold), unlabelled_items(task, self.pool), plan)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            labelled, unlabelled = next(pairs)
            from_gold = unit_losses(networks[0](labelled), self._targets(teacher, labelled, labelled.targets))
            from_pool = unit_losses(networks[0](unlabelled), self._targets(teacher, unlabelled, None))
            mean_from_pool = mean_over_units([from_pool], [unlabelled])
            return weighted_mean(from_gold, labelled.weights) + plan.pseudo_weight * mean_from_pool

        what = Learning([task.network], gradients_of(loss, [task.network]), task.dev_score(dev), kept=[task.network])
        return learn(what, plan=plan, settings=task.settings, progress=task.progress)

    def _targets(self, teacher: nn.Module, batch: Batch, gold: Sequence[Tensor] | None) -> list[Tensor]:
        with torch.no_grad():
            heads = teacher(batch)
        return merged_labels(gold or hard_labels(heads), soft_labels(heads), self.hard_share)
