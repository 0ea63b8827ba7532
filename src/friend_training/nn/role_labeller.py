"""The network under CSRL and sentence-level SRL: encoder, predicate-aware masked self-attention, BIO labels (4.1)."""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from friend_training.nn.bio import TAGS
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head

PredicateMark = Literal["after", "input"]
"""Where the network is told which predicate is meant: after the encoder (one pass per dialogue for all its
predicates) or in its input (as CSAGN, one pass per predicate). DESIGN 5.9."""


@dataclass(frozen=True, slots=True)
class RoleBatch:
    """B dialogues with U predicates among them."""

    ids: Tensor  # [B, M]
    types: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    turn: Tensor  # [B, M]
    dialogue: Tensor  # [U] the dialogue of each predicate
    first: Tensor  # [U] its first piece
    last: Tensor  # [U] the piece behind its last one
    targets: tuple[Tensor, ...]  # [U, M]
    weights: Tensor  # [U]
    items: tuple[object, ...]  # what was collated, for decoding


class RoleLabeller(nn.Module):
    """P^c = softmax(W_c G + b_c) with G from self-attention under the predicate-aware mask."""

    def __init__(self, encoder: Encoder, *, mark: PredicateMark, heads: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.mark = mark
        self.heads = heads
        width = encoder.width
        size = encoder.words.embedding_dim if mark == "input" else width
        self.is_predicate = nn.Embedding(2, size)
        nn.init.normal_(self.is_predicate.weight, std=0.02)
        self.predicate = nn.Linear(width, width)
        self.attention_in = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(width, len(TAGS))

    def forward(self, batch: RoleBatch) -> tuple[Head, ...]:
        if batch.dialogue.size(0) == 0:  # dialogues without predicates: attention cannot lay out a batch of none
            length = batch.mask.size(1)
            weight = self.classify.weight
            return (Head(weight.new_zeros(0, length, len(TAGS)), batch.mask.new_zeros(0, length, dtype=torch.bool)),)
        pieces = torch.arange(batch.ids.size(1), device=batch.ids.device)
        is_predicate = (pieces >= batch.first[:, None]) & (pieces < batch.last[:, None])  # [U, M]
        mark = self.is_predicate(is_predicate.long())
        mask = batch.mask[batch.dialogue]  # [U, M]
        if self.mark == "input":
            at = batch.dialogue
            encoded = self.encoder(batch.ids[at], batch.types[at], mask, mark)  # [U, M, H]
        else:
            once = self.encoder(batch.ids, batch.types, batch.mask)  # [B, M, H]
            encoded = once[batch.dialogue] + mark
        share = is_predicate / is_predicate.sum(dim=1, keepdim=True)
        predicate = self.predicate(torch.bmm(share.unsqueeze(1), encoded))  # [U, 1, H]
        attended = self._attend(F.gelu(encoded + predicate), batch, mask)
        hidden = self.norm(encoded + self.dropout(attended))
        return (Head(self.classify(hidden), mask.bool()),)

    def _attend(self, hidden: Tensor, batch: RoleBatch, mask: Tensor) -> Tensor:
        """Mask_ij = 1 iff u_[i] = u_[j] or u_[j] = u_[pred]: own utterance and the predicate's."""
        units, length, width = hidden.shape
        turn = batch.turn[batch.dialogue]  # [U, M]
        predicate_turn = turn.gather(1, batch.first[:, None])  # [U, 1]
        seen = (turn[:, :, None] == turn[:, None, :]) | (turn == predicate_turn)[:, None, :]
        seen &= mask.bool()[:, None, :]
        seen |= torch.eye(length, dtype=torch.bool, device=seen.device)  # padding sees itself: no empty softmax
        query, key, value = (
            self.attention_in(hidden).view(units, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )  # [U, heads, M, H / heads] each
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None])
        mixed_back: Tensor = self.attention_out(mixed.transpose(1, 2).reshape(units, length, width))
        return mixed_back
