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
"""

import math
from collections.abc import Sequence

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
