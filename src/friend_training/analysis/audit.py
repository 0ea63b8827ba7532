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
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t

from friend_training.core.task import draws
from friend_training.errors import ConfigError
from friend_training.runs.corrections import GOLD_BY_HAND, read_corrections, standing


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


@dataclass(frozen=True, slots=True)
class AuditSoFar:
    """What the answers to random checks say of the chosen labels of a task. `interval` is None where they are too few.

    `confidences` are those of all that the selector chose; of `by_hand` more a person had said that they are right
    before, and they are no part of it.
    """

    task: str
    interval: PrecisionInterval | None
    confidences: NDArray[np.float64]
    by_hand: int

    @property
    def chosen(self) -> int:
        return len(self.confidences)

    def checks_left(self, within: float) -> int:
        """How many more units must be checked for an interval of at most ± this."""
        if self.interval is None:
            return checks_needed_at_first(self.confidences, within)
        return checks_needed(self.interval, within)

    def in_words(self, within: float) -> str:
        more, found = self.checks_left(within), self.interval
        by_hand = f" (and {self.by_hand} by hand)" if self.by_hand else ""
        opening = f"{self.task}: {self.chosen} chosen{by_hand}"
        if not self.chosen:
            return f"{self.task}: nothing was chosen."
        if found is None:
            return f"{opening}, how precisely is not known; some {more} checks tell to ±{within:g}."
        ending = f"{more} more checks for ±{within:g}" if more else f"known to ±{within:g}"
        return (
            f"{opening}, {found.precision:.1%} of them right ({found.low:.1%} to {found.high:.1%} at 95 %,"
            f" {found.audited} checked at random); {ending}."
        )


def audit_so_far(task: str, rows: pa.Table, answers: Mapping[str, str | None], *, seed: int) -> AuditSoFar:
    """Of the rows of one task in one iteration; `answers` as in `audited_precision`."""
    places = _random_order(rows, seed)
    return AuditSoFar(
        task,
        audited_precision(rows, answers, seed=seed),
        rows["confidence"].to_numpy()[places],
        sum(reason in GOLD_BY_HAND for reason in rows["reason"].to_pylist()),
    )


def answers_of(run: Path, task: str) -> dict[str, str | None]:
    """What people have answered about the units of a task: the right label as JSON text, None where it is wrong."""
    judged = standing(read_corrections(run))
    return {
        unit: None if one.label is None else json.dumps(one.label) for (of, unit), one in judged.items() if of == task
    }


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
    """The rows of what the selector chose, shuffled: the same order whenever, and whatever else, is asked.

    What a person had accepted before the selection is left out: those that were rejected are not there any more, so the
    rest of that sample would all be right.
    """
    order = np.argsort(draws(rows["unit"].to_pylist(), "audit", seed), kind="stable")
    chosen, reasons = rows["chosen"].to_pylist(), rows["reason"].to_pylist()
    return [int(row) for row in order if chosen[row] and reasons[row] not in GOLD_BY_HAND]


def _same(answer: str | None, label: str) -> bool:
    return answer is not None and bool(json.loads(answer) == json.loads(label))


def _question(row: Mapping[str, Any], kind: str, why: str, worth: float) -> Question:
    names = ("task", "unit", "input", "label", "confidence", "match", "overall", "chosen")
    return Question(**{name: row[name] for name in names}, kind=kind, why=why, worth=worth)
