"""Mean teacher (MT), Tarvainen & Valpola 2017: the student must agree with the moving average of its own past.

As published (checked against the authors' code, CuriousAI/mean-teacher, their convolutional networks): the teacher's
weights are the exponential moving average of the student's after every step, with decay 0.99 while the consistency
cost ramps up and 0.999 afterwards; the cost is the squared difference of the two softmax outputs, on labelled and
unlabelled inputs alike, and its weight rises as exp(-5 (1 - x)²); both networks see noise of their own; the teacher is
the model that is reported. Until the average is as long as its decay makes it, it is a plain one (their PyTorch code).

Not the same everywhere in their experiments: on CIFAR-10 the decay is 0.999 from the start, with residual networks
0.97 there and 0.9997 on ImageNet; on SVHN the cost is for unlabelled images only.

Ours, where images differ from text or the budget from theirs:
- The noise is dropout. There is no augmentation of dialogues that surely keeps their labels.
- They ramp up over 40,000 of 150,000 steps (180,000 on SVHN): here it is the same share of all steps.
- Their weight, measured against the mean cross-entropy of labelled examples, is 100 for the mean over 10 classes. We
  sum over the classes and divide the weight by ten, which is the same there and does not fade for decisions with a
  hundred classes, such as where an insertion begins.
- Student and teacher both begin as Base. A few hundred steps are fewer than 0.999 looks back on: without the plain
  average the teacher would stay a good part Base; with it, Base counts as one of the averaged students.
- Each iteration has a learning rate schedule of its own, as for all methods.
"""

import copy
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from friend_training.core.pool import Inputs
from friend_training.core.task import FitPlan, FitSummary, PseudoLabel
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan
from friend_training.methods.update import (
    InsideTask,
    going_on,
    mean_over_units,
    mixed_batches,
    soft_labels,
    train_inside,
    unlabelled_items,
)
from friend_training.nn.heads import Head, unit_losses
from friend_training.nn.task import NetworkTask, network_task
from friend_training.nn.training import Learning, gradients_of, learn, save_weights, seed_everything, weighted_mean
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run

STUDENT, STEPS = "student.safetensors", "mean_teacher.json"


@dataclass(frozen=True, slots=True)
class MeanTeacherSettings:
    """The method's own knobs, as published."""

    decay_rising: float = 0.99
    decay: float = 0.999
    ramp_up: float = 40_000 / 150_000
    consistency: float = 10.0


PUBLISHED = MeanTeacherSettings()


def mt(
    run: Run,
    plans: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    method: MeanTeacherSettings = PUBLISHED,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Each task by itself; an iteration is `update.steps` steps of student and teacher."""
    taught = {}
    for name, plan in plans.items():
        update = going_on(plan, "mean teacher").update
        assert update is not None
        task = network_task(plan.task, "mean teacher")
        teacher = MeanTeacher(task, pool, steps=settings.iterations * update.steps, settings=method)
        taught[name] = replace(plan, task=InsideTask(task, teacher.train, teacher))
    return train_inside(run, taught, settings=settings, listener=listener)


class MeanTeacher:
    """Trains a student beside the task's own network, which is the teacher. `steps` is the budget of the whole run."""

    def __init__(self, task: NetworkTask, pool: Inputs, *, steps: int, settings: MeanTeacherSettings) -> None:
        self.task, self.pool, self.steps, self.settings = task, pool, steps, settings
        self.student: nn.Module | None = None
        self.done = 0

    def train(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        seed_everything(plan.seed)
        task, teacher, before = self.task, self.task.network, self.done
        student = self.student if self.student is not None else copy.deepcopy(teacher)
        pairs = mixed_batches(task, task.definition.gold_items(gold), unlabelled_items(task, self.pool), plan)

        def loss(networks: Sequence[nn.Module], step: int) -> Tensor:
            labelled, unlabelled = next(pairs)
            teacher.train()  # the teacher's noise
            ours = [networks[0](batch) for batch in (labelled, unlabelled)]
            with torch.no_grad():
                theirs = [teacher(batch) for batch in (labelled, unlabelled)]
            classification = weighted_mean(unit_losses(ours[0], labelled.targets), labelled.weights)
            distances = [unit_distances(heads, soft_labels(target)) for heads, target in zip(ours, theirs, strict=True)]
            rising = ramp_up((before + step - 1) / (self.settings.ramp_up * self.steps))
            disagreement = mean_over_units(distances, (labelled, unlabelled))
            return classification + self.settings.consistency * rising * disagreement

        def follow(step: int) -> None:
            rising = before + step - 1 < self.settings.ramp_up * self.steps
            decay = self.settings.decay_rising if rising else self.settings.decay
            update_average(teacher, student, bounded(decay, before + step))

        what = Learning(
            [student], gradients_of(loss, [student]), task.dev_score(dev), kept=[student, teacher], after_step=follow
        )
        summary = learn(what, plan=plan, settings=task.settings, progress=task.progress)
        self.student, self.done = student, before + summary.steps
        return summary

    def save(self, folder: Path) -> None:
        if self.student is not None:
            save_weights(self.student, folder / STUDENT)
            (folder / STEPS).write_text(json.dumps({"steps": self.done}) + "\n")

    def load(self, folder: Path) -> None:
        """A Base has no student yet: it begins as its teacher."""
        self.student, self.done = None, 0
        if (folder / STUDENT).is_file():
            self.student = copy.deepcopy(self.task.network)
            self.student.load_state_dict(load_file(folder / STUDENT))
            self.done = json.loads((folder / STEPS).read_text())["steps"]


def ramp_up(share: float) -> float:
    """exp(-5 (1 - x)²): nearly nothing at first, 1 from x = 1 on."""
    return math.exp(-5.0 * (1.0 - min(1.0, share)) ** 2)


def bounded(decay: float, step: int) -> float:
    """The decay of a step (counted from 1): before 1 / (1 - α) steps it is that of the mean of all weights so far."""
    return min(decay, 1.0 - 1.0 / (step + 1))


def update_average(teacher: nn.Module, student: nn.Module, decay: float) -> None:
    """θ' ← α θ' + (1 - α) θ."""
    with torch.no_grad():
        for average, weight in zip(teacher.parameters(), student.parameters(), strict=True):
            average.lerp_(weight, 1.0 - decay)


def unit_distances(heads: Sequence[Head], targets: Sequence[Tensor]) -> Tensor:
    """Squared difference of two outputs per unit [U]: its (scaled) mean over slots, summed over classes and heads."""
    distances = []
    for head, target in zip(heads, targets, strict=True):
        distances.append(head.mean((head.logits.softmax(dim=-1) - target).square().sum(dim=-1)))
    return torch.stack(distances).sum(dim=0)
