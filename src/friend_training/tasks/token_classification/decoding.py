"""BIO tags: which sets of tags are BIO, and the spans that tags stand for."""

from collections.abc import Iterable, Sequence

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
