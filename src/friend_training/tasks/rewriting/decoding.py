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
from friend_training.tasks.rewriting.model import NO_END, NO_START, RewriteBatch, RewriteItem, decisions_of
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


def ranked_rewrites(heads: Sequence[Head], batch: RewriteBatch, k: int) -> list[list[tuple[Rewrite, float]]]:
    """The k likeliest scripts of each item with the product of their probabilities, the likeliest first.

    First and last token of an insertion are a span of one turn ("together"). Decisions are independent of each other,
    so the k best of all of them come from the k best of each, put together one after the other.
    """
    keeping, start, end = (head.logits.log_softmax(dim=-1).double() for head in heads)
    items, slots, tokens = start.shape
    turn = batch.turn
    order = torch.arange(tokens)
    span = (turn.unsqueeze(2) == turn.unsqueeze(1)) & (turn != NO_TURN).unsqueeze(2)  # [B, first, last]
    span = (span & (order[:, None] <= order)).flatten(1)  # [B, M · M]
    best = torch.full((items, k), -torch.inf, dtype=torch.double)
    best[:, 0] = 0.0
    decisions: list[tuple[Tensor, Tensor]] = []  # of each decision: which of the best it goes on from, and its choice
    for slot in range(slots):
        real = batch.is_token[:, slot, None]
        options = torch.where(real, keeping[:, slot], torch.tensor([-torch.inf, 0.0], dtype=torch.double))  # keep is 1
        best = _put_together(best, options, torch.arange(2).expand(items, 2), k, decisions)
        pairs = (start[:, slot, :, None] + end[:, slot, None, :]).flatten(1).masked_fill(~span, -torch.inf)
        likeliest, place = pairs.topk(min(k, tokens * tokens), dim=1)
        nothing = (start[:, slot, NO_START] + end[:, slot, NO_END]).unsqueeze(1)
        none = torch.full_like(place[:, :1], NO_START * tokens + NO_END)
        options, choices = torch.cat([nothing, likeliest], dim=1), torch.cat([none, place], dim=1)
        real = batch.is_slot[:, slot, None]
        only = torch.full_like(options, -torch.inf)
        only[:, 0] = 0.0
        best = _put_together(best, torch.where(real, options, only), choices, k, decisions)
    chosen = torch.zeros(2 * slots, items, k, dtype=torch.long)
    rank = torch.arange(k).expand(items, k)
    for number in reversed(range(2 * slots)):
        before, choice = decisions[number]
        chosen[number] = choice.gather(1, rank)
        rank = before.gather(1, rank)
    keep, pair = chosen[0::2].permute(1, 2, 0).numpy(), chosen[1::2].permute(1, 2, 0).numpy()  # [B, k, N]
    confidence = best.exp().tolist()
    ranked: list[list[tuple[Rewrite, float]]] = []
    for row, item in enumerate(batch.items):
        found: dict[Rewrite, float] = {}
        for at in torch.nonzero(best[row].isfinite()).flatten().tolist():
            script = _script(item, keep[row, at], pair[row, at] // tokens, pair[row, at] % tokens)
            found.setdefault(script, confidence[row][at])
        ranked.append(list(found.items()))
    return ranked


def _put_together(
    best: Tensor, options: Tensor, choices: Tensor, k: int, decisions: list[tuple[Tensor, Tensor]]
) -> Tensor:
    """The k best of what was decided before [B, k] with one more decision [B, options]; remembers how it was made."""
    sums = (best.unsqueeze(2) + options.unsqueeze(1)).flatten(1)
    best, place = sums.topk(k, dim=1)
    decisions.append((place // options.size(1), choices.gather(1, place % options.size(1))))
    return best


def log_likelihood_of_rewrites(
    heads: Sequence[Head], batch: RewriteBatch, scripts: Sequence[Sequence[Rewrite]]
) -> list[list[float]]:
    """The log-probability of each item's scripts: of every decision that they are made of; -inf where tokens cannot
    express a script, or it inserts what may not be inserted."""
    logs = [head.logits.log_softmax(dim=-1).double().numpy() for head in heads]
    source = batch.source.numpy()
    found: list[list[float]] = []
    for row, (item, of_item) in enumerate(zip(batch.items, scripts, strict=True)):
        found.append([])
        for script in of_item:
            decisions = decisions_of(script, item.rendered, item.first, item.last)
            total = -np.inf
            if decisions is not None and not script.unsure:
                inserted = decisions.start <= decisions.end
                if source[row, decisions.start[inserted]].all():
                    parts = zip(logs, (decisions.keep, decisions.start, decisions.end), strict=True)
                    total = sum(float(of[row, np.arange(len(made)), made].sum()) for of, made in parts)
            found[-1].append(total)
    return found


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
