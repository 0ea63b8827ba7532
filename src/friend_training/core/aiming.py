"""A pick threshold that is not set by hand: the lowest whose choice is expected to be right often enough.

The expectation comes from units whose gold is known (dev, labelled as if it were not). It is a cautious one: of what
was counted among them and of what their scores promise after temperature scaling, the lower. A few lucky units at the
top are held back by the one, scores that overrate themselves by the other.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from friend_training.core.picks import Precision
from friend_training.core.temperature import apply_temperature, checked, fit_temperature

ROUNDING = 1e-12
"""A precision that is the target but for the order in which it was summed up is the target."""


@dataclass(frozen=True, slots=True)
class Aimed:
    """The threshold that was found. `reached` is False where none promised the precision that was aimed at.

    Of the `units` of dev that could be chosen at all, `chosen` reach the threshold; `precision` is what is expected of
    such a choice. With no unit to go by there is no threshold, and nothing should be chosen.
    """

    threshold: float | None
    reached: bool
    precision: float | None
    chosen: int
    units: int
    temperature: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def threshold_for_precision(scores: ArrayLike, correct: ArrayLike, aim: Precision) -> Aimed:
    """The lowest threshold of which at least `aim.target` of the chosen are expected to be right.

    Choices of fewer than `aim.at_least` units prove nothing and do not count. If none is good enough, the best of those
    that count is taken (the largest of equals), and the result says so.
    """
    if not np.size(scores):
        return Aimed(None, reached=False, precision=None, chosen=0, units=0, temperature=None)
    values, right = checked(scores, correct)
    temperature = fit_temperature(values, right)
    order = np.argsort(-values, kind="stable")
    values, right = values[order], right[order]
    chosen = np.arange(1, len(values) + 1)
    counted = np.cumsum(right) / chosen
    promised = np.cumsum(apply_temperature(values, temperature)) / chosen
    expected = np.minimum(counted, promised)
    ends = np.append(values[1:] != values[:-1], True)  # equal scores are chosen together
    count = np.flatnonzero(ends & (chosen >= min(aim.at_least, len(values))))
    good = count[expected[count] >= aim.target - ROUNDING]
    best = count[expected[count] == expected[count].max()]
    last = int(good[-1]) if len(good) else int(best[-1])
    return Aimed(
        threshold=float(values[last]),
        reached=bool(len(good)),
        precision=float(expected[last]),
        chosen=last + 1,
        units=len(values),
        temperature=temperature,
    )
