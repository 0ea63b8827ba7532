"""The report's expectations hold for friends that are as the theory assumes, and its ρ shows those that are not."""

import numpy as np
import pytest
from numpy.typing import NDArray

from friend_training.analysis.agreement import AgreementReport, agreement_report
from friend_training.analysis.error_rates import corrected_error_rate
from friend_training.errors import ConfigError

Booleans = NDArray[np.bool_]


def friends(eta_a: float, eta_b: float, size: int, *, rho: float, units: int = 40_000) -> tuple[Booleans, ...]:
    """Right or wrong of both, and agreement of explicit translations: 0 is the gold one, drawn anew for each unit."""
    rng = np.random.default_rng(3)
    gold, wrong_a, wrong_b = rng.integers(size, size=(3, units))
    a, b, copies = rng.random(units) < eta_a, rng.random(units) < eta_b, rng.random(units) < rho
    b = np.where(copies, a, b)
    phi_a = np.where(a, gold, wrong_a)
    phi_b = np.where(copies, phi_a, np.where(b, gold, wrong_b))
    return a, b, phi_a == phi_b


def report(outcomes: tuple[Booleans, ...], epsilon: float) -> AgreementReport:
    a, b, agreed = outcomes
    return agreement_report(correct_a=a.tolist(), correct_b=b.tolist(), agreed=agreed.tolist(), epsilon=epsilon)


def test_independent_friends_are_as_the_corrected_form_expects() -> None:
    seen = report(friends(0.4, 0.6, 10, rho=0.0), epsilon=0.1)
    assert seen.error is not None
    assert seen.error_se is not None
    assert seen.corrected_error is not None
    assert seen.printed_error is not None
    assert seen.error_se < 0.005
    assert abs(seen.error - seen.corrected_error) < 4 * seen.error_se
    assert abs(seen.error - seen.printed_error) > 10 * seen.error_se
    assert seen.agreed == pytest.approx(seen.expected_agreed, abs=0.01)
    assert seen.agreed_when_both_right == 1.0
    assert seen.rho == pytest.approx(0.0, abs=0.02)


def test_copying_shows_as_rho_and_explains_the_excess_error() -> None:
    seen = report(friends(0.5, 0.5, 20, rho=0.3), epsilon=1 / 20)
    assert seen.rho == pytest.approx(0.3, abs=0.02)
    assert seen.errors is not None
    assert seen.errors.phi == pytest.approx(0.3, abs=0.02)  # equals ρ where η_a = η_b
    assert seen.error is not None
    assert seen.corrected_error is not None
    assert seen.error > 2 * seen.corrected_error
    assert seen.error == pytest.approx(corrected_error_rate(0.5, 0.5, 1 / 20, rho=0.3), abs=0.01)


def test_inputs_that_are_hard_for_both_correlate_the_errors_but_are_no_copying() -> None:
    rng = np.random.default_rng(4)
    hard = rng.random(40_000) < 0.5
    a, b = rng.random(40_000) < np.where(hard, 0.2, 0.9), rng.random(40_000) < np.where(hard, 0.2, 0.9)
    agreed = (a & b) | (rng.random(40_000) < 0.05)
    seen = report((a, b, agreed), epsilon=0.05)
    assert seen.errors is not None
    assert seen.errors.phi > 0.3
    assert seen.rho == pytest.approx(0.0, abs=0.01)
    assert seen.error is not None
    assert seen.corrected_error is not None
    assert seen.error < seen.corrected_error  # both are right together more often than independence expects


def test_a_bridge_that_errs_shows_where_both_are_right() -> None:
    a, b, agreed = friends(0.8, 0.8, 10, rho=0.0)
    lost = np.random.default_rng(0).random(a.size) < 0.25
    assert report((a, b, agreed & ~lost), epsilon=0.1).agreed_when_both_right == pytest.approx(0.75, abs=0.02)


def test_what_cannot_be_counted_is_none() -> None:
    seen = agreement_report(correct_a=[True, True], correct_b=[False, False], agreed=[False, False], epsilon=0.0)
    assert (seen.error, seen.error_se, seen.rho, seen.errors) == (None, None, None, None)
    assert (seen.agreed_when_both_right, seen.corrected_error, seen.printed_error) == (None, None, None)


def test_entries_must_be_aligned() -> None:
    with pytest.raises(ConfigError, match=r"\(1, 2, 1\) entries"):
        agreement_report(correct_a=[True], correct_b=[True, False], agreed=[True], epsilon=0.1)
    with pytest.raises(ConfigError, match="at least one"):
        agreement_report(correct_a=[], correct_b=[], agreed=[], epsilon=0.1)
