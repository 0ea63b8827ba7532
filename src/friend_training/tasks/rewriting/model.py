"""The rewriter's network: keep or delete each token, and which span goes in front of it (section 4.1).

Its inputs are edit scripts of characters as decisions about tokens; its output is edit scripts, with the confidence
b_t of each (section 4.3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import MASKED, UNKNOWN, Head
from friend_training.nn.interfaces import pad
from friend_training.tasks.dialogue_input import NO_TURN, Rendered
from friend_training.tasks.rewriting.edits import SpanSource, apply_script
from friend_training.types import Dialogue, Insertion, Rewrite

NO_START, NO_END = 1, 0
"""'No insertion' is start > end: it is trained as start = 1, end = 0, which is [CLS]."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """For the tokens of u_t: keep (1) or delete (0); for these and the end: first and last token of the insertion.

    UNKNOWN where the script is unsure.
    """

    keep: NDArray[np.int64]  # [U]
    start: NDArray[np.int64]  # [U + 1]
    end: NDArray[np.int64]  # [U + 1]


@dataclass(frozen=True, slots=True)
class RewriteItem:
    """A rendered dialogue; tokens [first, last) are those of u_t and token `last` is the place at its end."""

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
    """None if tokens cannot express the script (it cuts through one, or its source was cut off)."""
    current = len(dialogue.turns) - 1
    places = np.flatnonzero(rendered.turn == current)
    last = len(rendered) - 1
    first = int(places[0]) if len(places) else last
    if script is None:
        return RewriteItem(dialogue, rendered, first, last, None, weight)
    decisions = decisions_of(script, rendered, first, last)
    return None if decisions is None else RewriteItem(dialogue, rendered, first, last, decisions, weight)


def decisions_of(script: Rewrite, rendered: Rendered, first: int, last: int) -> Decisions | None:
    """None if tokens cannot express the script."""
    starts, ends = rendered.start[first:last], rendered.end[first:last]
    length = int(ends[-1]) if len(ends) else 0
    deleted = np.zeros(length + 1, dtype=np.int64)
    deleted[[offset + 1 for offset in script.deleted if offset < length]] = 1
    before = deleted.cumsum()  # how many are deleted before each character
    gone = before[ends] - before[starts]
    # Several tokens may stand for one character: it is deleted once.
    reached = {at for start, end in zip(starts[gone > 0], ends[gone > 0], strict=True) for at in range(start, end)}
    if not np.all((gone == 0) | (gone == ends - starts)) or len(reached) != len(script.deleted):
        return None
    start = np.full(last - first + 1, NO_START, dtype=np.int64)
    end = np.full(last - first + 1, NO_END, dtype=np.int64)
    for insertion in script.insertions:
        slot = int(np.searchsorted(starts, insertion.before))  # the first token that begins there or later
        if slot > 0 and ends[slot - 1] > insertion.before:
            return None
        source = rendered.covering(insertion.turn, insertion.start, insertion.end)
        if source is None or start[slot] <= end[slot]:
            return None
        if rendered.start[source[0]] != insertion.start or rendered.end[source[1] - 1] != insertion.end:
            return None
        start[slot], end[slot] = source[0], source[1] - 1
    keep = (gone == 0).astype(np.int64)
    if script.unsure:
        unsure = np.array(script.unsure)[:, None]
        open_tokens = ((unsure >= starts) & (unsure < ends)).any(axis=0)
        keep[open_tokens] = UNKNOWN
        at_end = bool(unsure.max() >= (ends[-1] if len(ends) else 0))
        for bounds in (start, end):
            bounds[:-1][open_tokens] = UNKNOWN
            bounds[-1] = UNKNOWN if at_end else bounds[-1]
    return Decisions(keep=keep, start=start, end=end)


@dataclass(frozen=True, slots=True)
class RewriteBatch:
    """B dialogues whose current utterances have up to N - 1 tokens; slot N - 1 at most is the end."""

    ids: Tensor  # [B, M]
    types: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    turn: Tensor  # [B, M]
    source: Tensor  # [B, M] tokens that may be inserted
    slots: Tensor  # [B, N] the token of each slot
    is_token: Tensor  # [B, N] a token of u_t
    is_slot: Tensor  # [B, N] a token of u_t or its end
    targets: tuple[Tensor, ...]  # keep, start, end: [B, N] each
    weights: Tensor  # [B]
    items: tuple[RewriteItem, ...]


class Rewriter(nn.Module):
    """P^d (keep or delete), P^st and P^ed (first and last token of the insertion)."""

    def __init__(self, encoder: Encoder, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.width
        self.dropout = nn.Dropout(dropout)
        self.keep = nn.Linear(width, 2)
        self.query = nn.Linear(width, 2 * width)
        self.key = nn.Linear(width, 2 * width)

    def forward(self, batch: RewriteBatch) -> tuple[Head, ...]:
        encoded = self.dropout(self.encoder(batch.ids, batch.types, batch.mask))  # [B, M, H]
        width = encoded.size(2)
        at_slots = encoded.gather(1, batch.slots.unsqueeze(2).expand(-1, -1, width))  # [B, N, H]
        queries = self.query(at_slots).split(width, dim=2)
        keys = self.key(encoded).split(width, dim=2)
        heads = [Head(self.keep(at_slots), batch.is_token)]
        for query, key, nothing in zip(queries, keys, (NO_START, NO_END), strict=True):
            scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(width)  # [B, N, M]
            heads.append(span_head(scores, batch, nothing))
        return tuple(heads)


def span_head(scores: Tensor, batch: RewriteBatch, nothing: int) -> Head:
    """Scores [B, N, M] of where an insertion begins or ends; `nothing` is the token that stands for no insertion."""
    allowed = batch.source.clone()
    allowed[:, nothing] = True
    return Head(scores.masked_fill(~allowed.unsqueeze(1), MASKED), batch.is_slot)


def collate_rewrites(items: Sequence[RewriteItem], pad_id: int, *, span_source: SpanSource) -> RewriteBatch:
    layouts = [item.rendered for item in items]
    turn = pad([layout.turn for layout in layouts], NO_TURN)
    current = torch.tensor([len(item.dialogue.turns) - 1 for item in items])
    source = turn != NO_TURN
    if span_source == "context":
        source &= turn != current[:, None]
    widths = torch.tensor([item.last - item.first for item in items])
    slots = torch.arange(int(widths.max()) + 1)  # [N]
    first = torch.tensor([item.first for item in items])
    is_slot = slots <= widths[:, None]
    return RewriteBatch(
        ids=pad([layout.ids for layout in layouts], pad_id),
        types=pad([layout.types for layout in layouts], 0),
        mask=pad([np.ones(len(layout), dtype=np.int64) for layout in layouts], 0),
        turn=turn,
        source=source,
        slots=torch.where(is_slot, first[:, None] + slots, 0),
        is_token=slots < widths[:, None],
        is_slot=is_slot,
        targets=_targets(items, len(slots)),
        weights=torch.tensor([item.weight for item in items]),
        items=tuple(items),
    )


def _targets(items: Sequence[RewriteItem], width: int) -> tuple[Tensor, ...]:
    """Class 0 where there is nothing to decide: the heads' masks leave those slots out."""
    tables = tuple(torch.zeros(len(items), width, dtype=torch.long) for _ in range(3))
    for row, item in enumerate(items):
        if item.decisions is not None:
            for table, values in zip(
                tables, (item.decisions.keep, item.decisions.start, item.decisions.end), strict=True
            ):
                table[row, : len(values)] = torch.from_numpy(values)
    return tables


Scorer = Literal["dot", "biaffine"]
"""How slots and tokens are compared: by the plain product of `Rewriter`, or as Dozat & Manning (2017) score arcs.

The second is for methods that need two different models of the task (co-training)."""


class BiaffineRewriter(nn.Module):
    """The same decisions as `Rewriter`; spans are scored by q(slot)ᵀ W k(token) + wᵀ k(token), q and k not linear."""

    def __init__(self, encoder: Encoder, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.width
        self.dropout = nn.Dropout(dropout)
        self.keep = nn.Linear(width, 2)
        self.start = Biaffine(width, width // 2, dropout)
        self.end = Biaffine(width, width // 2, dropout)

    def forward(self, batch: RewriteBatch) -> tuple[Head, ...]:
        encoded = self.dropout(self.encoder(batch.ids, batch.types, batch.mask))  # [B, M, H]
        at_slots = encoded.gather(1, batch.slots.unsqueeze(2).expand(-1, -1, encoded.size(2)))  # [B, N, H]
        return (
            Head(self.keep(at_slots), batch.is_token),
            span_head(self.start(at_slots, encoded), batch, NO_START),
            span_head(self.end(at_slots, encoded), batch, NO_END),
        )


class Biaffine(nn.Module):
    """[B, N, H] and [B, M, H] → [B, N, M]."""

    def __init__(self, width: int, size: int, dropout: float) -> None:
        super().__init__()
        self.query, self.key = (nn.Sequential(nn.Linear(width, size), nn.GELU(), nn.Dropout(dropout)) for _ in "qk")
        self.product = nn.Linear(size, size, bias=False)
        self.alone = nn.Linear(size, 1, bias=False)

    def forward(self, slots: Tensor, tokens: Tensor) -> Tensor:
        keys = self.key(tokens)
        scores: Tensor = torch.bmm(self.product(self.query(slots)), keys.transpose(1, 2)) + self.alone(keys).mT
        return scores


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
