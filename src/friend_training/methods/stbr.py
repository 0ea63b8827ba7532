"""Self-training with batch reweighting (STBR), Bhat, Sordoni & Mukherjee 2021 (few-shot rationalization).

As published: the teacher labels the unlabelled pool, nothing is thresholded, and each hard pseudo-label counts in the
student's loss as much as the teacher trusted it; gold follows in every round; the student is the next teacher. What
they have beside it (rationales and their losses, class weights) belongs to their task.

Ours: the text of the paper was not at hand, only its abstract and the authors' code (microsoft/RationaleST), where the
weight is the probability of the label, plain or normalised to the sum 1. We take the second and normalise within each
batch, as the friend-training paper describes the method ("reweights the pseudo-labels in a batch"): with plain
probabilities a task whose structured labels are never sure would hardly hear its pseudo-labels at all. Confidence is
the unit's own, as for every method here. Gold is half of every batch instead of following in a stage of its own, so
that all methods take the same steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from friend_training.core.labelling import Audit
from friend_training.core.listener import Listener
from friend_training.core.loop import Outcome, friend_train
from friend_training.core.picks import Threshold
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.core.task import FitPlan, FitSummary, Input, PseudoLabel
from friend_training.methods.inside import InsideTask, going_on
from friend_training.nn.heads import unit_losses
from friend_training.nn.semi_supervised import Learning, learn, mixed_batches
from friend_training.nn.torch_protocol import NetworkTask, network_task
from friend_training.nn.training import seed_everything, weighted_mean


def stbr(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Sequence[Input],
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
        chosen = task.definition.pseudo_items(pseudo, pseudo_weight=1.0)
        pairs = mixed_batches(task, task.definition.gold_items(gold), chosen, plan.seed)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            labelled, others = next(pairs)
            from_gold = weighted_mean(unit_losses(networks[0](labelled), labelled.targets), labelled.weights)
            losses = unit_losses(networks[0](others), others.targets)
            return from_gold + plan.pseudo_weight * (losses * batch_weights(others.weights)).sum()

        what = Learning([task.network], loss, task.dev_score(dev), kept=[task.network])
        return learn(what, plan=plan, settings=task.settings, progress=task.progress)


def batch_weights(confidences: Tensor) -> Tensor:
    """w_i = c_i / Σ_j c_j over the pseudo-labels of one batch: they sum to 1, the surest count most."""
    return confidences / confidences.sum().clamp(min=1e-12)
