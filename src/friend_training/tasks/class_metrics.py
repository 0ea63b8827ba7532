"""Scores of classifiers: accuracy and macro-F1, from counts that can be added up and drawn again (significance)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from friend_training.core.task import Counts, Evaluation, by_kind, f1_of, ratio

ClassMetric = Literal["accuracy", "macro_f1"]


def class_counts(predicted: Sequence[str | None], gold: Sequence[str], classes: Sequence[str]) -> Counts:
    """For each example and class (correct, predicted, gold), as a row [3 · classes]; None predicts no class."""
    place = {label: number for number, label in enumerate(classes)}
    counts: Counts = np.zeros((len(gold), len(classes), 3))
    for row, (answer, truth) in enumerate(zip(predicted, gold, strict=True)):
        counts[row, place[truth], 2] = 1
        if answer in place:
            counts[row, place[answer], 1] = 1
            counts[row, place[answer], 0] = answer == truth
    return counts.reshape(len(gold), -1)


def accuracy_of(counts: Counts) -> Counts:
    """The share of right answers, of summed counts [..., 3 · classes]."""
    by_class = _by_class(counts)
    return ratio(by_class[..., 0].sum(-1), by_class[..., 2].sum(-1))


def macro_f1_of(counts: Counts) -> Counts:
    """The mean F1 of the classes that gold has: a class that is always missed counts as much as any other."""
    by_class = _by_class(counts)
    present = by_class[..., 2] > 0
    return ratio((f1_of(by_class) * present).sum(-1), present.sum(-1))


def classification_scores(predicted: Sequence[str | None], gold: Sequence[str]) -> Evaluation:
    """Both in percent; the classes are those that occur in gold."""
    counts = class_counts(predicted, gold, sorted(set(gold)))
    total = counts.sum(0)
    kinds = by_kind(enumerate(predicted), enumerate(gold), lambda one: "no label" if one[1] is None else str(one[1]))
    return Evaluation(
        {"accuracy": 100 * float(accuracy_of(total)), "macro_f1": 100 * float(macro_f1_of(total))}, counts, kinds
    )


def _by_class(counts: Counts) -> Counts:
    return counts.reshape(*counts.shape[:-1], -1, 3)
