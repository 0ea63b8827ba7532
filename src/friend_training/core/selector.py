"""The augmented selector S (Eq. 5): which pseudo-labels are chosen, by matching score and confidence, and why not.

Selection takes two passes over the units, a batch at a time: `cutoff` finds where the line is, `decide` draws it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from friend_training.core.picks import Nothing, Pick, Random, Reason, Share, Threshold, TopN, TotalAgreement
from friend_training.core.seeds import draws
from friend_training.errors import ConfigError

FloatColumn = npt.NDArray[np.float64]
BoolColumn = npt.NDArray[np.bool_]
DrawColumn = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Scores:
    """What selection sees of a batch of units, as columns. A match of NaN: there was nothing to match."""

    unit: Sequence[str]
    confidence: FloatColumn
    match: FloatColumn
    content: BoolColumn


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The last place that is still chosen: a score and, between units of that same score, the last draw.

    The score is NaN where there is none, and then nothing is chosen.
    """

    score: float
    draw: int = np.iinfo(np.uint64).max


@dataclass(frozen=True, slots=True)
class Decisions:
    """What became of a batch of units, as columns. NaN: no overall score, no threshold."""

    overall: FloatColumn
    threshold: FloatColumn
    chosen: BoolColumn
    reason: npt.NDArray[np.str_]
    weight: FloatColumn


@dataclass(frozen=True, slots=True)
class Selector:
    """S for one task: overall = w·confidence + (1 − w)·match, and a rule that picks by it.

    `confidence_weight` w is α (or β) of section 4.3; 1 is classic self-training and needs no match. `unmatched` says
    what becomes of units with nothing to match: they are rejected, or their confidence alone is the overall score.
    `content` "only" leaves out labels that say nothing. `weight` is what a chosen label weighs in training: "one", or
    its confidence (STBR).
    """

    pick: Pick
    confidence_weight: float = 0.2
    unmatched: Literal["reject", "confidence"] = "reject"
    content: Literal["any", "only"] = "any"
    weight: Literal["one", "confidence"] = "one"

    def __post_init__(self) -> None:
        _check(0 <= self.confidence_weight <= 1, "confidence_weight", self.confidence_weight, "a number from 0 to 1")
        _check(self.unmatched in ("reject", "confidence"), "unmatched", self.unmatched, "'reject' or 'confidence'")
        _check(self.content in ("any", "only"), "content", self.content, "'any' or 'only'")
        _check(self.weight in ("one", "confidence"), "weight", self.weight, "'one' or 'confidence'")
        match self.pick:
            case TopN(count) | Random(count):
                _check(count >= 0, "count", count, "0 or more")
            case Share(fraction):
                _check(0 <= fraction <= 1, "fraction", fraction, "a number from 0 to 1")
            case Threshold(value):
                _check(math.isfinite(value), "value", value, "a finite number")

    @property
    def needs_match(self) -> bool:
        """Whether a unit without a matching score can never be chosen."""
        match self.pick:
            case Nothing():
                return False
            case TotalAgreement():
                return True
            case _:
                return self.confidence_weight < 1 and self.unmatched == "reject"

    def overall(self, scores: Scores) -> FloatColumn:
        """s_k and r_t of section 4.3; NaN for units that are rejected because there was nothing to match."""
        if self.confidence_weight == 1:
            return scores.confidence
        matched = self.confidence_weight * scores.confidence + (1 - self.confidence_weight) * scores.match
        instead = scores.confidence if self.unmatched == "confidence" else np.nan
        return np.where(np.isnan(scores.match), instead, matched)

    def cutoff(self, batches: Iterable[Scores]) -> Cutoff:
        """Find the line, in one pass that keeps two numbers per unit at most; fixed thresholds look at no unit."""
        match self.pick:
            case Threshold(value):
                return Cutoff(value)
            case TotalAgreement():
                return Cutoff(1.0)
            case Nothing():
                return Cutoff(np.nan)
            case TopN(count) | Random(count):
                return _last_of_best(map(self._candidates, batches), count)
            case Share(fraction):
                candidates = [self._candidates(batch) for batch in batches]
                return _last_of_best(candidates, round(fraction * sum(len(scores) for scores, _ in candidates)))

    def decide(self, scores: Scores, cutoff: Cutoff) -> Decisions:
        """Choose or reject each unit of a batch and say why (Eq. 5)."""
        key, draw = self._rank(scores)
        passes = (key > cutoff.score) | ((key == cutoff.score) & (draw <= np.uint64(cutoff.draw)))
        verdicts = [*self._obstacles(scores), (passes, Reason.CHOSEN.value)]
        reason = np.select([holds for holds, _ in verdicts], [why for _, why in verdicts], self._missed.value)
        chosen = reason == Reason.CHOSEN.value
        threshold = np.nan if isinstance(self.pick, Random) else cutoff.score
        return Decisions(
            overall=self.overall(scores),
            threshold=np.full(len(chosen), threshold),
            chosen=chosen,
            reason=reason,
            weight=chosen * (scores.confidence if self.weight == "confidence" else 1.0),
        )

    @property
    def _missed(self) -> Reason:
        """What to say of a unit that could have been chosen and was not."""
        match self.pick:
            case Threshold() | TopN() | Share():
                return Reason.BELOW_THRESHOLD
            case TotalAgreement():
                return Reason.BELOW_AGREEMENT
            case Random():
                return Reason.NOT_DRAWN
            case Nothing():
                return Reason.NOT_SELECTING

    def _obstacles(self, scores: Scores) -> list[tuple[BoolColumn, str]]:
        """What keeps units from being chosen before any score is looked at."""
        if isinstance(self.pick, Nothing):
            return []
        empty = ~scores.content if self.content == "only" else np.zeros_like(scores.content)
        unmatched = np.isnan(scores.match) if self.needs_match else np.zeros_like(scores.content)
        return [(empty, Reason.NO_CONTENT.value), (unmatched, Reason.NOTHING_TO_MATCH.value)]

    def _rank(self, scores: Scores) -> tuple[FloatColumn, DrawColumn]:
        """Units are chosen from the highest score down and, where scores are equal, from the lowest draw up."""
        match self.pick:
            case TotalAgreement():
                return scores.match, np.zeros(len(scores.unit), np.uint64)
            case TopN() | Share():
                return self.overall(scores), draws(scores.unit, "tie")
            case Random(seed=seed):
                return np.zeros(len(scores.unit)), draws(scores.unit, "random", seed)
            case Threshold() | Nothing():
                return self.overall(scores), np.zeros(len(scores.unit), np.uint64)

    def _candidates(self, scores: Scores) -> tuple[FloatColumn, DrawColumn]:
        key, draw = self._rank(scores)
        possible = np.logical_and.reduce([~failed for failed, _ in self._obstacles(scores)])
        return key[possible], draw[possible]


def _last_of_best(batches: Iterable[tuple[FloatColumn, DrawColumn]], count: int) -> Cutoff:
    """The place of the `count`-th best, or of the last one where there are fewer."""
    scores, draw = np.empty(0), np.empty(0, np.uint64)
    for more_scores, more_draw in batches:
        scores, draw = np.concatenate([scores, more_scores]), np.concatenate([draw, more_draw])
        best = np.lexsort((draw, -scores))[:count]
        scores, draw = scores[best], draw[best]
    return Cutoff(float(scores[-1]), int(draw[-1])) if len(scores) else Cutoff(np.nan)


def _check(holds: bool, name: str, given: object, allowed: str) -> None:
    if not holds:
        raise ConfigError(f"selector: {name} is {given!r}, expected {allowed}")
