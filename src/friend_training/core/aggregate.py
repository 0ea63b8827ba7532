"""A task with several friends: one matching score per friendship becomes one per unit."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from friend_training.errors import ConfigError

Aggregation = Literal["mean", "min", "max", "geometric"]


def aggregate_matches(scores: npt.NDArray[np.float64], how: Aggregation) -> npt.NDArray[np.float64]:
    """Aggregate the scores of every friendship; NaN, "nothing to match", is left out unless there is nothing else."""
    # scores: friendship × unit → unit
    if how not in get_args(Aggregation):
        raise ConfigError(f"aggregate: {how!r} is none of {', '.join(get_args(Aggregation))}")
    matched = ~np.isnan(scores)
    low = np.min(np.where(matched, scores, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(matched, scores, -np.inf), axis=0, initial=-np.inf)
    count = matched.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if how == "min":
            result = low
        elif how == "max":
            result = high
        elif how == "mean":
            result = np.where(matched, scores, 0.0).sum(axis=0) / count
        else:
            result = np.exp(np.where(matched, np.log(scores), 0.0).sum(axis=0) / count)
        # Rounding must not move a mean out of its bounds: the score of a single friend stays what it is, and agreement
        # with every friend stays exactly 1.
        return np.where(count > 0, np.clip(result, low, high), np.nan)
