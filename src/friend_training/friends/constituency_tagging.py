"""The friendship of a constituency parser and a tagger: the preterminals of a tree are parts of speech.

The common space Σ is the tag of each word, and nothing needs translating; the unit of both tasks is the sentence.
"""

from collections.abc import Sequence

from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.examples import Words

WordTags = tuple[str, ...]


def translate_tags(inputs: Sequence[Words], predictions: Sequence[Sequence[Prediction]]) -> list[WordTags]:
    """F of either side: a `Tree` and `Tags` both have a tag for each word."""
    return [units[0].label.tags for _, units in zip(inputs, predictions, strict=True)]


def match_tags(first: Sequence[WordTags], second: Sequence[WordTags]) -> list[Match]:
    """M: the share of the words with equal tags. Lengths only differ when friends are shuffled on purpose."""
    matches: list[Match] = []
    for a, b in zip(first, second, strict=True):
        longest = max(len(a), len(b))
        score = sum(x == y for x, y in zip(a, b, strict=False)) / longest if longest else None
        matches.append(Match((score,), (score,)))
    return matches


def constituency_tagging() -> Friendship:
    """The friendship between a task named 'constituency' and one named 'tagging'."""
    return Friendship(
        name="constituency-tagging",
        first="constituency",
        second="tagging",
        translate_first=translate_tags,
        translate_second=translate_tags,
        matcher=match_tags,
    )
