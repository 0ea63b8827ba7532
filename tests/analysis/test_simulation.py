"""Explicit labels and tables agree with the corrected formula within sampling error, and not with the printed one."""

import math

import numpy as np
import pytest

from friend_training.analysis.error_rates import (
    SimulatedAgreement,
    TranslationTable,
    corrected_error_rate,
    effective_epsilon,
    match_probability,
    printed_error_rate,
    printed_match_probability,
    simulate_agreement,
)
from friend_training.errors import ConfigError

INPUTS = 100_000
GRID = [
    (eta_a, eta_b, size, rho)
    for eta_a in (0.1, 0.3, 0.7, 0.95)
    for eta_b in (0.1, 0.5, 0.9)
    for size in (2, 10, 200)
    for rho in (0.0, 0.3)
]


def _zipf(size: int) -> list[float]:
    weights = 1.0 / np.arange(1, size + 1)
    return [float(p) for p in weights / weights.sum()]


def _standard_errors_off(seen: SimulatedAgreement, matched: float, error: float) -> tuple[float, float]:
    """How far the simulation lies from the expected match rate and error, in standard errors of the expectation."""
    assert seen.error is not None
    match_se = math.sqrt(matched * (1 - matched) / seen.inputs)
    error_se = math.sqrt(error * (1 - error) / seen.matched)
    return (seen.match_rate - matched) / match_se, (seen.error - error) / error_se


def test_the_corrected_form_holds_over_a_grid() -> None:
    off: list[float] = []
    for seed, (eta_a, eta_b, size, rho) in enumerate(GRID):
        seen = simulate_agreement(eta_a, eta_b, size, inputs=INPUTS, seed=seed, rho=rho, tables=2, labels=50_000)
        expected = (
            match_probability(eta_a, eta_b, 1 / size, rho=rho),
            corrected_error_rate(eta_a, eta_b, 1 / size, rho=rho),
        )
        off += _standard_errors_off(seen, *expected)
        assert max(abs(o) for o in off[-2:]) < 4, (eta_a, eta_b, size, rho)
    assert 0.7 < math.sqrt(np.mean(np.square(off))) < 1.3  # no bias hides inside the four standard errors


@pytest.mark.parametrize("rho", [0.0, 0.2])
@pytest.mark.parametrize(("eta_a", "eta_b"), [(0.3, 0.3), (0.3, 0.8), (0.8, 0.5)])
def test_a_skewed_space_counts_by_its_effective_epsilon(eta_a: float, eta_b: float, rho: float) -> None:
    sigma = _zipf(50)
    epsilon = effective_epsilon(sigma)
    assert epsilon > 3 / 50  # the skew matters: 1/|Σ| would be far off
    seen = simulate_agreement(eta_a, eta_b, sigma, inputs=INPUTS, seed=11, rho=rho)
    expected = match_probability(eta_a, eta_b, epsilon, rho=rho), corrected_error_rate(eta_a, eta_b, epsilon, rho=rho)
    assert max(map(abs, _standard_errors_off(seen, *expected))) < 4


def test_the_printed_form_does_not_hold() -> None:
    seen = simulate_agreement(0.3, 0.3, 10, inputs=INPUTS, seed=0)
    expected = printed_match_probability(0.3, 0.3, 0.1), printed_error_rate(0.3, 0.3, 0.1)
    assert min(map(abs, _standard_errors_off(seen, *expected))) > 30  # standard errors
    assert seen.error == pytest.approx(0.387, abs=0.01)


def test_a_friend_that_always_copies_always_agrees() -> None:
    seen = simulate_agreement(0.6, 0.9, 50, inputs=20_000, seed=1, rho=1.0)
    assert seen.matched == seen.inputs
    assert seen.error == pytest.approx(0.4, abs=0.02)


def test_perfect_classifiers_always_agree_because_gold_labels_translate_alike() -> None:
    assert simulate_agreement(1.0, 1.0, 100, inputs=5_000, seed=1) == SimulatedAgreement(5_000, matched=5_000, wrong=0)


def test_it_repeats_with_its_seed() -> None:
    once, again, other = (simulate_agreement(0.5, 0.5, 10, inputs=5_000, seed=seed) for seed in (1, 1, 2))
    assert once == again != other


def test_the_inverse_of_a_table_is_its_inverse() -> None:
    rng = np.random.default_rng(0)
    table = TranslationTable(300, _zipf(20), rng)
    elements = rng.integers(20, size=1_000)
    labels = table.label_for(elements, rng)
    others = table.other_label_for(elements, labels, rng)
    assert (table.of_label[labels] == elements).all()
    assert (table.of_label[others] == elements).all()
    assert (others != labels).all()
    assert (table.other_label(labels, rng) != labels).all()
    assert len(set(labels.tolist())) > 100


def test_sampling_errors() -> None:
    seen = SimulatedAgreement(inputs=10_000, matched=2_500, wrong=0)
    assert seen.match_rate_se == pytest.approx(0.00433, abs=1e-4)
    assert seen.error == 0.0
    assert seen.error_se is not None
    assert 0 < seen.error_se < 0.001
    nothing = SimulatedAgreement(inputs=10, matched=0, wrong=0)
    assert (nothing.error, nothing.error_se) == (None, None)


def test_what_cannot_be_simulated() -> None:
    with pytest.raises(ConfigError, match="at least 200"):
        simulate_agreement(0.5, 0.5, 100, inputs=10, seed=0, labels=100)
    with pytest.raises(ConfigError, match="eta_b is 2"):
        simulate_agreement(0.5, 2, 10, inputs=10, seed=0)
    with pytest.raises(ConfigError, match="inputs = 0"):
        simulate_agreement(0.5, 0.5, 10, inputs=0, seed=0)
