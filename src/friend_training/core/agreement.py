"""What two friends agreed on, how wrong it was, and what the theory says it should have been. Needs gold labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.core.diagnostics import Correlation, error_correlation
from friend_training.core.rates import binomial_standard_error
from friend_training.core.theory import corrected_error_rate, match_probability, printed_error_rate
from friend_training.errors import ConfigError


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
