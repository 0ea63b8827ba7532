"""The constituency parser's network, a label or none for every span and a tag for every word, and its best trees (CKY).

All spans of one width are decided together, for many sentences at once. Trees are binary here. A phrase of more than
two parts is cut in two by a span without a label, which costs nothing, so no binarisation has to be chosen: the best
tree is the best set of nested phrases.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.nn.devices import PROCESSOR
from friend_training.nn.encoder import AnyEncoder
from friend_training.nn.heads import Head
from friend_training.nn.word_input import SentenceBatch
from friend_training.types import Bracket, Tree

SPANS_AT_ONCE = 2048
"""What is worked on between fences and labels is many times larger than both: in parts it stays in the cache."""


def all_spans(words: int, device: torch.device = PROCESSOR) -> tuple[Tensor, Tensor]:
    """First and last fences of the N (N + 1) / 2 spans of a sentence, in the order of their slots."""
    first, last = torch.triu_indices(words + 1, words + 1, offset=1, device=device)
    return first, last


def slot_of(first: Tensor, last: Tensor, words: int) -> Tensor:
    """The slots of spans among `all_spans` of so many words."""
    return first * words - first * (first - 1) // 2 + last - first - 1


class SpanParser(nn.Module):
    """Spans are scored by the difference of what was read at their two ends (Stern, Andreas & Klein 2017).

    Every span is a decision of its own: this is what the shared loss, soft labels and weights need. That phrases must
    nest is left to decoding. The loss of the spans is counted per word, like that of the tags.
    """

    def __init__(self, encoder: AnyEncoder, labels: int, tags: int, *, span: int = 128, dropout: float = 0.33) -> None:
        super().__init__()
        self.encoder = encoder
        self.fence = nn.Linear(encoder.width, span)
        self.label = nn.Sequential(nn.LayerNorm(span), nn.ReLU(), nn.Dropout(dropout), nn.Linear(span, labels))
        self.tag = nn.Linear(encoder.width, tags)

    def forward(self, batch: SentenceBatch) -> tuple[Head, ...]:
        words = batch.input.encode(self.encoder).masked_fill(~batch.mask[:, :, None], 0.0)  # [B, N, H]
        fences = self.fence(_at_fences(words))  # [B, N + 1, S]
        first, last = all_spans(words.size(1), words.device)
        few = fences.split(max(1, SPANS_AT_ONCE // len(first)))
        labels = [self.label(part.index_select(1, last) - part.index_select(1, first)) for part in few]
        inside = batch.mask[:, last - 1]
        per_word = inside.sum(dim=1) / batch.mask.sum(dim=1).clamp(min=1)
        return Head(torch.cat(labels), inside, scale=per_word), Head(self.tag(words), batch.mask)


def _at_fences(words: Tensor) -> Tensor:
    """[B, N, H] → [B, N + 1, H]: at each fence what was read from the left up to it, and from the right down to it.

    The second half is negated: then the difference of two fences is forward(j) - forward(i), backward(i) - backward(j).
    """
    forward, backward = words.chunk(2, dim=2)
    nothing = torch.zeros_like(forward[:, :1])
    return torch.cat([torch.cat([nothing, forward], dim=1), -torch.cat([backward, nothing], dim=1)], dim=2)


Scores = NDArray[np.float32]

Numbers = NDArray[np.int64]


def cky(scores: Scores, lengths: Numbers) -> NDArray[np.bool_]:
    """scores [B, N + 1, N + 1] of the spans from fence i to fence j, for their best answer, be it a label or none;
    lengths [B], from 1 to N. Gives the spans of the best binary tree of each sentence: [B, N + 1, N + 1].
    """
    batch, fences, _ = scores.shape
    # The same chart by first and by last fence and width, so that all splits of a span lie side by side in memory.
    by_start, by_end = (np.zeros((batch, fences, fences), dtype=scores.dtype) for _ in range(2))
    splits = np.zeros((batch, fences, fences), dtype=np.int64)
    for width in range(1, fences):
        here, there = np.arange(fences - width), np.arange(width, fences)
        best = scores[:, here, there]  # [B, starts]
        if width > 1:
            halves = by_start[:, : fences - width, 1:width] + by_end[:, width:, 1:width][:, :, ::-1]
            split = halves.argmax(axis=2)  # [B, starts]
            splits[:, : fences - width, width] = split + 1
            best = best + np.take_along_axis(halves, split[:, :, None], axis=2)[:, :, 0]
        by_start[:, : fences - width, width] = best
        by_end[:, width:, width] = best

    chosen = np.zeros((batch, fences, fences), dtype=bool)  # by first fence and width, then turned into fences
    chosen[np.arange(batch), 0, lengths] = True
    for width in range(fences - 1, 1, -1):
        row, start = np.nonzero(chosen[:, :, width])
        reach = splits[row, start, width]
        chosen[row, start, reach] = True
        chosen[row, start + reach, width - reach] = True
    spans = np.zeros_like(chosen)
    row, start, width_of = np.nonzero(chosen)
    spans[row, start, start + width_of] = True
    return spans


Number = TypeVar("Number", np.float32, np.int64)


NO_PHRASE = 0
"""The class of a span that is no phrase; phrase k of the task's names is class k + 1."""


def decode_trees(
    heads: Sequence[Head], batch: SentenceBatch, phrases: Sequence[str], tags: Sequence[str]
) -> list[tuple[Tree, float]]:
    """The most probable tree of each sentence: phrases nest, and one of them is the whole sentence.

    Every span is a decision, so the probability of a tree is the product over ALL spans, also over those that are no
    phrases: a flat tree is only as probable as it is that nothing was missed. With p(none) taken out of every span, a
    phrase is worth log p(label) - log p(none) and everything else nothing, which is what CKY is given.
    The confidence is the n-th root of the probability of tree and tags: the geometric mean per word.
    """
    spans, words = heads
    words_in = np.array([item.words for item in batch.items])
    logs = spans.logits.log_softmax(dim=2)  # [B, spans, C]
    best, label = logs[:, :, NO_PHRASE + 1 :].max(dim=2)
    none = logs[:, :, NO_PHRASE]
    worth = _by_fences((best - none).numpy(), words.mask.size(1))  # [B, N + 1, N + 1]
    tag_logs, tag = words.logits.log_softmax(dim=2).max(dim=2)  # [B, N]

    rows, length = np.arange(len(worth)), np.maximum(words_in, 1)
    whole = np.zeros(worth.shape, dtype=bool)
    whole[rows, 0, length] = True
    chosen = cky(np.where(whole, worth, np.maximum(worth, 0.0)), length) & ((worth > 0.0) | whole)

    log_probability = torch.where(spans.mask, none, 0.0).double().sum(dim=1).numpy()
    log_probability += np.where(chosen, worth, 0.0).sum(axis=(1, 2), dtype=np.float64)
    log_probability += torch.where(words.mask, tag_logs, 0.0).double().sum(dim=1).numpy()
    confidence = np.where(words_in > 0, np.exp(np.minimum(log_probability / length, 0.0)), 0.0)

    labels = _by_fences(label.numpy(), words.mask.size(1))
    brackets = _brackets(chosen, labels, phrases)
    named = [tuple(tags[number] for number in row[:count]) for row, count in zip(tag.tolist(), words_in, strict=True)]
    return [
        (Tree(tuple(found) if count else (), its_tags), sure)
        for found, its_tags, count, sure in zip(brackets, named, words_in.tolist(), confidence.tolist(), strict=True)
    ]


def _by_fences(values: NDArray[Number], words: int) -> NDArray[Number]:
    """[B, spans] → [B, N + 1, N + 1]."""
    first, last = all_spans(words)
    table = np.zeros((len(values), words + 1, words + 1), dtype=values.dtype)
    table[:, first.numpy(), last.numpy()] = values
    return table


def _brackets(chosen: NDArray[np.bool_], labels: NDArray[np.int64], phrases: Sequence[str]) -> list[list[Bracket]]:
    """By start, the longer first: spans are met in that order when their ends run backwards."""
    found: list[list[Bracket]] = [[] for _ in chosen]
    row, start, from_end = np.nonzero(chosen[:, :, ::-1])
    end = chosen.shape[2] - 1 - from_end
    for number, i, j, label in zip(
        row.tolist(), start.tolist(), end.tolist(), labels[row, start, end].tolist(), strict=True
    ):
        found[number].append(Bracket(i, j, phrases[label]))
    return found
