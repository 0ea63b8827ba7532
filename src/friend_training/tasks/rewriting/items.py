"""Dialogues ready for the rewriter: edit scripts of characters as decisions about pieces."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from friend_training.examples import Dialogue, Rewrite
from friend_training.nn.rendering import Rendered

NO_START, NO_END = 1, 0
"""'No insertion' is start > end: it is trained as start = 1, end = 0, which is [CLS] (DESIGN 5.10)."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """For the pieces of u_t: kept (1) or not (0); for these and the end: first and last piece of the insertion."""

    keep: NDArray[np.int64]  # [U]
    start: NDArray[np.int64]  # [U + 1]
    end: NDArray[np.int64]  # [U + 1]


@dataclass(frozen=True, slots=True)
class RewriteItem:
    """A rendered dialogue; pieces [first, last) are those of u_t and piece `last` is the place at its end."""

    dialogue: Dialogue
    rendered: Rendered
    first: int
    last: int
    decisions: Decisions | None
    weight: float

    @property
    def length(self) -> int:
        return len(self.rendered)


def rewrite_item(
    dialogue: Dialogue, rendered: Rendered, script: Rewrite | None, *, weight: float = 1.0
) -> RewriteItem | None:
    """None if the script cannot be said in pieces (it cuts through one, or its source was cut off)."""
    current = len(dialogue.turns) - 1
    places = np.flatnonzero(rendered.turn == current)
    last = len(rendered) - 1
    first = int(places[0]) if len(places) else last
    if script is None:
        return RewriteItem(dialogue, rendered, first, last, None, weight)
    decisions = _decisions(script, rendered, first, last)
    return None if decisions is None else RewriteItem(dialogue, rendered, first, last, decisions, weight)


def _decisions(script: Rewrite, rendered: Rendered, first: int, last: int) -> Decisions | None:
    starts, ends = rendered.start[first:last], rendered.end[first:last]
    deleted = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    inside = [offset for offset in script.deleted if offset < len(deleted)]
    deleted[inside] = 1
    gone = np.array([deleted[start:end].sum() for start, end in zip(starts, ends, strict=True)], dtype=np.int64)
    # Several pieces may stand for one character: it is deleted once.
    reached = {at for start, end in zip(starts[gone > 0], ends[gone > 0], strict=True) for at in range(start, end)}
    if not np.all((gone == 0) | (gone == ends - starts)) or len(reached) != len(script.deleted):
        return None
    start = np.full(last - first + 1, NO_START, dtype=np.int64)
    end = np.full(last - first + 1, NO_END, dtype=np.int64)
    for insertion in script.insertions:
        slot = int(np.searchsorted(starts, insertion.before))  # the first piece that begins there or later
        if slot > 0 and ends[slot - 1] > insertion.before:
            return None
        source = rendered.covering(insertion.turn, insertion.start, insertion.end)
        if source is None or start[slot] <= end[slot]:
            return None
        if rendered.start[source[0]] != insertion.start or rendered.end[source[1] - 1] != insertion.end:
            return None
        start[slot], end[slot] = source[0], source[1] - 1
    return Decisions(keep=(gone == 0).astype(np.int64), start=start, end=end)
