"""Pick thresholds found on dev. A threshold is the lowest whose choice is expected to be right often enough.

The expectation comes from units whose gold is known (dev, labelled as if it were not). It is a cautious one: of what
was counted among them and of what their scores promise after temperature scaling, the lower. A few lucky units at the
top are held back by the one, scores that overrate themselves by the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from friend_training.core.friendship import Aggregation, Friendship
from friend_training.core.selector import Precision, Selector
from friend_training.core.task import Prediction, Task
from friend_training.loop.labelling import label_shard
from friend_training.runs.store import scores_of

_EDGE = 1e-6
"""Scores are held this far from 0 and 1, where the log-odds are infinite."""


_LONGEST_LOG_TEMPERATURE = 5.0
"""Where every answer is right (or every one wrong) no temperature is best: the search ends at exp(±5)."""


def fit_temperature(scores: ArrayLike, correct: ArrayLike) -> float:
    """The T > 0 for which sigmoid(logit(s) / T) has the least negative log-likelihood; fitted on dev.

    A score is made of many decisions, so there are no logits to divide: its own log-odds are scaled.
    """
    values, right = checked(scores, correct)
    odds = logit(np.clip(values, _EDGE, 1 - _EDGE))
    signed = np.where(right, odds, -odds)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, -signed / np.exp(log_temperature)).mean())

    bounds = (-_LONGEST_LOG_TEMPERATURE, _LONGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def apply_temperature(scores: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """sigmoid(logit(s) / T): keeps the order of scores, and 0.5 where it is."""
    if temperature <= 0:
        raise ValueError(f"a temperature is positive, got {temperature}")
    odds = logit(np.clip(np.asarray(scores, dtype=np.float64), _EDGE, 1 - _EDGE))
    return np.asarray(expit(odds / temperature), dtype=np.float64)


def checked(scores: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    if values.ndim != 1 or values.shape != right.shape or not len(values):
        raise ValueError(f"expected as many scores as verdicts, and some, got {values.shape} and {right.shape}")
    return values, right


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


@dataclass(frozen=True, slots=True)
class Probe:
    """Dev inputs of a task, in the form of the pool's (its friends label them too), and whether a prediction is right.

    They serve to find a threshold and are never trained on; `right` gives None where nobody knows.
    """

    inputs: Sequence[Any]
    right: Callable[[Prediction], bool | None]


def friends_of(name: str, friendships: Sequence[Friendship]) -> list[Friendship]:
    return [friendship for friendship in friendships if name in (friendship.first, friendship.second)]


def probed(
    name: str, probe: Probe, tasks: Mapping[str, Task], friendships: Sequence[Friendship], *, aggregate: Aggregation
) -> pa.Table:
    """The predictions of the task, as it is now, for the probe: the rows that labelling a pool of these inputs would
    give.

    `tasks` and `friendships` are the whole run's; only those that have to do with this task do anything.
    """
    between = friends_of(name, friendships)
    names = {name} | {other for friendship in between for other in (friendship.first, friendship.second)}
    queried = {other: task for other, task in tasks.items() if other in names}

    def audit(task: str, prediction: Prediction) -> bool | None:
        return probe.right(prediction) if task == name else None

    rows = label_shard(queried, between, probe.inputs, aggregate=aggregate, audit=audit)
    return rows.filter(pc.equal(rows["task"], name))


def aimed(selector: Selector, rows: pa.Table) -> Aimed:
    """The threshold of a selector that aims at a precision, by the rows of a probe that it could choose from."""
    assert isinstance(selector.pick, Precision)
    known = rows.filter(pc.is_valid(rows["correct"]))
    scores = scores_of(known)
    possible = selector.possible(scores)
    return threshold_for_precision(
        selector.overall(scores)[possible],
        known["correct"].to_numpy(zero_copy_only=False).astype(bool)[possible],
        selector.pick,
    )
