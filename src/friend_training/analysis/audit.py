"""What a person should look at: the units whose answer would tell most, and a random sample that measures precision.

The interval for the precision of what was chosen is prediction-powered: P(right) of all chosen units, corrected by how
far it was off on those that a person checked. Predictions that tell something make it narrower than checking alone, and
predictions that tell nothing leave it as it is.
"""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t

from friend_training.core.seeds import draws
from friend_training.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PrecisionInterval:
    """The precision of what was chosen. `audited` of the `chosen` units were checked, drawn at random.

    `trust` is how much of the predictions was used: 1 wholly, 0 not at all.
    """

    precision: float
    low: float
    high: float
    audited: int
    chosen: int
    trust: float
    deviation: float  # of one check, after what the predictions explain

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def precision_interval(
    predicted: ArrayLike, audited: Mapping[int, bool], *, confidence: float = 0.95
) -> PrecisionInterval:
    """An interval for the share of right labels among all chosen units.

    `predicted` is P(right) of each of them, `audited` tells of those that were checked, by place, whether they are
    right. They must be a random sample: checking the doubtful ones measures the doubtful ones.
    """
    p = np.asarray(predicted, np.float64)
    if len(audited) < 2 or not set(audited) <= set(range(len(p))):
        raise ConfigError(
            f"{len(audited)} checked units of {len(p)} chosen ones: at least 2 are needed, and all of them chosen"
        )
    places = sorted(audited)
    right = np.array([audited[place] for place in places], np.float64)
    seen = p[places]
    spread = float(np.var(seen))
    trust = float(np.clip(np.cov(right, seen, bias=True)[0, 1] / spread, 0, 1)) if spread > 1e-12 else 0.0
    residual = right - trust * seen
    # One check that came out right and one that came out wrong are added: none wrong in twenty is not certainty.
    extended = np.append(residual, [1 - trust * seen.mean(), -trust * seen.mean()])
    fitted = 2 if trust else 1
    deviation = float(extended.std(ddof=fitted))
    estimate = float(np.clip(trust * p.mean() + residual.mean(), 0, 1))
    unchecked = 1 - len(places) / len(p)  # where all are checked nothing is left to doubt
    half = (
        float(t.ppf((1 + confidence) / 2, max(1, len(places) - fitted)))
        * deviation
        * math.sqrt(unchecked / len(places))
    )
    return PrecisionInterval(
        estimate, max(0.0, estimate - half), min(1.0, estimate + half), len(places), len(p), trust, deviation
    )


def checks_needed(interval: PrecisionInterval, half_width: float, *, confidence: float = 0.95) -> int:
    """How many more units must be checked for an interval of at most this half-width; 0: enough were."""
    if not 0 < half_width < 1:
        raise ConfigError(f"half_width is {half_width}; it must lie between 0 and 1")
    return max(0, _checks(interval.deviation, interval.chosen, half_width, confidence) - interval.audited)


def checks_needed_at_first(predicted: ArrayLike, half_width: float, *, confidence: float = 0.95) -> int:
    """The same before anything was checked, as P(right) would have it."""
    p = np.asarray(predicted, np.float64)
    return _checks(math.sqrt(float((p * (1 - p)).mean())), len(p), half_width, confidence) if len(p) else 0


def _checks(deviation: float, chosen: int, half_width: float, confidence: float) -> int:
    """n for which z · deviation · √((1 − n/N)/n) is the half-width."""
    noise = (float(norm.ppf((1 + confidence) / 2)) * deviation) ** 2
    return min(chosen, math.ceil(noise / (half_width**2 + noise / chosen) - 1e-9))


# Which units to ask a person about.


@dataclass(frozen=True, slots=True)
class Question:
    """A unit for a person. `why` is "tells most" or "random check"; `worth` is what its answer would tell, 0 to 1."""

    task: str
    unit: str
    input: str
    label: str
    kind: str
    confidence: float
    match: float | None
    overall: float | None
    chosen: bool
    why: str
    worth: float


def worth_asking(rows: pa.Table) -> NDArray[np.float64]:
    """Disagreement × uncertainty of each row of a store.

    Disagreement is 1 − match; where nothing could be matched nobody disagrees, and the unit counts as half disputed.
    Uncertainty is 4p(1 − p), with the confidence for p: 1 where a model might as well say the opposite.
    """
    match = rows["match"].to_numpy(zero_copy_only=False).astype(np.float64)
    p = rows["confidence"].to_numpy()
    disagreement = 1 - np.where(np.isnan(match), 0.5, match)
    return np.asarray(disagreement * 4 * p * (1 - p))


def questions(rows: pa.Table, count: int, *, audit: int, seed: int, answered: Collection[str] = ()) -> list[Question]:
    """The next `audit` units of a random order of what was chosen, and the `count` units whose answer would tell most.

    All of one task. The latter are balanced by kind: the best of each kind in turn. Units that were `answered` before
    are not asked again.
    """
    new = np.array([unit not in answered for unit in rows["unit"].to_pylist()], np.bool_)
    random = [row for row in _random_order(rows, seed) if new[row]][:audit]
    worth = worth_asking(rows)
    kinds: list[str] = pc.coalesce(rows["kind"], rows["label"]).to_pylist()
    taken, by_kind = set(random), dict[str, list[int]]()
    for row in np.argsort(-worth, kind="stable").tolist():
        if new[row] and row not in taken and worth[row] > 0:
            by_kind.setdefault(kinds[row], []).append(row)
    telling: list[int] = []
    for rank in range(max(map(len, by_kind.values()), default=0)):
        turn = [of_kind[rank] for of_kind in by_kind.values() if rank < len(of_kind)]
        telling += sorted(turn, key=lambda row: -worth[row])
    whys = [*((row, "random check") for row in random), *((row, "tells most") for row in telling[:count])]
    return [_question(rows.slice(row, 1).to_pylist()[0], kinds[row], why, float(worth[row])) for row, why in whys]


def audited_precision(
    rows: pa.Table, answers: Mapping[str, str | None], *, seed: int, confidence: float = 0.95
) -> PrecisionInterval | None:
    """The interval for what was chosen of one task, from the answers so far; None where they are too few.

    `answers` has the right label of each answered unit as JSON text, None where there is none. Only those count that
    come first in the random order without a gap: whatever else a person has looked at was not looked at by chance.
    """
    order = _random_order(rows, seed)
    units, labels = rows["unit"].to_pylist(), rows["label"].to_pylist()
    checked = list(takewhile(lambda place: units[order[place]] in answers, range(len(order))))
    if len(checked) < 2:
        return None
    overall = pc.coalesce(rows["overall"], rows["confidence"]).to_numpy()[order]
    right = {place: _same(answers[units[order[place]]], labels[order[place]]) for place in checked}
    return precision_interval(overall, right, confidence=confidence)


def _random_order(rows: pa.Table, seed: int) -> list[int]:
    """The rows of what was chosen, shuffled: the same order whenever, and whatever else, is asked."""
    order = np.argsort(draws(rows["unit"].to_pylist(), "audit", seed), kind="stable")
    chosen = rows["chosen"].to_numpy(zero_copy_only=False).astype(np.bool_)
    return [int(row) for row in order if chosen[row]]


def _same(answer: str | None, label: str) -> bool:
    return answer is not None and bool(json.loads(answer) == json.loads(label))


def _question(row: Mapping[str, Any], kind: str, why: str, worth: float) -> Question:
    names = ("task", "unit", "input", "label", "confidence", "match", "overall", "chosen")
    return Question(**{name: row[name] for name in names}, kind=kind, why=why, worth=worth)
