"""The dependency parser's network: biaffine scores of arcs and of the relation on each arc (Dozat & Manning 2017).

Its output is the best projective tree (Eisner 1996), with a confidence, found for many sentences at once. A span of
words i … j is complete when its head (i or j) has all its dependents
in it, and incomplete when it was just made by an arc between i and j. Spans of one width are made together: over all
sentences, all places and all splits. The root takes no part in it: it is given one dependent at the end, so that no
tree can have two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.nn.encoder import AnyEncoder
from friend_training.nn.heads import MASKED, Head
from friend_training.nn.word_input import SentenceBatch
from friend_training.types import Heads

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


Scores = NDArray[np.float32]

Numbers = NDArray[np.int64]


def eisner(scores: Scores, lengths: Numbers) -> Numbers:
    """scores [B, N, N + 1]: of head h (0 the root, else a word counted from 1) for each word; lengths [B], from 1 to N.

    Gives the heads [B, N] of the best tree of each sentence; 0 behind its end.
    """
    charts = _fill(scores)
    return _read_off(scores, lengths, charts)


@dataclass(frozen=True, slots=True)
class _Charts:
    """Best scores and splits of spans [B, first word, width - 1]. 'Right' spans are headed by their first word."""

    right: Scores
    left: Scores
    right_split: Numbers
    left_split: Numbers
    arc_split: Numbers


def _fill(scores: Scores) -> _Charts:
    batch, longest, _ = scores.shape
    shape = (batch, longest, longest)
    # The same scores by first word and by last word, so that all splits of a span lie side by side in memory.
    right, right_by_end, left, left_by_end = (np.zeros(shape, dtype=scores.dtype) for _ in range(4))
    arc_right, arc_left_by_end = (np.zeros(shape, dtype=scores.dtype) for _ in range(2))
    right_split, left_split, arc_split = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for width in range(1, longest):  # the distance from the first to the last word
        starts = longest - width
        first, last = slice(0, starts), slice(width, longest)
        here, there = np.arange(starts), np.arange(width, longest)

        # The words between i and j: a right span of i, then a left span of j.
        halves = right[:, first, :width] + left_by_end[:, last, :width][:, :, ::-1]  # [B, starts, width]
        best, arc_split[:, first, width] = _best(halves)
        arc_right[:, first, width] = best + scores[:, there, here + 1]
        arc_left_by_end[:, last, width] = best + scores[:, here, there + 1]

        halves = arc_right[:, first, 1 : width + 1] + right_by_end[:, last, :width][:, :, ::-1]
        right[:, first, width], right_split[:, first, width] = _best(halves)
        right_by_end[:, last, width] = right[:, first, width]

        halves = left[:, first, :width] + arc_left_by_end[:, last, 1 : width + 1][:, :, ::-1]
        left[:, first, width], left_split[:, first, width] = _best(halves)
        left_by_end[:, last, width] = left[:, first, width]
    return _Charts(right, left, right_split, left_split, arc_split)


def _best(halves: Scores) -> tuple[Scores, Numbers]:
    """The best split of each span: [B, starts, splits] → [B, starts] twice."""
    split = halves.argmax(axis=2)
    return np.take_along_axis(halves, split[:, :, None], axis=2)[:, :, 0], split


def _read_off(scores: Scores, lengths: Numbers, charts: _Charts) -> Numbers:
    """From the widest spans of the best trees down to single words, all sentences together."""
    batch, longest, _ = scores.shape
    rows, words = np.arange(batch), np.arange(longest)
    heads = np.zeros((batch, longest), dtype=np.int64)

    to_end = np.maximum(lengths[:, None] - 1 - words, 0)  # [B, N] the width from each word to the last
    whole = charts.left[:, 0, :] + charts.right[rows[:, None], words, to_end] + scores[:, :, 0]
    root = np.where(words < lengths[:, None], whole, -np.inf).argmax(axis=1)

    in_right, in_left, arc_right, arc_left = (np.zeros((batch, longest, longest), dtype=bool) for _ in range(4))
    in_left[rows, 0, root] = True
    in_right[rows, root, lengths - 1 - root] = True
    for width in range(longest - 1, 0, -1):
        row, first = np.nonzero(in_right[:, :, width])
        reach = charts.right_split[row, first, width] + 1
        arc_right[row, first, reach] = True
        in_right[row, first + reach, width - reach] = True

        row, first = np.nonzero(in_left[:, :, width])
        reach = charts.left_split[row, first, width]
        in_left[row, first, reach] = True
        arc_left[row, first + reach, width - reach] = True

        row, first = np.nonzero(arc_right[:, :, width])
        heads[row, first + width] = first + 1
        row, first = np.nonzero(arc_left[:, :, width])
        heads[row, first] = first + width + 1
        row, first = np.nonzero(arc_right[:, :, width] | arc_left[:, :, width])
        reach = charts.arc_split[row, first, width]
        in_right[row, first, reach] = True
        in_left[row, first + reach + 1, width - 1 - reach] = True
    return heads


def decode_heads(head: Head, batch: SentenceBatch, relations: Sequence[str]) -> list[tuple[Heads, float]]:
    """The most probable projective tree with one root, then the likeliest relation on each of its arcs.

    The confidence is the n-th root of the product of all decisions made: the geometric mean, per word, of p(head) or
    of p(head) · p(relation | head).
    """
    sentences, words, _ = head.logits.shape
    logs = head.logits.log_softmax(dim=2).view(sentences, words, words + 1, -1)  # [B, N, N + 1, R]
    words_in = np.array([item.words for item in batch.items])
    length = np.maximum(words_in, 1)
    chosen = eisner(logs.logsumexp(dim=3).numpy(), length)  # [B, N]

    at = torch.from_numpy(chosen)[:, :, None, None].expand(-1, -1, 1, logs.size(3))
    best, relation = logs.gather(2, at).squeeze(2).max(dim=2)  # [B, N]
    log_probability = torch.where(head.mask, best, 0.0).double().sum(dim=1).numpy()
    confidence = np.where(words_in > 0, np.exp(np.minimum(log_probability / length, 0.0)), 0.0)
    return [
        (Heads(tuple(row[:count]), tuple(relations[number] for number in its[:count]) if relations else None), sure)
        for row, its, count, sure in zip(
            chosen.tolist(), relation.tolist(), words_in.tolist(), confidence.tolist(), strict=True
        )
    ]
