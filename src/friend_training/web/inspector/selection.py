"""What another selector would choose of the same pseudo-labels, at once: the core's own code, over whole columns."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, model_validator

from friend_training.core.selector import Decisions, Reason, Selector, Threshold
from friend_training.runs.corrections import Places, overruled
from friend_training.runs.store import nullable
from friend_training.web.inspector.unit_view import Texts, Units

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


# Which units are listed: filters over columns, an order, a page.


Rows = npt.NDArray[np.intp]

Sort = Literal["store", "overall", "confidence", "match"]

LONGEST_SEARCH = 200


class Wanted(BaseModel):
    """A task, an iteration, and a selector if not the run's own. Names that are not here are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    iteration: Annotated[int, Field(ge=1)]
    confidence_weight: Share | None = None
    threshold: Share | None = None
    content: Literal["any", "only"] = "any"
    unmatched: Literal["reject", "confidence"] = "reject"

    @model_validator(mode="after")
    def _both_sliders_or_none(self) -> "Wanted":
        if (self.confidence_weight is None) != (self.threshold is None):
            raise ValueError("give confidence_weight and threshold, or none of them for the run's own selection")
        return self

    @property
    def setting(self) -> Setting | None:
        if self.confidence_weight is None or self.threshold is None:
            return None
        return Setting(
            confidence_weight=self.confidence_weight,
            threshold=self.threshold,
            content=self.content,
            unmatched=self.unmatched,
        )


class Filter(Wanted):
    """Units outside a range of scores are left out, and so are those without the score."""

    chosen: bool | None = None
    reason: Annotated[str, Field(max_length=LONGEST_SEARCH)] | None = None
    by_hand: bool = False
    correct: Literal["right", "wrong", "unknown"] | None = None
    confidence_from: Share | None = None
    confidence_to: Share | None = None
    match_from: Share | None = None
    match_to: Share | None = None
    overall_from: Share | None = None
    overall_to: Share | None = None
    search: Annotated[str, Field(max_length=LONGEST_SEARCH)] = ""
    sort: Sort = "store"
    descending: bool = True


class PageWanted(Filter):
    page: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    size: Annotated[int, Field(ge=1, le=100)] = 25


def passing(units: Units, decisions: Decisions, wanted: Filter, texts: Texts, corrected: set[int]) -> Rows:
    """The rows that pass every filter, in the order wanted; `corrected` are those that somebody has ruled on."""
    keep = np.ones(len(units), bool)
    if wanted.chosen is not None:
        keep &= decisions.chosen == wanted.chosen
    if wanted.reason is not None:
        keep &= decisions.reason == wanted.reason
    if wanted.correct is not None:
        keep &= {"right": units.correct == 1, "wrong": units.correct == 0, "unknown": np.isnan(units.correct)}[
            wanted.correct
        ]
    if wanted.by_hand:
        ruled = np.zeros(len(units), bool)
        ruled[list(corrected)] = True
        keep &= ruled
    scores = {"confidence": units.scores.confidence, "match": units.scores.match, "overall": decisions.overall}
    for name, column in scores.items():
        low, high = getattr(wanted, f"{name}_from"), getattr(wanted, f"{name}_to")
        if low is not None:
            keep &= column >= low
        if high is not None:
            keep &= column <= high
    if wanted.search:
        keep &= _found(units, wanted.search, texts)
    rows = np.flatnonzero(keep)
    if wanted.sort == "store":
        return rows
    column = scores[wanted.sort][rows]
    return rows[np.argsort(-column if wanted.descending else column, kind="stable")]  # NaN comes last


def _found(units: Units, search: str, texts: Texts) -> npt.NDArray[np.bool_]:
    """Units whose id, or whose input's text, has these characters, upper case or lower."""
    found: npt.NDArray[np.bool_] = pc.match_substring(units.rows["unit"], search, ignore_case=True).to_numpy()
    in_text: npt.NDArray[np.bool_] = pc.is_in(units.rows["input"], texts.containing(search)).to_numpy()
    return found | in_text


# Any selection as a file: one unit per line or row, with its text, its label and what became of it.


AT_A_TIME = 2000
"""Units that are in memory as text at once, so that a large export takes no large memory."""


def table(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> pa.Table:
    """The units as columns. A label that was corrected by hand is the corrected one; `data` is the input as JSON."""
    kept = units.rows.take(rows)
    labels = units.labels["label"].take(rows).to_pylist()
    for number, row in enumerate(rows.tolist()):
        ruling = places.get(row)
        if ruling is not None and ruling.label is not None:
            labels[number] = ruling.label
    inputs = kept["input"].to_pylist()
    given = [texts.get(name) for name in inputs]
    return pa.table(
        {
            "task": pa.array([units.task] * len(rows), pa.string()),
            "iteration": pa.array([units.iteration] * len(rows), pa.int32()),
            "unit": kept["unit"],
            "input": kept["input"],
            "data": pa.array([None if g is None else json.dumps(g, ensure_ascii=False) for g in given], pa.string()),
            "label": pa.array(labels, pa.string()),
            "confidence": kept["confidence"],
            "match": kept["match"],
            "overall": nullable(decisions.overall[rows]),
            "chosen": decisions.chosen[rows],
            "reason": pa.array(decisions.reason[rows].tolist(), pa.string()),
            "correct": kept["correct"],
        }
    )


def jsonl(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> Iterator[bytes]:
    """Label and data are JSON objects here, not text."""
    for start in range(0, len(rows), AT_A_TIME):
        part = table(units, decisions, rows[start : start + AT_A_TIME], places, texts)
        lines = []
        for line in part.to_pylist():
            line["label"] = json.loads(line["label"])
            line["data"] = None if line["data"] is None else json.loads(line["data"])
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        yield "".join(lines).encode()


def parquet(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table(units, decisions, rows, places, texts), sink, compression="zstd")
    written: bytes = sink.getvalue().to_pybytes()
    return written
