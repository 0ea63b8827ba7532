"""Counting what is right: metrics are ratios of counts, and counts of parts add up to the counts of the whole."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.float64]


def ratio(numerator: Any, denominator: Any) -> Counts:
    """numerator / denominator, and 0 where the denominator is 0: nothing predicted earns nothing."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    result: Counts = np.zeros(shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def checked(scores: ArrayLike, correct: ArrayLike) -> tuple[Counts, NDArray[np.bool_]]:
    """Scores and whether each was right, as arrays of one length."""
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    if values.ndim != 1 or values.shape != right.shape or not len(values):
        raise ValueError(f"expected as many scores as verdicts, and some, got {values.shape} and {right.shape}")
    return values, right


class Score(Protocol):
    """Counts over some units: those of two sets of units add up to those of both."""

    def __add__(self, other: Any, /) -> "Score": ...

    def as_array(self) -> Counts: ...

    def as_dict(self) -> dict[str, float]: ...


class Evaluation(Mapping[str, float]):
    """The metrics of a task on gold examples, by name, and the counts that they are made of.

    `counts` [groups, k] has a row for each group of units that belong together (those of one dialogue): any sum of rows
    gives the metrics of those groups, which is what significance tests draw from. A task that does not count has none.
    """

    def __init__(self, metrics: Mapping[str, float], counts: Counts | None = None) -> None:
        self.metrics, self.counts = metrics, counts

    @classmethod
    def of(cls, units: Sequence[Score], nothing: Score, groups: Sequence[Hashable] | None = None) -> "Evaluation":
        """What the scores of single units come to; by default each unit is a group of its own."""
        rows = np.stack([unit.as_array() for unit in units]) if units else np.empty((0, nothing.as_array().size))
        total = nothing
        for unit in units:
            total = total + unit
        return cls(total.as_dict(), rows if groups is None else group_counts(rows, groups))

    def __getitem__(self, name: str) -> float:
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)


def group_counts(counts: Counts, groups: Sequence[Hashable]) -> Counts:
    """Sum the counts of units [units, k] that belong to the same group → [groups, k], by first appearance."""
    if len(counts) != len(groups):
        raise ValueError(f"expected one group per unit, got {len(counts)} units and {len(groups)} groups")
    rows: dict[Hashable, int] = {}
    places = [rows.setdefault(group, len(rows)) for group in groups]
    summed = np.zeros((len(rows), counts.shape[1]))
    np.add.at(summed, places, counts)
    return summed


def f1_of(counts: Counts) -> Counts:
    """F1 in [0, 1] of counts [..., (correct, predicted, gold)]: the harmonic mean of precision and recall."""
    return ratio(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


@dataclass(frozen=True, slots=True)
class PRF:
    """How many were predicted, how many there are, and how many of the predicted are right. Ratios are in [0, 1]."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @classmethod
    def of(cls, predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> "PRF":
        """Compare two collections; what occurs twice must be predicted twice."""
        predicted_counts, gold_counts = Counter(predicted), Counter(gold)
        return cls((predicted_counts & gold_counts).total(), predicted_counts.total(), gold_counts.total())

    def __add__(self, other: "PRF") -> "PRF":
        return PRF(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        return float(ratio(self.correct, self.predicted))

    @property
    def recall(self) -> float:
        return float(ratio(self.correct, self.gold))

    @property
    def f1(self) -> float:
        return float(f1_of(self.as_array()))

    def as_array(self) -> Counts:
        return np.array([self.correct, self.predicted, self.gold], dtype=np.float64)

    def as_dict(self, prefix: str = "") -> dict[str, float]:
        """Precision, recall and F1 in percent."""
        return {
            f"{prefix}precision": 100 * self.precision,
            f"{prefix}recall": 100 * self.recall,
            f"{prefix}f1": 100 * self.f1,
        }
