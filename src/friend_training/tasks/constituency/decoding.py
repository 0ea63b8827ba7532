"""The span parser's output as trees, each with its confidence."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from friend_training.examples import Bracket, Tree
from friend_training.nn.heads import Head
from friend_training.nn.sentences import SentenceBatch
from friend_training.tasks.constituency.cky import cky
from friend_training.tasks.constituency.model import all_spans

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
