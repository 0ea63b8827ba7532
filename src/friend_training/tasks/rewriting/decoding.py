"""The rewriter's output as edit scripts, with the confidence b_t of each (sections 4.1 and 4.3)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from friend_training.nn.heads import Head
from friend_training.tasks.dialogue_input import NO_TURN
from friend_training.tasks.rewriting.edits import apply_script
from friend_training.tasks.rewriting.model import NO_END, NO_START, RewriteBatch, RewriteItem
from friend_training.types import Insertion, Rewrite

SpanChoice = Literal["apart", "together"]
"""How first and last token of an insertion are chosen: each by itself, as in the paper, and if the two make no span
nothing is inserted ("apart"); or the likeliest pair that is a span of one turn, or none ("together")."""


def decode_rewrites(
    heads: Sequence[Head], batch: RewriteBatch, spans: SpanChoice = "apart"
) -> list[tuple[Rewrite, float]]:
    """The likeliest decisions of all three heads. b_t is the product of the probabilities of every decision made."""
    keeping, *bounds = (head.logits.log_softmax(dim=-1) for head in heads)
    chosen = [keeping.argmax(dim=-1)]  # [B, N]
    chosen += _pairs(bounds[0], bounds[1], batch) if spans == "together" else [logs.argmax(dim=-1) for logs in bounds]
    log_confidence = torch.zeros(len(batch.items), dtype=torch.double)
    for head, logs, choice in zip(heads, (keeping, *bounds), chosen, strict=True):
        log_confidence += (logs.gather(2, choice.unsqueeze(2)).squeeze(2).double() * head.mask).sum(dim=1)
    keep, start, end = (choice.numpy() for choice in chosen)
    confidence = log_confidence.exp().tolist()
    return [(_script(item, keep[row], start[row], end[row]), confidence[row]) for row, item in enumerate(batch.items)]


def _pairs(start: Tensor, end: Tensor, batch: RewriteBatch) -> list[Tensor]:
    """The likeliest (first, last) of each slot with first ≤ last in one turn, or that of no insertion: [B, N] each.

    The best first token for every last one is a running maximum that begins anew with each turn: turns follow each
    other, so a step from turn to turn that is higher than any log-probability is deep makes it forget the turn before.
    """
    turn = batch.turn.unsqueeze(1)  # [B, 1, M]
    start, end = start.double(), end.double()  # steps and log-probabilities in one number
    step = 1.0 - start.min()
    running, first = (start + step * turn).cummax(dim=2)
    scores = (running - step * turn + end).masked_fill(turn == NO_TURN, -torch.inf)  # [B, N, M]
    best, last = scores.max(dim=2)
    insert = best > start[:, :, NO_START] + end[:, :, NO_END]
    return [
        torch.where(insert, first.gather(2, last.unsqueeze(2)).squeeze(2), NO_START),
        torch.where(insert, last, NO_END),
    ]


def _script(item: RewriteItem, keep: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> Rewrite:
    layout = item.rendered
    width = item.last - item.first
    # Some tokenizers cut one character into several tokens: it is deleted once, and has one insertion before it.
    deleted: set[int] = set()
    for slot in np.flatnonzero(keep[:width] == 0).tolist():
        token = item.first + slot
        deleted.update(range(int(layout.start[token]), int(layout.end[token])))
    insertions: dict[int, Insertion] = {}
    for slot in np.flatnonzero(start[: width + 1] <= end[: width + 1]).tolist():
        first, last = int(start[slot]), int(end[slot])
        turn = int(layout.turn[first])
        if turn == NO_TURN or layout.turn[last] != turn:  # a span lies in one turn: anything else is no insertion
            continue
        at_end = slot == width
        before = len(item.dialogue.utterance.text) if at_end else int(layout.start[item.first + slot])
        insertions.setdefault(before, Insertion(before, turn, int(layout.start[first]), int(layout.end[last])))
    script = Rewrite("", tuple(sorted(deleted)), tuple(insertions.values()))
    return Rewrite(apply_script(item.dialogue, script), script.deleted, script.insertions)
