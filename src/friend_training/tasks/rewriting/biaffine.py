"""A second head for the rewriter, for methods that need two different models of the task (co-training)."""

from typing import Literal

import torch
from torch import Tensor, nn

from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.tasks.rewriting.items import NO_END, NO_START
from friend_training.tasks.rewriting.model import RewriteBatch, span_head

Scorer = Literal["dot", "biaffine"]
"""How slots and pieces are compared: by the plain product of `Rewriter`, or as Dozat & Manning (2017) score arcs."""


class BiaffineRewriter(nn.Module):
    """The same decisions as `Rewriter`; spans are scored by q(slot)ᵀ W k(piece) + wᵀ k(piece), q and k not linear."""

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
            Head(self.keep(at_slots), batch.is_piece),
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

    def forward(self, slots: Tensor, pieces: Tensor) -> Tensor:
        keys = self.key(pieces)
        scores: Tensor = torch.bmm(self.product(self.query(slots)), keys.transpose(1, 2)) + self.alone(keys).mT
        return scores
