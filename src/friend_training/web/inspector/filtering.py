"""Which units are listed: filters over columns, an order, a page."""

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from friend_training.core.selector import Decisions
from friend_training.web.inspector.selection import Setting, Share
from friend_training.web.inspector.texts import Texts
from friend_training.web.inspector.units import Units

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
