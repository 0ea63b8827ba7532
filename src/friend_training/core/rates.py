"""The sampling error of a share."""

import math


def binomial_standard_error(successes: float, trials: int) -> float:
    """Of a share successes/trials, with one success and one failure added: none in a hundred is not certainty."""
    share = (successes + 1) / (trials + 2)
    return math.sqrt(share * (1.0 - share) / trials)
