"""The rewriter's network: keep or delete each token, and which span goes in front of it (section 4.1)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from friend_training.nn.batching import pad
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import MASKED, Head
from friend_training.nn.rendering import NO_TURN
from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.tasks.rewriting.items import NO_END, NO_START, RewriteItem


@dataclass(frozen=True, slots=True)
class RewriteBatch:
    """B dialogues whose current utterances have up to N - 1 pieces; slot N - 1 at most is the end."""

    ids: Tensor  # [B, M]
    types: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    turn: Tensor  # [B, M]
    source: Tensor  # [B, M] pieces that may be inserted
    slots: Tensor  # [B, N] the piece of each slot
    is_piece: Tensor  # [B, N] a piece of u_t
    is_slot: Tensor  # [B, N] a piece of u_t or its end
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
        heads = [Head(self.keep(at_slots), batch.is_piece)]
        for query, key, nothing in zip(queries, keys, (NO_START, NO_END), strict=True):
            scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(width)  # [B, N, M]
            heads.append(span_head(scores, batch, nothing))
        return tuple(heads)


def span_head(scores: Tensor, batch: RewriteBatch, nothing: int) -> Head:
    """Scores [B, N, M] of where an insertion begins or ends; `nothing` is the piece that stands for no insertion."""
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
        is_piece=slots < widths[:, None],
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
