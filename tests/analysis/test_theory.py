"""The formulas: known values, limits, and inverses that are inverses."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from friend_training.analysis.error_rates import (
    chance_agreement,
    corrected_error_rate,
    effective_epsilon,
    match_probability,
    needed_epsilon,
    needed_friend_accuracy,
    needed_size,
    printed_error_rate,
    printed_match_probability,
    uniform_epsilon,
)
from friend_training.errors import ConfigError

inner = st.floats(0.01, 0.99)
dependence = st.floats(0.0, 0.95)


def test_both_forms_at_the_point_where_the_design_compares_them() -> None:
    assert corrected_error_rate(0.3, 0.3, 0.1) == pytest.approx(0.387, abs=5e-4)
    assert printed_error_rate(0.3, 0.3, 0.1) == pytest.approx(0.189, abs=5e-4)
    assert match_probability(0.3, 0.3, 0.1) == pytest.approx(0.181)


@given(inner, inner, inner, inner)
def test_the_friends_accuracy_cancels_out_of_the_printed_form_only(
    eta_a: float, eta_b: float, other_eta_b: float, epsilon: float
) -> None:
    assert printed_error_rate(eta_a, eta_b, epsilon) == pytest.approx(printed_error_rate(eta_a, other_eta_b, epsilon))
    assume(abs(eta_b - other_eta_b) > 0.01)
    better, worse = max(eta_b, other_eta_b), min(eta_b, other_eta_b)
    assert corrected_error_rate(eta_a, better, epsilon) < corrected_error_rate(eta_a, worse, epsilon)


@given(inner, inner, inner)
def test_the_forms_differ_by_the_both_wrong_term_alone(eta_a: float, eta_b: float, epsilon: float) -> None:
    missing = (epsilon - epsilon**2) * (1 - eta_a) * (1 - eta_b)
    difference = match_probability(eta_a, eta_b, epsilon) - printed_match_probability(eta_a, eta_b, epsilon)
    assert difference == pytest.approx(missing)
    assert printed_error_rate(eta_a, eta_b, epsilon) < corrected_error_rate(eta_a, eta_b, epsilon)


@given(inner, inner, inner, dependence)
def test_dependence_is_the_mixture_it_is_said_to_be(eta_a: float, eta_b: float, epsilon: float, rho: float) -> None:
    own = match_probability(eta_a, eta_b, epsilon)
    matched = rho + (1 - rho) * own
    wrong_and_matched = rho * (1 - eta_a) + (1 - rho) * epsilon * (1 - eta_a)
    assert match_probability(eta_a, eta_b, epsilon, rho=rho) == pytest.approx(matched)
    assert corrected_error_rate(eta_a, eta_b, epsilon, rho=rho) == pytest.approx(wrong_and_matched / matched)


@given(inner, inner, inner)
def test_a_friend_that_always_copies_leaves_the_error_of_self_training(
    eta_a: float, eta_b: float, epsilon: float
) -> None:
    assert corrected_error_rate(eta_a, eta_b, epsilon, rho=1.0) == pytest.approx(1 - eta_a)


def test_a_huge_space_leaves_no_error_unless_the_friend_copies() -> None:
    assert corrected_error_rate(0.2, 0.2, 1e-9) < 1e-6
    assert corrected_error_rate(0.2, 0.2, 1e-9, rho=0.01) > 0.1


@given(inner, inner, inner, dependence)
def test_needed_epsilon_inverts_the_error(eta_a: float, eta_b: float, epsilon: float, rho: float) -> None:
    target = corrected_error_rate(eta_a, eta_b, epsilon, rho=rho)
    assert needed_epsilon(target, eta_a, eta_b, rho=rho) == pytest.approx(epsilon, rel=1e-6, abs=1e-9)


@given(inner, inner, st.integers(2, 1_000))
def test_needed_size_inverts_the_error(eta_a: float, eta_b: float, size: int) -> None:
    target = corrected_error_rate(eta_a, eta_b, uniform_epsilon(size))
    assert needed_size(target * (1 + 1e-9), eta_a, eta_b) == size


@given(inner, inner, inner, st.floats(0.0, 0.3))
def test_needed_size_is_enough_and_one_less_is_not(target: float, eta_a: float, eta_b: float, rho: float) -> None:
    size = needed_size(target, eta_a, eta_b, rho=rho)
    if size is None:
        assert corrected_error_rate(eta_a, eta_b, 1e-12, rho=rho) > target
        return
    assert corrected_error_rate(eta_a, eta_b, 1 / size, rho=rho) <= target * (1 + 1e-6)
    if size > 1:
        assert corrected_error_rate(eta_a, eta_b, 1 / (size - 1), rho=rho) > target * (1 - 1e-6)


@given(inner, inner, inner, dependence)
def test_needed_friend_accuracy_inverts_the_error(eta_a: float, eta_b: float, epsilon: float, rho: float) -> None:
    target = corrected_error_rate(eta_a, eta_b, epsilon, rho=rho)
    assert needed_friend_accuracy(target, eta_a, epsilon, rho=rho) == pytest.approx(eta_b, rel=1e-6)


@given(inner, inner, inner, dependence)
def test_an_unreachable_friend_means_that_even_a_perfect_one_is_not_enough(
    target: float, eta_a: float, epsilon: float, rho: float
) -> None:
    needed = needed_friend_accuracy(target, eta_a, epsilon, rho=rho)
    assert (needed is None) == (corrected_error_rate(eta_a, 1.0, epsilon, rho=rho) > target)


def test_what_no_space_and_no_friend_can_reach() -> None:
    assert needed_size(0.05, 0.7, 0.7, rho=0.2) is None
    assert needed_size(0.0, 0.7, 0.7) is None
    assert needed_size(0.1, 0.7, 0.0) is None
    assert needed_friend_accuracy(0.0, 0.7, 0.1) is None
    assert needed_friend_accuracy(0.1, 0.0, 0.1) is None
    assert needed_friend_accuracy(0.1, 0.7, 0.1, rho=1.0) is None


def test_a_target_that_needs_no_friend() -> None:
    assert needed_size(0.3, 0.75, 0.1) == 1
    assert needed_friend_accuracy(0.3, 0.75, 0.1) == 0.0


def test_a_round_size_is_not_rounded_up() -> None:
    assert needed_size(corrected_error_rate(0.7, 0.7, 0.1), 0.7, 0.7) == 10


def test_effective_epsilon_of_a_skewed_space() -> None:
    assert effective_epsilon([0.25] * 4) == pytest.approx(uniform_epsilon(4))
    assert effective_epsilon([0.9, 0.1]) == pytest.approx(0.82)
    assert chance_agreement(0.1, 0.5) == pytest.approx(0.55)


@pytest.mark.parametrize("probabilities", [[], [0.5, 0.4], [1.5, -0.5]])
def test_probabilities_of_a_space_that_are_none(probabilities: list[float]) -> None:
    with pytest.raises(ConfigError, match="sum to 1"):
        effective_epsilon(probabilities)


def test_values_outside_their_range_are_named() -> None:
    with pytest.raises(ConfigError, match=r"eta_a is 1\.2"):
        corrected_error_rate(1.2, 0.5, 0.1)
    with pytest.raises(ConfigError, match="rho is -1"):
        corrected_error_rate(0.5, 0.5, 0.1, rho=-1)
    with pytest.raises(ConfigError, match="epsilon is nan"):
        printed_error_rate(0.5, 0.5, math.nan)
    with pytest.raises(ConfigError, match="target_error is 2"):
        needed_size(2, 0.5, 0.5)
    with pytest.raises(ConfigError, match="is 0"):
        uniform_epsilon(0)
    with pytest.raises(ConfigError, match="never agree"):
        corrected_error_rate(0.0, 0.5, 0.0)
    with pytest.raises(ConfigError, match="no agreement"):
        printed_error_rate(0.0, 0.5, 0.0)
