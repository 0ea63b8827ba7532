"""How often a pseudo-label is wrong although the friends agree (section 3.2 of the paper and its appendix on Eq. 3).

Classifier f_a is right with probability η_a, its friend f_b with η_b. Right predictions of the same input always
translate to the same element of Σ; ε is the probability that a wrong prediction meets the other's translation by
chance. A pseudo-label is chosen on total agreement, φ_a(x) = φ_b(x).

The paper prints one form, and its derivation slips: when both are wrong they agree with probability Σ_σ ε·ε = ε (any of
the |Σ| elements will do), not ε² (one particular element). Both forms are here under their own names.

Dependence. With probability ρ the friend has no mind of its own: it copies f_a, right or wrong, so the translations
agree. Otherwise it decides independently, right with probability η_b. Adding up the cases, everything stays as it
was with ε replaced by q = ρ + (1 − ρ)ε (`chance_agreement`): copying works exactly like a smaller Σ, and no Σ, however
large, pushes q below ρ. Limits: ρ = 0 is independence, ρ = 1 gives 1 − η_a, which is classic self-training.
Note that the friend's accuracy as seen from outside is then ρη_a + (1 − ρ)η_b; η_b is that of its own mind.

`simulate_agreement` puts the theory to the test: agreement of two classifiers with explicit labels and translation
tables. Nothing in it is drawn from the formulas. Each task has a large label set Ŷ and a random table Ŷ → Σ; every
input has a gold label for either task, chosen so that both translate to the same element (the paper's assumption); a
wrong prediction is any other label of its task; and two predictions match when their table entries are equal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.errors import ConfigError


def binomial_standard_error(successes: float, trials: int) -> float:
    """Of a share successes/trials, with one success and one failure added: none in a hundred is not certainty."""
    share = (successes + 1) / (trials + 2)
    return math.sqrt(share * (1.0 - share) / trials)


def uniform_epsilon(size: int) -> float:
    """ε_F = 1/|Σ|: the paper's assumption, every element of Σ equally likely."""
    if size < 1:
        raise ConfigError(f"|Σ| is {size}; it must be at least 1")
    return 1.0 / size


def effective_epsilon(probabilities: Sequence[float]) -> float:
    """ε = Σ p_i²: the chance that two independent draws from a Σ that is not uniform are equal.

    Its inverse is the size of the uniform Σ that would do as well.
    """
    if not probabilities or min(probabilities) < 0 or not math.isclose(sum(probabilities), 1.0, abs_tol=1e-6):
        raise ConfigError("the probabilities of Σ must be 0 or more and sum to 1")
    return math.fsum(p * p for p in probabilities)


def chance_agreement(epsilon: float, rho: float = 0.0) -> float:
    """q = ρ + (1 − ρ)ε: the probability that the friends agree when f_a is wrong."""
    _check_probabilities(epsilon=epsilon, rho=rho)
    return rho + (1.0 - rho) * epsilon


def match_probability(eta_a: float, eta_b: float, epsilon: float, *, rho: float = 0.0) -> float:
    """P(match) = η_aη_b + q(1 − η_aη_b): both right, or a meeting by chance (or by copying) in every other case."""
    _check_probabilities(eta_a=eta_a, eta_b=eta_b)
    q = chance_agreement(epsilon, rho)
    return eta_a * eta_b + q * (1.0 - eta_a * eta_b)


def corrected_error_rate(eta_a: float, eta_b: float, epsilon: float, *, rho: float = 0.0) -> float:
    """P(f_a wrong | match) = q(1 − η_a) / P(match), with the both-wrong term as it should be."""
    matched = match_probability(eta_a, eta_b, epsilon, rho=rho)
    if matched == 0.0:
        raise ConfigError(
            f"the friends never agree with eta_a = {eta_a}, eta_b = {eta_b}, epsilon = {epsilon}, rho = {rho}: "
            "there is no agreed pseudo-label to be wrong"
        )
    return chance_agreement(epsilon, rho) * (1.0 - eta_a) / matched


def printed_match_probability(eta_a: float, eta_b: float, epsilon: float) -> float:
    """The denominator of Eq. 3 as the paper has it: Z + η_bε(1 − η_a) + E."""
    _check_probabilities(eta_a=eta_a, eta_b=eta_b, epsilon=epsilon)
    z = eta_a * (eta_b + epsilon * (1.0 - eta_b))
    both_wrong = epsilon**2 * (1.0 - eta_a) * (1.0 - eta_b)  # E; should be ε(1 − η_a)(1 − η_b)
    return z + eta_b * epsilon * (1.0 - eta_a) + both_wrong


def printed_error_rate(eta_a: float, eta_b: float, epsilon: float) -> float:
    """Eq. 3 as the paper has it: 1 − Z / (Z + η_bε(1 − η_a) + E), with E = ε²(1 − η_a)(1 − η_b).

    For comparison only: the sum factors, η_b cancels out, and a friend that is always wrong seems to check as
    well as a perfect one.
    """
    matched = printed_match_probability(eta_a, eta_b, epsilon)
    if matched == 0.0:
        raise ConfigError(f"no agreement is possible with eta_a = {eta_a}, eta_b = {eta_b}, epsilon = {epsilon}")
    return 1.0 - eta_a * (eta_b + epsilon * (1.0 - eta_b)) / matched


def needed_epsilon(target_error: float, eta_a: float, eta_b: float, *, rho: float = 0.0) -> float | None:
    """The largest ε whose corrected error is at most the target; None if no ε above 0 is small enough.

    Solves e = q(1 − η_a) / (h + q(1 − h)) with h = η_aη_b for q, and q = ρ + (1 − ρ)ε for ε.
    """
    _check_probabilities(target_error=target_error, eta_a=eta_a, eta_b=eta_b, rho=rho)
    if target_error >= 1.0 - eta_a:  # taking every prediction, agreed or not, is good enough
        return 1.0
    both_right = eta_a * eta_b
    q = target_error * both_right / ((1.0 - eta_a) - target_error * (1.0 - both_right))
    return (q - rho) / (1.0 - rho) if q > rho else None


def needed_size(target_error: float, eta_a: float, eta_b: float, *, rho: float = 0.0) -> int | None:
    """The smallest |Σ| whose corrected error is at most the target; None if no Σ is large enough."""
    epsilon = needed_epsilon(target_error, eta_a, eta_b, rho=rho)
    if epsilon is None:
        return None
    return max(1, math.ceil((1.0 - 1e-12) / epsilon))  # 1/0.1 must not become 11 by rounding


def needed_friend_accuracy(target_error: float, eta_a: float, epsilon: float, *, rho: float = 0.0) -> float | None:
    """The smallest η_b whose corrected error is at most the target; None if even a perfect friend is not enough.

    Solves e = q(1 − η_a) / (h + q(1 − h)) for h = η_aη_b.
    """
    _check_probabilities(target_error=target_error, eta_a=eta_a)
    q = chance_agreement(epsilon, rho)
    if target_error >= 1.0 - eta_a:
        return 0.0
    if eta_a == 0.0 or q == 1.0:
        return None
    if target_error == 0.0:
        return 0.0 if q == 0.0 else None
    eta_b = q * ((1.0 - eta_a) - target_error) / (target_error * (1.0 - q) * eta_a)
    return eta_b if eta_b <= 1.0 else None


def _check_probabilities(**values: float) -> None:
    for name, value in values.items():
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"{name} is {value}; it must lie between 0 and 1")


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
