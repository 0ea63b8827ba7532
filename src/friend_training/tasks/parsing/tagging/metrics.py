"""The metric of tagging: the share of words with the right part of speech."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from friend_training.core.task import Counts, Evaluation, Score, ratio
from friend_training.types import Tags


@dataclass(frozen=True, slots=True)
class TaggingScore(Score):
    """Counts over some sentences; those of two sets of sentences add up to those of both."""

    right: int = 0
    words: int = 0

    @classmethod
    def of(cls, predicted: Tags, gold: Tags) -> "TaggingScore":
        """The counts of one sentence."""
        return cls(sum(a == b for a, b in zip(predicted.tags, gold.tags, strict=True)), len(gold.tags))

    def as_dict(self) -> dict[str, float]:
        """accuracy, in percent."""
        return {"accuracy": 100 * float(ratio(self.right, self.words))}


def score(predicted: Sequence[Tags], gold: Sequence[Tags]) -> TaggingScore:
    """Score sentences in parallel sequences."""
    return sum((TaggingScore.of(*pair) for pair in zip(predicted, gold, strict=True)), start=TaggingScore())


def tag_scores(predicted: Sequence[Tags], gold: Sequence[Tags]) -> Evaluation:
    """accuracy, in percent."""
    return Evaluation.of([TaggingScore.of(*pair) for pair in zip(predicted, gold, strict=True)], TaggingScore())


def unit_counts(predicted: Sequence[Tags], gold: Sequence[Tags]) -> Counts:
    """One row of counts per sentence [sentences, 2]: any sum of rows gives the metric of those sentences."""
    rows = [TaggingScore.of(*pair).as_array() for pair in zip(predicted, gold, strict=True)]
    return np.stack(rows) if rows else np.empty((0, TaggingScore().as_array().size))


def accuracy_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 0], counts[..., 1])
