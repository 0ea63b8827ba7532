"""What two friends agreed on, how wrong it was, and what theory expects, and how often a confidence is right.

All of it needs gold labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from friend_training.analysis.error_rates import (
    binomial_standard_error,
    corrected_error_rate,
    match_probability,
    printed_error_rate,
)
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction, checked
from friend_training.errors import ConfigError

# What the theory takes as given and is measured for a real pair of friends: its effective ε (which needs no gold
# labels), and how the errors of its models hang together.


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the units of a friendship's first task fared. The shares are over `units`; None when there are none.

    `unmatched` units had nothing to match (score None) and are in no share.
    """

    units: int
    unmatched: int
    total_agreement: float | None  # share with m = 1
    mean_match: float | None


@dataclass(frozen=True, slots=True)
class MeasuredEpsilon:
    """Agreement by chance (friends on different inputs, over all rounds) beside that on the same input."""

    shuffled: Agreement
    unshuffled: Agreement
    rounds: int

    @property
    def epsilon(self) -> float | None:
        """ε; None when no unit had anything to match."""
        return self.shuffled.total_agreement

    @property
    def standard_error(self) -> float | None:
        """Of ε, counting each unit once: more rounds reuse the same predictions and add little new evidence."""
        if self.epsilon is None:
            return None
        units = max(1, round(self.shuffled.units / self.rounds))
        return binomial_standard_error(self.epsilon * units, units)


def measured_epsilon(
    friendship: Friendship,
    inputs: Sequence[Any],
    first: Sequence[Sequence[Prediction]],
    second: Sequence[Sequence[Prediction]],
    *,
    seed: int,
    rounds: int,
) -> MeasuredEpsilon:
    """The effective ε of a pair: how often φ_a(x) equals φ_b(x') for another input x'.

    Each prediction is translated with its own input (a translation may need the text), then the second task's
    translations are handed round in one random circle, so that none stays with its input. An element of Σ then meets
    one that may have other units, or more or fewer of them: the scores of the first task's units are what counts, and
    a unit without a counterpart is whatever the matcher gives, 0 (a disagreement) or None (left out, and counted).
    """
    if len(inputs) < 2:
        raise ConfigError(f"{len(inputs)} input(s): measuring ε by shuffling needs at least 2")
    if rounds < 1:
        raise ConfigError(f"rounds is {rounds}; it must be at least 1")
    translated_first = friendship.translate_first(inputs, first)
    translated_second = friendship.translate_second(inputs, second)
    rng = np.random.default_rng(seed)
    shuffled_scores: list[float | None] = []
    for _ in range(rounds):
        origin = _circle(len(inputs), rng)
        matches = friendship.matcher(translated_first, [translated_second[i] for i in origin])
        shuffled_scores += _first_scores(friendship, inputs, first, matches)
    unshuffled_matches = friendship.matcher(translated_first, translated_second)
    return MeasuredEpsilon(
        shuffled=_agreement(shuffled_scores),
        unshuffled=_agreement(_first_scores(friendship, inputs, first, unshuffled_matches)),
        rounds=rounds,
    )


@dataclass(frozen=True, slots=True)
class Correlation:
    """The phi coefficient of two yes/no series, with its large-sample standard error."""

    phi: float
    standard_error: float
    units: int


def error_correlation(correct_a: Sequence[bool], correct_b: Sequence[bool]) -> Correlation | None:
    """How the errors of two classifiers hang together; None when one of them is always right or always wrong.

    The standard error is that of the correlation's influence function z_a z_b − φ(z_a² + z_b²)/2, which does not
    pretend that yes/no values are normal.
    """
    if len(correct_a) != len(correct_b):
        raise ConfigError(
            f"{len(correct_a)} outcomes of one task, {len(correct_b)} of the other: they must be in pairs"
        )
    a, b = np.asarray(correct_a, dtype=float), np.asarray(correct_b, dtype=float)
    if a.size == 0 or a.min() == a.max() or b.min() == b.max():
        return None
    z_a, z_b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    phi = float(np.clip((z_a * z_b).mean(), -1.0, 1.0))
    influence = z_a * z_b - phi * (z_a**2 + z_b**2) / 2
    return Correlation(phi=phi, standard_error=float(influence.std() / math.sqrt(a.size)), units=a.size)


def _circle(length: int, rng: np.random.Generator) -> list[int]:
    """A random permutation that is a single circle, so that no place keeps its own."""
    order = rng.permutation(length)
    origin = np.empty(length, dtype=int)
    origin[order] = np.roll(order, 1)
    return [int(i) for i in origin]


def _first_scores(
    friendship: Friendship, inputs: Sequence[Any], first: Sequence[Sequence[Prediction]], matches: Sequence[Match]
) -> list[float | None]:
    scores: list[float | None] = []
    for x, predictions, match in zip(inputs, first, matches, strict=True):
        if len(match.first) != len(predictions):
            raise ConfigError(
                f"friendship {friendship.name}: the matcher gave {len(match.first)} scores for the {len(predictions)} "
                f"units of task {friendship.first} in input {x.id}; it must give one per unit, whatever it meets"
            )
        scores += match.first
    return scores


def _agreement(scores: Sequence[float | None]) -> Agreement:
    known = [score for score in scores if score is not None]
    return Agreement(
        units=len(known),
        unmatched=len(scores) - len(known),
        total_agreement=sum(score == 1.0 for score in known) / len(known) if known else None,
        mean_match=math.fsum(known) / len(known) if known else None,
    )


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Measured on the units of the first task, and expected for the measured η_a, η_b and ε. None: nothing to count.

    `agreed_when_both_right` is 1 under the paper's assumption that gold labels translate alike; a bridge that errs
    lowers it. `agreed_when_a_wrong` is what does the harm: ε for independent friends, q = ρ + (1 − ρ)ε for friends that
    copy, and `rho` is that equation solved for ρ (0 when it comes out below). `errors` may be positive without any
    copying, because some inputs are hard for both; that alone does not make agreement less worth.
    """

    units: int
    eta_a: float
    eta_b: float
    epsilon: float
    errors: Correlation | None
    agreed: float
    agreed_when_both_right: float | None
    agreed_when_a_wrong: float | None
    rho: float | None
    error: float | None
    error_se: float | None
    expected_agreed: float
    corrected_error: float | None
    printed_error: float | None


def agreement_report(
    *, correct_a: Sequence[bool], correct_b: Sequence[bool], agreed: Sequence[bool], epsilon: float
) -> AgreementReport:
    """Compare the measured error of agreed pseudo-labels with the formula. One entry per unit of the first task.

    The expected values are those of independent friends (ρ = 0): what is measured beyond them is dependence, or a
    translation that breaks the assumptions.
    """
    lengths = (len(correct_a), len(correct_b), len(agreed))
    if len(set(lengths)) > 1 or lengths[0] == 0:
        raise ConfigError(f"correct_a, correct_b and agreed have {lengths} entries: they must be as many, at least one")
    a, b, chosen = (np.asarray(values, dtype=bool) for values in (correct_a, correct_b, agreed))
    eta_a, eta_b = float(a.mean()), float(b.mean())
    error, when_wrong = _share(~a[chosen]), _share(chosen[~a])
    expected_agreed = match_probability(eta_a, eta_b, epsilon)
    return AgreementReport(
        units=a.size,
        eta_a=eta_a,
        eta_b=eta_b,
        epsilon=epsilon,
        errors=error_correlation(correct_a, correct_b),
        agreed=float(chosen.mean()),
        agreed_when_both_right=_share(chosen[a & b]),
        agreed_when_a_wrong=when_wrong,
        rho=None if when_wrong is None or epsilon == 1.0 else max(0.0, (when_wrong - epsilon) / (1.0 - epsilon)),
        error=error,
        error_se=None if error is None else binomial_standard_error(int((~a[chosen]).sum()), int(chosen.sum())),
        expected_agreed=expected_agreed,
        corrected_error=corrected_error_rate(eta_a, eta_b, epsilon) if expected_agreed > 0.0 else None,
        printed_error=printed_error_rate(eta_a, eta_b, epsilon) if expected_agreed > 0.0 else None,
    )


def _share(values: NDArray[np.bool_]) -> float | None:
    return float(values.mean()) if values.size else None


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
