"""Self-training: standard (SST), where confidence chooses, and with batch reweighting (STBR), where it weighs.

STBR is of Bhat, Sordoni & Mukherjee 2021 (few-shot rationalization). As published: the teacher labels the unlabelled
pool, nothing is thresholded, and each hard pseudo-label of a batch counts in the student's loss as much as the teacher
trusted it: w_i = p(label_i), mean over the batch; training on gold follows in every round; the student goes on from the
teacher's weights and is the next teacher. What they have beside it (rationales and their losses, class weights, as many
labels of every class) belongs to their task.

The text of the paper was not at hand, only its abstract and the authors' code (microsoft/RationaleST). There the
variant that their README calls "with reweighting" takes the probabilities as they are. An option that the README does
not mention replaces them by their softmax over all pseudo-labels; within a batch nothing is normalised. The
friend-training paper only says "reweights the pseudo-labels in a batch […] according to the confidence".

Ours: confidence is the unit's own, as for every method here, and λ of Eq. 1 comes on top. Gold is half of every batch
instead of following in a stage of its own, so that all methods take the same steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from friend_training.core.pool import Inputs
from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, friend_train
from friend_training.loop.labelling import Audit
from friend_training.methods.update import InsideTask, going_on, mixed_batches
from friend_training.nn.heads import unit_losses
from friend_training.nn.interfaces import Batch
from friend_training.nn.task import NetworkTask, network_task
from friend_training.nn.training import (
    Learning,
    gradients_of,
    learn,
    pseudo_parts,
    seed_everything,
    weighted_mean,
    whole_or_parts,
)
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run


def sst(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Standard self-training, that is friend-training without friends: the overall score is the confidence."""
    plans = {
        name: replace(plan, selectors=[replace(selector, confidence_weight=1.0) for selector in plan.selectors])
        for name, plan in plans.items()
    }
    return friend_train(run, plans, (), pool, settings=settings, audit=audit, listener=listener)


def stbr(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Self-training that chooses everything (that the plan's `content` policy allows) and weighs it by confidence."""
    reweighted = {}
    for name, plan in plans.items():
        task = network_task(going_on(plan, "STBR").task, "STBR")
        reweighted[name] = replace(
            plan,
            task=InsideTask(task, BatchReweighting(task).train),
            selectors=[_everything(selector) for selector in plan.selectors],
        )
    return friend_train(run, reweighted, (), pool, settings=settings, audit=audit, listener=listener)


def _everything(selector: Selector) -> Selector:
    return replace(selector, pick=Threshold(0.0), confidence_weight=1.0, weight="confidence")


@dataclass(frozen=True, slots=True)
class BatchReweighting:
    """Trains a task on gold and on pseudo-labels whose weight is the teacher's confidence."""

    task: NetworkTask

    def train(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        task = self.task
        if not pseudo:  # no label with content, say: gold alone is left
            return task.fit(gold, (), dev=dev, plan=plan)
        seed_everything(plan.seed)
        chosen = whole_or_parts(pseudo_parts(task.definition, pseudo))
        pairs = mixed_batches(task, task.definition.gold_items(gold), chosen, plan)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            return reweighted_loss(networks[0], *next(pairs))

        what = Learning([task.network], gradients_of(loss, [task.network]), task.dev_score(dev), kept=[task.network])
        return learn(what, plan=plan, settings=task.settings, progress=task.progress)


def reweighted_loss(network: nn.Module, labelled: Batch, others: Batch) -> Tensor:
    """Mean loss of gold + mean of w_i · loss_i over the pseudo-labels of the batch; w_i is λ · confidence."""
    means = [weighted_mean(unit_losses(network(part), part.targets), part.weights) for part in (labelled, others)]
    return means[0] + means[1]
