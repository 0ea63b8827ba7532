"""The dependency parser's network: biaffine scores of arcs, and of the relation on each arc (Dozat & Manning 2017)."""

import torch
from torch import Tensor, nn

from friend_training.nn.encoder import AnyEncoder
from friend_training.nn.heads import MASKED, Head
from friend_training.nn.word_input import SentenceBatch

FARTHEST = 10
"""Distances from here on count as the same."""


class BiaffineParser(nn.Module):
    """One decision per word: its head and the relation to it, as one class, head · R + relation.

    p(head, relation) = p(head) · p(relation | head), so that hard and soft labels always name an arc with a relation
    of its own. Without relations R is 1. How far away and on which side a head stands is scored by itself: from few
    sentences the network would take long to find that most heads are near.
    """

    def __init__(
        self, encoder: AnyEncoder, relations: int, *, arc: int = 128, relation: int = 32, dropout: float = 0.33
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.relations = relations
        self.root = nn.Parameter(torch.zeros(encoder.width))
        self.arcs = _Pairs(encoder.width, arc, 1, dropout)
        self.distance = nn.Embedding(2 * FARTHEST + 2, 1)
        nn.init.zeros_(self.distance.weight)
        self.labels = _Pairs(encoder.width, relation, relations, dropout) if relations > 1 else None

    def forward(self, batch: SentenceBatch) -> tuple[Head, ...]:
        words = batch.input.encode(self.encoder)  # [B, N, H]
        heads = torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)  # [B, N + 1, H]
        scores = self.arcs(words, heads) + self.distance(_distances(words.size(1), words.device))  # [B, N, N + 1, 1]
        scores = scores.masked_fill(~_allowed(batch.mask)[..., None], MASKED)
        if self.labels is not None:
            scores = scores + self.labels(words, heads).log_softmax(dim=3)  # [B, N, N + 1, R]
        return (Head(scores.flatten(2), batch.mask),)


class _Pairs(nn.Module):
    """[B, N, H] and [B, M, H] → [B, N, M, C]: dᵀ W_c h + u_cᵀ h + v_cᵀ d + b_c over small views of both."""

    def __init__(self, width: int, size: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.size, self.classes = size, classes
        self.dependent, self.head = (
            nn.Sequential(nn.Linear(width, size), nn.LeakyReLU(0.1), nn.Dropout(dropout)) for _ in "dh"
        )
        self.product = nn.Linear(size, classes * size)
        self.alone = nn.Linear(size, classes)
        nn.init.zeros_(self.product.weight)

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        dependents, heads = self.dependent(dependents), self.head(heads)
        turned = self.product(dependents).unflatten(2, (self.classes, self.size))  # [B, N, C, S]
        # W_c d + u_c, times h; the score of d alone comes on top.
        scores = torch.einsum("bncs,bms->bnmc", turned, heads)
        out: Tensor = scores + self.alone(dependents)[:, :, None, :]
        return out


def _distances(words: int, device: torch.device) -> Tensor:
    """[N, N + 1]: the class of each arc's direction and distance; that of the root is the first."""
    places = torch.arange(words + 1, device=device)
    between = (places - places[1:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST + 1
    between[:, 0] = 0
    return between


def _allowed(mask: Tensor) -> Tensor:
    """[B, N, N + 1]: heads are the root and the words of the sentence, but nobody's own."""
    words = mask.size(1)
    real = torch.cat([mask.new_ones(len(mask), 1), mask], dim=1)
    return real[:, None, :] & ~torch.eye(words + 1, dtype=torch.bool, device=mask.device)[1:]
