"""Temperature scaling: one number that makes scores mean how often they are right."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

_EDGE = 1e-6
"""Scores are kept this far from 0 and 1, where the log-odds are infinite."""

_LONGEST_LOG_TEMPERATURE = 5.0
"""Where every answer is right (or every one wrong) no temperature is best: the search ends at exp(±5)."""


def fit_temperature(scores: ArrayLike, correct: ArrayLike) -> float:
    """The T > 0 for which sigmoid(logit(s) / T) has the least negative log-likelihood; fitted on dev.

    A score is made of many decisions, so there are no logits to divide: its own log-odds are scaled.
    """
    values, right = checked(scores, correct)
    odds = logit(np.clip(values, _EDGE, 1 - _EDGE))
    signed = np.where(right, odds, -odds)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, -signed / np.exp(log_temperature)).mean())

    bounds = (-_LONGEST_LOG_TEMPERATURE, _LONGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def apply_temperature(scores: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """sigmoid(logit(s) / T): keeps the order of scores, and 0.5 where it is."""
    if temperature <= 0:
        raise ValueError(f"a temperature is positive, got {temperature}")
    odds = logit(np.clip(np.asarray(scores, dtype=np.float64), _EDGE, 1 - _EDGE))
    return np.asarray(expit(odds / temperature), dtype=np.float64)


def checked(scores: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    if values.ndim != 1 or values.shape != right.shape or not len(values):
        raise ValueError(f"expected as many scores as verdicts, and some, got {values.shape} and {right.shape}")
    return values, right
