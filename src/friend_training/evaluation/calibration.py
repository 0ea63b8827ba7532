"""What a confidence means: how often it is right, how to correct it, and where to put a threshold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

_EDGE = 1e-6
"""Confidences are kept this far from 0 and 1, where the log-odds are infinite."""

_LONGEST_LOG_TEMPERATURE = 5.0
"""Where every answer is right (or every one wrong) no temperature is best: the search ends at exp(±5)."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The units whose confidence lies in [low, high); the last bin has 1 too. An empty bin has zeros."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def fit_temperature(confidences: ArrayLike, correct: ArrayLike) -> float:
    """The T > 0 for which sigmoid(logit(c) / T) has the least negative log-likelihood; fitted on dev.

    A confidence is the product of many decisions, so there are no logits to divide: its own log-odds are scaled.
    """
    scores, right = _checked(confidences, correct)
    odds = logit(np.clip(scores, _EDGE, 1 - _EDGE))
    signed = np.where(right, odds, -odds)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, -signed / np.exp(log_temperature)).mean())

    bounds = (-_LONGEST_LOG_TEMPERATURE, _LONGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def apply_temperature(confidences: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """sigmoid(logit(c) / T): keeps the order of confidences, and 0.5 where it is."""
    if temperature <= 0:
        raise ValueError(f"a temperature is positive, got {temperature}")
    odds = logit(np.clip(np.asarray(confidences, dtype=np.float64), _EDGE, 1 - _EDGE))
    return np.asarray(expit(odds / temperature), dtype=np.float64)


def reliability(confidences: ArrayLike, correct: ArrayLike, *, bins: int = 10) -> list[Bin]:
    """Bins of equal width, each with its mean confidence and the share that is right."""
    scores, right = _checked(confidences, correct)
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


def threshold_for_precision(scores: ArrayLike, correct: ArrayLike, target: float, *, at_least: int = 1) -> float | None:
    """The smallest threshold whose chosen set {score ≥ threshold} is right in at least `target` of its cases.

    Sets of fewer than `at_least` do not count: one lucky case proves nothing. None if no threshold does it.
    """
    values, right = _checked(scores, correct)
    order = np.argsort(-values, kind="stable")
    values, right = values[order], right[order]
    chosen = np.arange(1, len(values) + 1)
    precision = np.cumsum(right) / chosen
    ends = np.append(values[1:] != values[:-1], True)  # equal scores are chosen together
    good = np.flatnonzero(ends & (precision >= target) & (chosen >= at_least))
    return float(values[good[-1]]) if len(good) else None


def threshold_for_share(scores: ArrayLike, share: float) -> float:
    """The largest threshold whose chosen set {score ≥ threshold} holds at least `share` of all."""
    values = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    if not 0 < share <= 1 or not len(values):
        raise ValueError(f"expected a share in (0, 1] of at least one score, got {share} of {len(values)}")
    # The small allowance keeps 0.3 · 10 = 3.0000000000000004 from choosing four.
    wanted = max(1, int(np.ceil(share * len(values) - 1e-9)))
    return float(values[wanted - 1])


def _checked(scores: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    if values.ndim != 1 or values.shape != right.shape or not len(values):
        raise ValueError(f"expected as many scores as verdicts, and some, got {values.shape} and {right.shape}")
    return values, right
