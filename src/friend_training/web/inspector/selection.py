"""What another selector would choose of the same pseudo-labels, at once: the core's own code, over whole columns."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from friend_training.core.corrections import Places, overruled
from friend_training.core.picks import Reason, Threshold
from friend_training.core.selector import Decisions, Selector
from friend_training.web.inspector.units import Units

BINS = 40
REMEMBERED = 16
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Setting(BaseModel):
    """Where the sliders stand: w (α or β of section 4.3), the pick threshold, and which labels can be chosen at all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    confidence_weight: Share
    threshold: Share
    content: Literal["any", "only"] = "any"
    unmatched: Literal["reject", "confidence"] = "reject"

    @property
    def selector(self) -> Selector:
        return Selector(
            Threshold(self.threshold), self.confidence_weight, content=self.content, unmatched=self.unmatched
        )


@dataclass(frozen=True, slots=True)
class Histogram:
    """Units by overall score, in bins of equal width from 0 to 1: chosen or not, right, wrong or nobody knows."""

    chosen: dict[str, list[int]]
    rejected: dict[str, list[int]]
    without_score: int


def decide(units: Units, setting: Setting | None, places: Places) -> Decisions:
    """What the selector of this setting chooses, or what the run chose; a person's word goes over both."""
    if setting is None:
        return overruled(units.recorded, places)
    selector = setting.selector
    return overruled(selector.decide(units.scores, selector.cutoff(())), places)


@lru_cache(REMEMBERED)
def recorded_setting(units: Units) -> Setting | None:
    """The setting that the run chose with, read off its scores; None where it chose by no threshold.

    A unit whose confidence and match differ tells w, since overall = w·confidence + (1 − w)·match. Where the threshold
    was the score of the last of so many (TopN), units of that same score may come out otherwise.
    """
    recorded, scores = units.recorded, units.scores
    thresholds = np.unique(recorded.threshold[~np.isnan(recorded.threshold)])
    if len(thresholds) != 1 or not 0 <= thresholds[0] <= 1:
        return None
    known = (np.abs(scores.confidence - scores.match) > 0.01) & ~np.isnan(recorded.overall)
    if known.any():
        weights = (recorded.overall - scores.match)[known] / (scores.confidence - scores.match)[known]
        weight = float(np.clip(np.round(np.median(weights), 6), 0, 1))
    else:
        weight = 1.0
    unmatched = np.isnan(scores.match)
    by_confidence = bool((unmatched & ~np.isnan(recorded.overall)).any()) and weight < 1
    return Setting(
        confidence_weight=weight,
        threshold=float(thresholds[0]),
        content="only" if (recorded.reason == Reason.NO_CONTENT.value).any() else "any",
        unmatched="confidence" if by_confidence else "reject",
    )


def summary(units: Units, decisions: Decisions) -> dict[str, Any]:
    """Counts, precision where gold is known, and the histogram."""
    right, wrong = units.correct == 1, units.correct == 0
    chosen_known = int((decisions.chosen & (right | wrong)).sum())
    known = int((right | wrong).sum())
    return {
        "units": len(units),
        "chosen": int(decisions.chosen.sum()),
        "precision": int((decisions.chosen & right).sum()) / chosen_known if chosen_known else None,
        "accuracy": int(right.sum()) / known if known else None,
        "reasons": reason_counts(decisions),
        "histogram": histogram(units, decisions),
    }


def reason_counts(decisions: Decisions) -> dict[str, int]:
    """How many units met which reason. Comparing with each reason there is takes a tenth of the time of sorting."""
    counts = {reason.value: int((decisions.reason == reason.value).sum()) for reason in Reason}
    return {reason: count for reason, count in counts.items() if count}


def histogram(units: Units, decisions: Decisions) -> Histogram:
    scored = ~np.isnan(decisions.overall)
    place = np.minimum((decisions.overall[scored] * BINS).astype(np.int64), BINS - 1)
    truth = np.select([units.correct == 1, units.correct == 0], [0, 1], 2)[scored]
    code = place * 6 + decisions.chosen[scored] * 3 + truth
    counts = np.bincount(code, minlength=BINS * 6).reshape(BINS, 2, 3)  # bin, chosen, right/wrong/unknown
    names = ("right", "wrong", "unknown")
    rejected, chosen = (
        {name: counts[:, which, number].tolist() for number, name in enumerate(names)} for which in (0, 1)
    )
    return Histogram(chosen, rejected, int((~scored).sum()))
