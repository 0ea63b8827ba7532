"""Cross pseudo supervision (CPS), Chen et al. 2021: two networks, each learning from the other's predictions.

As published (checked against the authors' code, charlesCXK/TorchSemiSeg): the same architecture twice, the same
pre-trained backbone under heads that are initialised differently; on every batch, labelled and unlabelled, the
likeliest classes of one network are hard labels for the other; loss = supervised + λ · cross, for both networks at
once, where cross is the mean over both halves of the batch together; at the end the first network answers. λ is 1.5,
their value for PASCAL VOC (6 for Cityscapes). No threshold, no ramp-up, no gradient through the labels, which come from
the same pass as the loss.

Ours: "initialised differently" is a Base of its own, trained with another seed from the same encoder, because every
method starts from Base. Their CutMix variant has no counterpart for dialogues. λ for text is not known; we keep 1.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from friend_training.core.pool import Inputs
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan
from friend_training.methods.co_training import check_partners, partner_name
from friend_training.methods.update import (
    InsideTask,
    going_on,
    hard_labels,
    mean_over_units,
    mixed_batches,
    train_inside,
    unlabelled_items,
)
from friend_training.nn.heads import unit_losses
from friend_training.nn.interfaces import Batch
from friend_training.nn.task import NetworkTask, network_task
from friend_training.nn.training import Learning, gradients_of, learn, seed_everything, weighted_mean
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run

PARTNER = "second"


def cps(
    run: Run,
    plans: Mapping[str, TaskPlan],
    partners: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    cross_weight: float = 1.5,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """`partners` has a plan for each task's second network: the same task in another object, with its own Base."""
    check_partners(plans, partners, "CPS")
    supervised, beside = {}, {}
    for name, plan in plans.items():
        first = network_task(going_on(plan, "CPS").task, "CPS")
        second = network_task(partners[name].task, "CPS")
        beside[partner_name(name)] = partners[name]
        pair = Pair(first, second, pool, base=run.checkpoint(partner_name(name), 0), cross_weight=cross_weight)
        supervised[name] = replace(plan, task=InsideTask(first, pair.train, pair))
    return train_inside(run, supervised, settings=settings, beside=beside, listener=listener)


class Pair:
    """Two networks of one task that are trained together; `base` is where the second one begins."""

    def __init__(
        self, first: NetworkTask, second: NetworkTask, pool: Inputs, *, base: Path, cross_weight: float
    ) -> None:
        self.first, self.second, self.pool, self.base, self.cross_weight = first, second, pool, base, cross_weight
        self.trained = False
        self.second_at = base

    def train(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        seed_everything(plan.seed)
        task = self.first
        self.second.load(self.second_at)
        both = [task.network, self.second.network]
        pairs = mixed_batches(task, task.definition.gold_items(gold), unlabelled_items(task, self.pool), plan)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            labelled, unlabelled = next(pairs)
            return cross_pseudo_loss(networks, labelled, unlabelled, cross_weight=self.cross_weight)

        what = Learning(both, gradients_of(loss, both), task.dev_score(dev), kept=both)
        self.trained = True
        return learn(what, plan=plan, settings=task.settings, progress=task.progress)

    def save(self, folder: Path) -> None:
        if self.trained:
            (folder / PARTNER).mkdir()
            self.second.save(folder / PARTNER)

    def load(self, folder: Path) -> None:
        """A Base has no partner in its folder: the second network then begins as its own Base."""
        self.trained = (folder / PARTNER).is_dir()
        self.second_at = folder / PARTNER if self.trained else self.base


def cross_pseudo_loss(
    networks: Sequence[nn.Module], labelled: Batch, unlabelled: Batch, *, cross_weight: float
) -> Tensor:
    """L = L_s + λ L_cps over both networks: nobody is ever trained on labels of its own."""
    heads = [[network(batch) for batch in (labelled, unlabelled)] for network in networks]
    supervised = [weighted_mean(unit_losses(on[0], labelled.targets), labelled.weights) for on in heads]
    cross = [
        mean_over_units(
            [unit_losses(mine, hard_labels(theirs)) for mine, theirs in zip(one, other, strict=True)],
            (labelled, unlabelled),
        )
        for one, other in zip(heads, heads[::-1], strict=True)
    ]
    return supervised[0] + supervised[1] + cross_weight * (cross[0] + cross[1])
