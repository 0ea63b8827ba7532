"""The metrics of dependency parsing: unlabelled and labelled attachment score (UAS, LAS).

Whether punctuation is counted is a named choice: Universal Dependencies counts it, work on the Penn Treebank leaves it
out. A word is punctuation by its characters, as in the CoNLL-X evaluation, because not every corpus has parts of
speech. LAS compares relations whole, subtypes included: `nsubj:pass` is not `nsubj`. The CoNLL shared tasks leave
subtypes out, so their LAS is higher.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from friend_training.core.task import Counts, Evaluation, Score, ratio
from friend_training.errors import ConfigError
from friend_training.types import Heads, Words

Punctuation = Literal["counted", "skipped"]

_PENN_NAMES = frozenset({"`", "``", "-LRB-", "-RRB-", "-LCB-", "-RCB-", "-LSB-", "-RSB-"})
_READ_ALOUD = frozenset("%&@#*/\\§")
"""Characters that Unicode calls punctuation and a sentence uses as words: ten %, profit & loss."""


@dataclass(frozen=True, slots=True)
class DependencyScore(Score):
    """Counts over some sentences; those of two sets of sentences add up to those of both.

    `labelled` are the words whose gold relation is known: LAS is over them.
    """

    heads_right: int = 0
    words: int = 0
    relations_right: int = 0
    labelled: int = 0

    @classmethod
    def of(cls, predicted: Heads, gold: Heads, skipped: Sequence[bool] | None = None) -> "DependencyScore":
        """The counts of one sentence, without the words that are skipped."""
        counted = [not skip for skip in skipped or [False] * len(gold.heads)]
        right = [c and a == b for c, a, b in zip(counted, predicted.heads, gold.heads, strict=True)]
        if gold.relations is None:
            return cls(sum(right), sum(counted))
        relations = predicted.relations or ("",) * len(right)
        both = [r and a == b for r, a, b in zip(right, relations, gold.relations, strict=True)]
        return cls(sum(right), sum(counted), sum(both), sum(counted))

    def as_dict(self) -> dict[str, float]:
        """uas and, where relations are known, las, in percent."""
        uas = {"uas": 100 * float(ratio(self.heads_right, self.words))}
        return uas | ({"las": 100 * float(ratio(self.relations_right, self.labelled))} if self.labelled else {})


def score(
    predicted: Sequence[Heads],
    gold: Sequence[Heads],
    words: Sequence[Words] | None = None,
    *,
    punctuation: Punctuation = "counted",
) -> DependencyScore:
    """Score sentences in parallel sequences; to skip punctuation their words are needed."""
    return sum(_scores(predicted, gold, words, punctuation), start=DependencyScore())


def attachment_scores(
    predicted: Sequence[Heads],
    gold: Sequence[Heads],
    words: Sequence[Words] | None = None,
    *,
    punctuation: Punctuation = "counted",
) -> Evaluation:
    """uas and, where relations are known, las, in percent."""
    return Evaluation.of(_scores(predicted, gold, words, punctuation), DependencyScore())


def unit_counts(
    predicted: Sequence[Heads],
    gold: Sequence[Heads],
    words: Sequence[Words] | None = None,
    *,
    punctuation: Punctuation = "counted",
) -> Counts:
    """One row of counts per sentence [sentences, 4]: any sum of rows gives the metric of those sentences."""
    rows = [one.as_array() for one in _scores(predicted, gold, words, punctuation)]
    return np.stack(rows) if rows else np.empty((0, DependencyScore().as_array().size))


def _scores(
    predicted: Sequence[Heads], gold: Sequence[Heads], words: Sequence[Words] | None, punctuation: Punctuation
) -> list[DependencyScore]:
    if punctuation == "counted":
        return [DependencyScore.of(*pair) for pair in zip(predicted, gold, strict=True)]
    if words is None:
        raise ConfigError("punctuation can only be skipped where the words are given")
    skipped = [[is_punctuation(word) for word in sentence.words] for sentence in words]
    return [DependencyScore.of(*one) for one in zip(predicted, gold, skipped, strict=True)]


def uas_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 0], counts[..., 1])


def las_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 2], counts[..., 3])


def is_punctuation(word: str) -> bool:
    """Whether a word is made of punctuation marks only; Penn's names of quotes and brackets are such."""
    return word in _PENN_NAMES or all(
        unicodedata.category(character).startswith("P") and character not in _READ_ALOUD for character in word
    )
