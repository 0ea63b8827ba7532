"""What a confidence means: how often it is right (how to correct it: loop/thresholds.py)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from friend_training.core.counts import checked


@dataclass(frozen=True, slots=True)
class Bin:
    """The units whose confidence lies in [low, high); the last bin has 1 too. An empty bin has zeros."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def reliability(confidences: ArrayLike, correct: ArrayLike, *, bins: int = 10) -> list[Bin]:
    """Bins of equal width, each with its mean confidence and the share that is right."""
    scores, right = checked(confidences, correct)
    edges = np.linspace(0, 1, bins + 1)
    places = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, bins - 1)
    result = []
    for index in range(bins):
        inside = places == index
        count = int(inside.sum())
        mean = float(scores[inside].mean()) if count else 0.0
        accuracy = float(right[inside].mean()) if count else 0.0
        result.append(Bin(float(edges[index]), float(edges[index + 1]), count, mean, accuracy))
    return result


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """The mean gap between confidence and accuracy over the bins, weighted by their counts."""
    total = sum(bin.count for bin in bins)
    return sum(bin.count * abs(bin.accuracy - bin.confidence) for bin in bins) / total if total else 0.0
