"""The theory put to the test: agreement of two classifiers simulated with explicit labels and translation tables.

Nothing here is drawn from the formulas of theory.py. Each task has a large label set Ŷ and a random table Ŷ → Σ; every
input has a gold label for either task, chosen so that both translate to the same element (the paper's assumption); a
wrong prediction is any other label of its task; and two predictions match when their table entries are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.analysis.error_rates import binomial_standard_error
from friend_training.errors import ConfigError

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SimulatedAgreement:
    """Counts over all simulated inputs: how many there were, matched, and matched although f_a was wrong."""

    inputs: int
    matched: int
    wrong: int

    @property
    def match_rate(self) -> float:
        return self.matched / self.inputs

    @property
    def match_rate_se(self) -> float:
        return binomial_standard_error(self.matched, self.inputs)

    @property
    def error(self) -> float | None:
        """The share of wrong predictions of f_a among the matched ones; None when nothing matched."""
        return self.wrong / self.matched if self.matched else None

    @property
    def error_se(self) -> float | None:
        return binomial_standard_error(self.wrong, self.matched) if self.matched else None


class TranslationTable:
    """F: Ŷ → Σ as a random table, and its inverse. Every element has at least two labels: a right one and a wrong one.

    Make the label set far larger than Σ: that a wrong label is never the gold one, and that two labels are reserved,
    bends the chance of a meeting by a share of about |Σ|/|Ŷ|.
    """

    def __init__(self, labels: int, sigma: Sequence[float], rng: np.random.Generator) -> None:
        size = len(sigma)
        if labels < 2 * size:
            raise ConfigError(f"{labels} labels are too few for |Σ| = {size}: at least {2 * size} are needed")
        reserved = np.repeat(np.arange(size), 2)
        self.of_label: Labels = np.concatenate([reserved, rng.choice(size, size=labels - 2 * size, p=sigma)])
        self._by_element: Labels = np.argsort(self.of_label, kind="stable")
        self._count: Labels = np.bincount(self.of_label, minlength=size)
        self._start: Labels = np.cumsum(self._count) - self._count

    def label_for(self, elements: Labels, rng: np.random.Generator) -> Labels:
        """For each element of Σ any label that translates to it."""
        places = self._start[elements] + rng.integers(self._count[elements])
        return np.take(self._by_element, places)

    def other_label(self, labels: Labels, rng: np.random.Generator) -> Labels:
        """For each label any other label of the task."""
        return (labels + rng.integers(1, len(self.of_label), size=len(labels))) % len(self.of_label)

    def other_label_for(self, elements: Labels, not_these: Labels, rng: np.random.Generator) -> Labels:
        """For each element any label that translates to it, except the one label named beside it."""
        drawn = self.label_for(elements, rng)
        while (clash := drawn == not_these).any():
            drawn[clash] = self.label_for(elements[clash], rng)
        return drawn


def simulate_agreement(
    eta_a: float,
    eta_b: float,
    sigma: int | Sequence[float],
    *,
    inputs: int,
    seed: int,
    rho: float = 0.0,
    labels: int = 100_000,
    tables: int = 10,
) -> SimulatedAgreement:
    """Let two classifiers label `inputs` inputs and count agreements and errors.

    `sigma` is |Σ| (uniform) or the probability of each element (skewed). With probability `rho` the friend copies f_a:
    it is right when f_a is right, and else gives a wrong label of its own task with the same translation. The inputs
    are spread over `tables` pairs of fresh tables.
    """
    for name, value in (("eta_a", eta_a), ("eta_b", eta_b), ("rho", rho)):
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"{name} is {value}; it must lie between 0 and 1")
    if inputs < 1 or tables < 1:
        raise ConfigError(f"inputs = {inputs} and tables = {tables} must both be at least 1")
    rng = np.random.default_rng(seed)
    probabilities = [1.0 / sigma] * sigma if isinstance(sigma, int) else sigma
    matched = wrong = 0
    for share in np.diff(np.linspace(0, inputs, tables + 1).astype(int)):
        table_a = TranslationTable(labels, probabilities, rng)
        table_b = TranslationTable(labels, probabilities, rng)
        gold_a = rng.integers(labels, size=share)
        gold_b = table_b.label_for(table_a.of_label[gold_a], rng)

        predicted_a = np.where(rng.random(share) < eta_a, gold_a, table_a.other_label(gold_a, rng))
        right_a = predicted_a == gold_a
        own_b = np.where(rng.random(share) < eta_b, gold_b, table_b.other_label(gold_b, rng))
        copied_b = np.where(right_a, gold_b, table_b.other_label_for(table_a.of_label[predicted_a], gold_b, rng))
        predicted_b = np.where(rng.random(share) < rho, copied_b, own_b)

        match = table_a.of_label[predicted_a] == table_b.of_label[predicted_b]
        matched += int(match.sum())
        wrong += int((match & ~right_a).sum())
    return SimulatedAgreement(inputs=inputs, matched=matched, wrong=wrong)
