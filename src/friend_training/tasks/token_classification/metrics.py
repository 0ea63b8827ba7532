"""Spans of BIO tags, and their metrics: exact spans (micro) and the share of words with the right tag."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from friend_training.core.task import PRF, Counts, Evaluation, Score, by_kind, f1_of, ratio
from friend_training.types import Tags

OUTSIDE = "O"

Span = tuple[str, int, int]
"""A label and the words [start, end) that have it."""


def is_bio(tags: Iterable[str]) -> bool:
    """Whether tags are O, B-x and I-x, and every I-x has its B-x."""
    found = set(tags)
    begins = {tag[2:] for tag in found if tag[:2] == "B-"}
    insides = {tag[2:] for tag in found if tag[:2] == "I-"}
    return OUTSIDE in found and bool(begins) and len(found) == 1 + len(begins) + len(insides) and insides <= begins


def bio_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of BIO tags, in text order; an I-x without its B-x, which only gold can have, begins a span too."""
    spans: list[Span] = []
    before = OUTSIDE
    for place, tag in enumerate(tags):
        if tag[:2] == "I-" and before in (tag, f"B-{tag[2:]}"):
            label, start, _ = spans[-1]
            spans[-1] = (label, start, place + 1)
        elif tag[:2] in ("B-", "I-"):
            spans.append((tag[2:], place, place + 1))
        before = tag
    return spans


def bio_tags(spans: Iterable[Span], length: int) -> tuple[str, ...] | None:
    """The tags of `length` words that stand for these spans; None where two overlap or one has no place there."""
    tags = [OUTSIDE] * length
    for label, start, end in spans:
        if not 0 <= start < end <= length or any(tag != OUTSIDE for tag in tags[start:end]):
            return None
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tuple(tags)


TagMetric = Literal["span_f1", "accuracy"]

_NOTHING = PRF()


@dataclass(frozen=True, slots=True)
class TagScore(Score):
    """Counts over some sentences; those of two sets of sentences add up to those of both.

    No prediction (None) has no span and no right word.
    """

    spans: PRF = _NOTHING
    right: int = 0
    words: int = 0

    @classmethod
    def of(cls, predicted: Tags | None, gold: Tags) -> "TagScore":
        """The counts of one sentence."""
        tags = () if predicted is None else predicted.tags
        right = sum(a == b for a, b in zip(tags, gold.tags, strict=False))
        return cls(PRF.of(bio_spans(tags), bio_spans(gold.tags)), right, len(gold.tags))

    def as_dict(self) -> dict[str, float]:
        """span_precision, span_recall, span_f1 and accuracy, in percent."""
        return {**self.spans.as_dict("span_"), "accuracy": 100 * float(ratio(self.right, self.words))}


def span_f1_of(counts: Counts) -> Counts:
    """In percent, of summed counts."""
    return 100 * f1_of(counts[..., 0:3])


def word_accuracy_of(counts: Counts) -> Counts:
    """In percent, of summed counts."""
    return 100 * ratio(counts[..., 3], counts[..., 4])


def token_scores(predicted: Sequence[Tags | None], gold: Sequence[Tags]) -> Evaluation:
    """Spans and accuracy over sentences, each a group of its own; where tags are no BIO there are no spans."""
    found, there = (
        [(row, span) for row, one in enumerate(of) if one is not None for span in bio_spans(one.tags)]
        for of in (predicted, gold)
    )
    kinds = by_kind(found, there, lambda one: one[1][0])
    return Evaluation.of([TagScore.of(*pair) for pair in zip(predicted, gold, strict=True)], TagScore(), kinds=kinds)
