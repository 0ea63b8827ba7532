"""The augmented selector S (Eq. 5): which pseudo-labels are chosen, by matching score and confidence, and why not.

Selection takes two passes over the units, a batch at a time: `cutoff` finds where the line is, `decide` draws it. What
`cutoff` remembers is 16 bytes for each unit that the rule alone would choose, at most twice over, and nothing for all
the others: however large the pool is, that is little beside the chosen units themselves, which training reads whole.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from friend_training.core.task import draws
from friend_training.errors import ConfigError, DataError

# Balance: what is chosen has the label distribution of gold.
#
# The surest answer is mostly the commonest one, and two friends agree on it more easily than on any other. Whatever is
# trained on such a choice learns to give that answer. So a selector can be told which share each label may have of what
# it chooses: the policy is the same for every method, and it uses gold labels of training only.


def gold_shares(labels: Sequence[Any], label_type: Any = str) -> dict[str, float]:
    """The share of each label in gold, under the JSON by which the store, and so the selector, knows the label."""
    to_json = TypeAdapter(label_type).dump_json
    return shares_of_kinds([to_json(label).decode() for label in labels])


def shares_of_kinds(kinds: Sequence[str]) -> dict[str, float]:
    """The share of each kind in gold, for labels of which hardly two are the same."""
    if not kinds:
        raise DataError("no gold labels to take the shares of")
    counts = Counter(kinds)
    return {kind: counts[kind] / len(kinds) for kind in sorted(counts)}


def quotas(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """How many of `total` each label may have: the whole parts, and what is left to the largest remainders."""
    exact = {label: share * total for label, share in shares.items()}
    whole = {label: math.floor(value) for label, value in exact.items()}
    left = round(math.fsum(exact.values())) - sum(whole.values())
    by_remainder = sorted(shares, key=lambda label: (whole[label] - exact[label], label))
    return {label: whole[label] + (label in by_remainder[:left]) for label in shares}


# The rules by which a selector picks, and the reasons it gives.


@dataclass(frozen=True, slots=True)
class Threshold:
    """Choose every unit whose overall score reaches the pick threshold (section 4.3)."""

    value: float


@dataclass(frozen=True, slots=True)
class TotalAgreement:
    """Choose every unit whose matching score is 1 (section 3.2)."""


@dataclass(frozen=True, slots=True)
class TopN:
    """Choose the `count` units with the best overall scores; between equal ones a hash of the unit's id decides."""

    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """Choose the best `fraction` of the units that can be chosen at all."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Precision:
    """Choose with a threshold of which at least `target` of the chosen are right, by what is known of dev.

    That is a promise, which may be broken in one run of 1 / (1 − confidence) at most: the threshold is the lowest that
    a fixed sequence of tests reaches, and nothing is chosen where no test passes. With a confidence of None it is
    an estimate, which misses its target in up to half of all runs: the lowest threshold of which so many are
    expected to be right, and the best where there is none. Choices of fewer than `at_least` dev units prove nothing.
    """

    target: float
    at_least: int = 20
    confidence: float | None = field(default=0.9, kw_only=True)


@dataclass(frozen=True, slots=True)
class FalseDiscovery:
    """Choose by conformal selection: of what is chosen, a share of `level` at most is wrong, on average over runs."""

    level: float


@dataclass(frozen=True, slots=True)
class Random:
    """Choose `count` of the units that can be chosen at all, whatever their scores: a control."""

    count: int
    seed: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """Choose no unit: training goes on with gold alone."""


Aim = Precision | FalseDiscovery
"""Rules whose threshold is found anew in each iteration, on dev (`TaskPlan.probe`, loop/thresholds.py)."""

Pick = Threshold | TotalAgreement | TopN | Share | Aim | Random | Nothing


class Reason(StrEnum):
    """Why a unit was chosen or not, in the words of the store."""

    CHOSEN = "chosen"
    FILLS_QUOTA = "chosen to fill a quota"  # the rule alone would not have chosen it
    QUOTA_FULL = "quota full"  # the rule alone would have chosen it
    BELOW_THRESHOLD = "score below threshold"
    BELOW_AGREEMENT = "matching below 1"
    NOTHING_TO_MATCH = "nothing to match"
    NO_CONTENT = "no content"
    NOT_DRAWN = "not drawn"
    NOT_SELECTING = "not selecting"
    ACCEPTED_BY_HAND = "accepted by hand"
    CORRECTED_BY_HAND = "corrected by hand"
    REJECTED_BY_HAND = "rejected by hand"


FloatColumn = npt.NDArray[np.float64]

BoolColumn = npt.NDArray[np.bool_]

DrawColumn = npt.NDArray[np.uint64]


SPARE = 10_000
"""So many units more than needed are held before they are sorted out: two hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What selection sees of a batch of units, as columns. A match of NaN: there was nothing to match.

    `label` is the kind of each label or, where it has none, its JSON; only a selector that balances uses it. `learned`
    is P(right) by a score that was fitted on dev, or by votes (loop/selection.py), if there is one.
    """

    unit: Sequence[str]
    confidence: FloatColumn
    match: FloatColumn
    content: BoolColumn
    label: Sequence[str] = ()
    learned: FloatColumn | None = None


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The last place that is still chosen: a score and, between units of that same score, the last draw.

    The score is NaN where there is none, and then nothing is chosen.
    """

    score: float
    draw: int = np.iinfo(np.uint64).max


@dataclass(frozen=True, slots=True)
class Quotas:
    """The last place for each label where the choice is balanced; `alone` is the rule's own, without quotas."""

    of: Mapping[str, Cutoff]
    alone: Cutoff


Line = Cutoff | Quotas
"""One place for all units, or one for each label."""


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

    `confidence_weight` w is α (or β) of section 4.3; 1 is classic self-training and needs no match. `unmatched` decides
    what becomes of units with nothing to match: they are rejected, or their confidence alone is the overall score.
    `content` "only" leaves out labels without content. `weight` is what a chosen label weighs in training: "one", or
    its confidence (STBR). `balance` gives each label, by its kind or its JSON, a share of what the rule would choose:
    of every label the best are chosen until its share is full; labels without a share are not chosen. `score` "learned"
    takes for the overall score the probability of being right that is fitted on dev in each iteration, "votes" the one
    that the opinions of the task and two friends or more come to (loop/selection.py).
    """

    pick: Pick
    confidence_weight: float = 0.2
    unmatched: Literal["reject", "confidence"] = "reject"
    content: Literal["any", "only"] = "any"
    weight: Literal["one", "confidence"] = "one"
    balance: Mapping[str, float] | None = None
    score: Literal["paper", "learned", "votes"] = "paper"

    def __post_init__(self) -> None:
        _check(0 <= self.confidence_weight <= 1, "confidence_weight", self.confidence_weight, "a number from 0 to 1")
        _check(self.unmatched in ("reject", "confidence"), "unmatched", self.unmatched, "'reject' or 'confidence'")
        _check(self.content in ("any", "only"), "content", self.content, "'any' or 'only'")
        _check(self.weight in ("one", "confidence"), "weight", self.weight, "'one' or 'confidence'")
        _check(self.score in ("paper", "learned", "votes"), "score", self.score, "'paper', 'learned' or 'votes'")
        voted = self.score == "votes" and isinstance(self.pick, Aim)
        _check(not voted, "pick", self.pick, "a number or a share where the score is votes, which ask no dev")
        shares = list((self.balance or {}).values())
        _check(all(0 <= share <= 1 for share in shares), "balance", self.balance, "shares from 0 to 1")
        match self.pick:
            case TopN(count) | Random(count):
                _check(count >= 0, "count", count, "0 or more")
            case Share(fraction):
                _check(0 <= fraction <= 1, "fraction", fraction, "a number from 0 to 1")
            case Precision(target, at_least, confidence=None):
                _check(0 <= target <= 1, "target", target, "a number from 0 to 1")
                _check(at_least >= 1, "at_least", at_least, "1 or more")
            case Precision(target, at_least, confidence=float(confidence)):
                _check(0 < target < 1, "target", target, "a number between 0 and 1, neither of which can be promised")
                _check(at_least >= 1, "at_least", at_least, "1 or more")
                _check(0.5 <= confidence < 1, "confidence", confidence, "a number from 0.5 to below 1")
            case FalseDiscovery(level):
                _check(0 < level < 1, "level", level, "a number between 0 and 1")
            case Threshold(value):
                _check(math.isfinite(value), "value", value, "a finite number")

    @property
    def needs_dev(self) -> bool:
        """Whether dev has to be labelled before this selector can choose: for its threshold, or for its score."""
        return self.score == "learned" or isinstance(self.pick, Aim)

    @property
    def needs_match(self) -> bool:
        """Whether a unit without a matching score can never be chosen."""
        match self.pick:
            case Nothing():
                return False
            case TotalAgreement():
                return True
            case _:
                return self.score == "paper" and self.confidence_weight < 1 and self.unmatched == "reject"

    def overall(self, scores: Scores) -> FloatColumn:
        """s_k and r_t of section 4.3, or P(right); NaN for units that are rejected for want of a match."""
        if self.score != "paper":
            if scores.learned is None:
                raise ConfigError(
                    f"selector: score {self.score!r} is found first, on dev or by votes (loop/selection.py)"
                )
            return scores.learned
        if self.confidence_weight == 1:
            return scores.confidence
        matched = self.confidence_weight * scores.confidence + (1 - self.confidence_weight) * scores.match
        instead = scores.confidence if self.unmatched == "confidence" else np.nan
        return np.where(np.isnan(scores.match), instead, matched)

    def cutoff(self, batches: Iterable[Scores]) -> Line:
        """Find the line; fixed thresholds need no unit.

        A share is one of a number that has to be counted first: then the batches are gone over twice, so they must be a
        list or something else that can be begun again.
        """
        if self.balance is not None:
            return self._balanced(batches, self.balance)
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
                return _last_of_best(map(self._candidates, batches), round(fraction * self._count(batches)))
            case Precision() | FalseDiscovery():
                raise _not_aimed()

    def _count(self, batches: Iterable[Scores]) -> int:
        """How many units can be chosen at all."""
        if isinstance(batches, Iterator):
            raise TypeError("these batches can be gone over only once, and a share takes two passes")
        return sum(int(self.possible(batch).sum()) for batch in batches)

    def decide(self, scores: Scores, cutoff: Line) -> Decisions:
        """Choose or reject each unit of a batch, with the reason (Eq. 5)."""
        key = self._key(scores)
        line, last = _lines(cutoff, scores)
        tied = key == line
        if isinstance(cutoff, Quotas):
            tied |= key == cutoff.alone.score
        draw = self._draw(scores, tied)
        passes = (key > line) | ((key == line) & (draw <= last))
        verdicts = [*self._obstacles(scores), *_verdicts(passes, key, draw, cutoff)]
        reason = np.select([holds for holds, _ in verdicts], [why for _, why in verdicts], self._missed.value)
        chosen = (reason == Reason.CHOSEN.value) | (reason == Reason.FILLS_QUOTA.value)
        return Decisions(
            overall=self.overall(scores),
            threshold=np.full(len(chosen), np.nan) if isinstance(self.pick, Random) else line,
            chosen=chosen,
            reason=reason,
            weight=chosen * (scores.confidence if self.weight == "confidence" else 1.0),
        )

    @property
    def _missed(self) -> Reason:
        """The reason for a unit that could have been chosen and was not."""
        match self.pick:
            case Threshold() | TopN() | Share() | Precision() | FalseDiscovery():
                return Reason.BELOW_THRESHOLD
            case TotalAgreement():
                return Reason.BELOW_AGREEMENT
            case Random():
                return Reason.NOT_DRAWN
            case Nothing():
                return Reason.NOT_SELECTING

    def _obstacles(self, scores: Scores) -> list[tuple[BoolColumn, str]]:
        """The reason why units cannot be chosen, whatever their scores."""
        if isinstance(self.pick, Nothing):
            return []
        empty = ~scores.content if self.content == "only" else np.zeros_like(scores.content)
        unmatched = np.isnan(scores.match) if self.needs_match else np.zeros_like(scores.content)
        return [(empty, Reason.NO_CONTENT.value), (unmatched, Reason.NOTHING_TO_MATCH.value)]

    def _key(self, scores: Scores) -> FloatColumn:
        """Units are chosen from the highest key down and, where keys are equal, from the lowest draw up."""
        match self.pick:
            case Random():
                return np.zeros(len(scores.unit))
            case TotalAgreement():
                return scores.match
            case _:
                return self.overall(scores)

    def _draw(self, scores: Scores, wanted: BoolColumn) -> DrawColumn:
        """The draws of the units that are wanted, each a hash, which takes time; 0 for others."""
        column = np.zeros(len(scores.unit), np.uint64)
        units = [scores.unit[row] for row in np.flatnonzero(wanted).tolist()]
        match self.pick:
            case Random(seed=seed):
                column[wanted] = draws(units, "random", seed)
            case TopN() | Share():
                column[wanted] = draws(units, "tie")
            case _ if self.balance is not None:
                column[wanted] = draws(units, "tie")
        return column

    def _candidates(self, scores: Scores) -> tuple[FloatColumn, DrawColumn]:
        possible = self.possible(scores)
        return self._key(scores)[possible], self._draw(scores, possible)[possible]

    def possible(self, scores: Scores) -> BoolColumn:
        """Which units can be chosen at all, whatever their scores."""
        possible: BoolColumn = np.logical_and.reduce([~failed for failed, _ in self._obstacles(scores)])
        return possible

    def _balanced(self, batches: Iterable[Scores], shares: Mapping[str, float]) -> Quotas:
        """For each label the last place that its share leaves room for, and never below a fixed threshold.

        A share is one of what the rule alone would choose: so many as reach a threshold, or the number it names.
        """
        if isinstance(self.pick, Nothing):
            return Quotas({}, Cutoff(np.nan))
        match self.pick:
            case Threshold(lowest):
                most, total = None, None
            case TotalAgreement():
                lowest, most, total = 1.0, None, None
            case TopN(count) | Random(count):
                lowest, most, total = -np.inf, count, None
            case Share(fraction):
                total = round(fraction * self._count(batches))
                lowest, most = -np.inf, total
            case Precision() | FalseDiscovery():
                raise _not_aimed()
        best = {
            # Whatever the total turns out to be, the quota of a label is its share of it rounded up, at most.
            label: Best(None if most is None else math.floor(share * most) + 1)
            for label, share in shares.items()
        }
        of_all = Best(most)
        reached = 0
        for batch in batches:
            key, draw = self._candidates(batch)
            label = np.array(batch.label, np.object_)[self.possible(batch)]
            passing = key >= lowest
            reached += int(passing.sum())
            if most is not None:
                of_all.add(key[passing], draw[passing])
            for name in set(label[passing].tolist()) & best.keys():
                rows = passing & (label == name)
                best[name].add(key[rows], draw[rows])
        if total is None:
            total = reached if most is None else min(most, reached)
        room = quotas(shares, total)
        alone = Cutoff(lowest) if most is None else of_all.cutoff(most)
        return Quotas({name: best[name].cutoff(room[name]) for name in shares}, alone)


class Best:
    """The best `most` units of those that came along, by score and draw; all of them without `most`."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._held = 0
        self._parts: list[tuple[FloatColumn, DrawColumn]] = []

    def add(self, scores: FloatColumn, draw: DrawColumn) -> None:
        self._parts.append((scores, draw))
        self._held += len(scores)
        # Not after every batch: to sort is worth it when as many again have come.
        if self.most is not None and self._held > 2 * self.most + SPARE:
            self._shorten(self.most)

    def cutoff(self, count: int) -> Cutoff:
        """The place of the `count`-th best, or of the last one where there are fewer."""
        scores, draw = self._shorten(count)
        return Cutoff(float(scores[-1]), int(draw[-1])) if len(scores) else Cutoff(np.nan)

    def _shorten(self, count: int) -> tuple[FloatColumn, DrawColumn]:
        scores = np.concatenate([np.empty(0), *(part for part, _ in self._parts)])
        draw = np.concatenate([np.empty(0, np.uint64), *(part for _, part in self._parts)])
        order = np.lexsort((draw, -scores))[:count]
        self._parts, self._held = [(scores[order], draw[order])], len(order)
        return self._parts[0]


def _lines(cutoff: Line, scores: Scores) -> tuple[FloatColumn, DrawColumn]:
    """The line of each unit, as columns: a score and the last draw there."""
    if isinstance(cutoff, Cutoff):
        return np.full(len(scores.unit), cutoff.score), np.full(len(scores.unit), cutoff.draw, np.uint64)
    lines = [cutoff.of.get(label, Cutoff(np.nan)) for label in scores.label]
    return np.array([line.score for line in lines], np.float64), np.array([line.draw for line in lines], np.uint64)


def _verdicts(passes: BoolColumn, key: FloatColumn, draw: DrawColumn, cutoff: Line) -> list[tuple[BoolColumn, str]]:
    """What quotas have to do with it, where there are some, is told apart."""
    if isinstance(cutoff, Cutoff):
        return [(passes, Reason.CHOSEN.value)]
    alone = (key > cutoff.alone.score) | ((key == cutoff.alone.score) & (draw <= cutoff.alone.draw))
    return [
        (passes & alone, Reason.CHOSEN.value),
        (passes, Reason.FILLS_QUOTA.value),
        (alone, Reason.QUOTA_FULL.value),
    ]


def _last_of_best(batches: Iterable[tuple[FloatColumn, DrawColumn]], count: int) -> Cutoff:
    best = Best(count)
    for scores, draw in batches:
        best.add(scores, draw)
    return best.cutoff(count)


def _not_aimed() -> ConfigError:
    return ConfigError(
        "selector: the threshold of Precision or FalseDiscovery is found on dev first (loop/thresholds.py)"
    )


def _check(holds: bool, name: str, given: object, allowed: str) -> None:
    if not holds:
        raise ConfigError(f"selector: {name} is {given!r}, expected {allowed}")
