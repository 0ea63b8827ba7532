"""The dependency parser's output as trees, each with its confidence."""

from collections.abc import Sequence

import numpy as np
import torch

from friend_training.examples import Heads
from friend_training.nn.heads import Head
from friend_training.nn.sentences import SentenceBatch
from friend_training.tasks.dependency.eisner import eisner


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
