"""The rewriter's output as edit scripts, with the confidence b_t of each (sections 4.1 and 4.3)."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from friend_training.examples import Insertion, Rewrite
from friend_training.nn.heads import Head
from friend_training.nn.rendering import NO_TURN
from friend_training.tasks.rewriting.edits import apply_script
from friend_training.tasks.rewriting.items import RewriteItem
from friend_training.tasks.rewriting.model import RewriteBatch


def decode_rewrites(heads: Sequence[Head], batch: RewriteBatch) -> list[tuple[Rewrite, float]]:
    """Column-wise argmax of all three heads. b_t is the product of the probabilities of every decision made."""
    log_confidence = torch.zeros(len(batch.items), dtype=torch.double)
    best: list[NDArray[np.int64]] = []
    for head in heads:
        logs, choice = head.logits.log_softmax(dim=-1).max(dim=-1)  # [B, N]
        log_confidence += (logs.double() * head.mask).sum(dim=1)
        best.append(choice.numpy())
    keep, start, end = best
    confidence = log_confidence.exp().tolist()
    return [(_script(item, keep[row], start[row], end[row]), confidence[row]) for row, item in enumerate(batch.items)]


def _script(item: RewriteItem, keep: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> Rewrite:
    layout = item.rendered
    width = item.last - item.first
    # Some tokenizers cut one character into several pieces: it is deleted once, and has one insertion before it.
    deleted: set[int] = set()
    for slot in np.flatnonzero(keep[:width] == 0).tolist():
        piece = item.first + slot
        deleted.update(range(int(layout.start[piece]), int(layout.end[piece])))
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
