"""Friendships between taggers of the same words: word by word (`tag_friendship`) or span by span (`span_friendship`).

As for whole labels (`labels.py`), what a tag or a type of span means to the friend is a set, and an empty one says
nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Any

from friend_training.core.friendship import Candidates, Friendship, Match, Predictions, Propose, Translation
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.friendships.labels import (
    Allowed,
    Dictionary,
    Meanings,
    Table,
    described,
    naming_the_task,
    read_means,
)
from friend_training.tasks.token_classification.metrics import OUTSIDE, Span, bio_spans, bio_tags
from friend_training.types import Tags

_OUTSIDE: Allowed = frozenset({OUTSIDE})

Words = tuple[Allowed, ...]
"""What the tags of a sentence mean, word by word."""


def tag_friendship(
    first: str, second: str, means: Table | tuple[Meanings, Meanings] | None = None, *, name: str | None = None
) -> Friendship:
    """Two taggers of the same words, by name, as friends.

    `means` is a table from tags of `first` to those of `second`, in which O means O unless it says otherwise, or two
    functions that take a tag of either task to its meaning; without it both have the same tags.

    The score is the share of words whose tags have a meaning in common. Words that both leave outside are not counted:
    agreement on nothing would be most of it. Where both leave all of them outside it is 1, as for two empty argument
    sets in the paper; whoever wants labels that say something selects by content. Words whose tag says nothing are left
    out, and if no other word is counted there is nothing to match.

    With a table, or the same tags, each friend's tags are proposed to the other where every one means exactly one.
    """
    name = name or f"{first}-{second}"
    found = read_means({OUTSIDE: OUTSIDE, **means} if isinstance(means, Mapping) else means, name, first, second)
    return Friendship(
        name,
        first,
        second,
        _words(found.of_first, name, first),
        _words(found.of_second, name, second),
        match_words,
        propose_first=None if found.to_first is None else _proposing_tags(found.to_first),
        propose_second=None if found.to_second is None else _proposing_tags(found.to_second),
        parts_first=_DisputedWords(found.of_first, found.of_second),
        parts_second=_DisputedWords(found.of_second, found.of_first),
        described=described("tags", found.table),
    )


@dataclass(frozen=True, slots=True)
class _DisputedWords:
    """Tags chosen word by word: a word of which the friend says something else is left open; one of which either says
    nothing is learnt. A label has content where a tag other than O is left to learn."""

    own: Callable[[Any], Allowed]
    friend: Callable[[Any], Allowed]

    def __call__(
        self, inputs: Sequence[Any], decided: Predictions, likeliest: Candidates, friends: Predictions
    ) -> list[list[Prediction]]:
        return [
            [_opened(unit, self._disputed(unit.label.tags, [one.label.tags for one in said])) for unit in units]
            for units, said in zip(decided, friends, strict=True)
        ]

    def _disputed(self, tags: Sequence[str], friends: Sequence[Sequence[str]]) -> set[int]:
        return {
            place
            for said in friends
            for place, (own, other) in enumerate(zip(tags, said, strict=False))
            if (mine := self.own(own)) and (theirs := self.friend(other)) and not mine & theirs
        }


def _opened(unit: Prediction, places: set[int]) -> Prediction:
    """A unit with tags left open beside those that are so already."""
    unsure = tuple(sorted({*unit.label.unsure, *places}))
    learnt = any(tag != OUTSIDE for place, tag in enumerate(unit.label.tags) if place not in unsure)
    return replace(unit, label=replace(unit.label, unsure=unsure), content=learnt)


def match_words(first: Sequence[tuple[Words, ...]], second: Sequence[tuple[Words, ...]], /) -> list[Match]:
    """M: the share of words that agree, of those that at least one tags; a word that a sentence lacks is outside."""
    return [Match(_scores(a, b), _scores(b, a)) for a, b in zip(first, second, strict=True)]


def _scores(own: Sequence[Words], friends: Sequence[Words]) -> tuple[float | None, ...]:
    return tuple(_mean([_agreement(words, other) for other in friends]) for words in own)


def _mean(scores: Sequence[float | None]) -> float | None:
    told = [score for score in scores if score is not None]
    return sum(told) / len(told) if told else None


def _agreement(own: Words, friends: Words) -> float | None:
    pairs = Counter(zip_longest(own, friends, fillvalue=_OUTSIDE))
    nothing = pairs.pop((_OUTSIDE, _OUTSIDE), 0)
    counted = {pair: count for pair, count in pairs.items() if all(pair)}
    if not counted:
        return None if pairs and not nothing else 1.0
    return sum(count for (a, b), count in counted.items() if a & b) / sum(counted.values())


def _words(meaning: Callable[[Any], Allowed], friendship: str, task: str) -> Translation:
    meaning = cache(meaning)

    @naming_the_task(friendship, task, "a label with tags")
    def words(label: Any) -> Words:
        return tuple(map(meaning, label.tags))

    return _each_label(words)


def _each_label(translated: Callable[[Any], Any]) -> Translation:
    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[tuple[Any, ...]]:
        return [tuple(translated(unit.label) for unit in units) for units in predictions]

    return translate


def _proposing_tags(meaning: Callable[[Any], Allowed]) -> Propose:
    def tags(label: Any, words: int) -> tuple[str, ...] | None:
        meanings = [meaning(tag) for tag in label.tags]
        one_each = len(meanings) == words and all(len(allowed) == 1 for allowed in meanings)
        return tuple(str(tag) for allowed in meanings for tag in allowed) if one_each else None

    return _proposing(tags)


def _proposing(tags: Callable[[Any, int], tuple[str, ...] | None]) -> Propose:
    """The friend's label as tags of so many words; a friend that says nothing, or two things, proposes nothing."""

    def propose(
        inputs: Sequence[Any], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]], /
    ) -> list[list[Prediction | None]]:
        return [[proposed(unit, said) for unit in units] for units, said in zip(own, friends, strict=True)]

    def proposed(unit: Prediction, said: Sequence[Prediction]) -> Prediction | None:
        found = tags(said[0].label, len(unit.label.tags)) if len(said) == 1 else None
        if found is None:
            return None
        return Prediction(unit.unit, Tags(found), said[0].confidence, any(tag != OUTSIDE for tag in found))

    return propose


SpansOf = Callable[[Any], Iterable[Span]]
"""The spans of a label: (type, first word, word after the last); words, or whatever else both tasks count in."""

Found = tuple[int, int, Allowed]
"""A span, and what its type means."""


def tag_spans(label: Tags) -> list[Span]:
    """The spans of BIO tags."""
    return bio_spans(label.tags)


def span_friendship(
    first: str,
    second: str,
    means: Table | tuple[Meanings, Meanings] | None = None,
    *,
    spans: tuple[SpansOf, SpansOf] = (tag_spans, tag_spans),
    name: str | None = None,
) -> Friendship:
    """Two tasks that find spans in the same texts, by name, as friends.

    `means` is a table from types of `first` to those of `second`, or two functions that take a type of either to its
    meaning; without it both have the same types. A type that only one of them knows (it means nothing, or no type of
    `first` means it) is left out. `spans` are two functions that give the spans of a label; without them labels are
    BIO tags, and then each friend's spans are proposed to the other, where every type means exactly one.

    The score is the Dice coefficient 2 · matched / (found by first + found by second); two spans match that have the
    same place and a meaning in common. Where neither finds any it is 1, as in the paper; where a friend has no answer
    there is nothing to match. All units of an input have the same score.
    """
    name = name or f"{first}-{second}"
    if not (isinstance(spans, tuple) and len(spans) == 2 and all(map(callable, spans))):
        raise ConfigError(f"friendship {name}: spans is {spans!r}, expected a tuple of two functions")
    found = read_means(means, name, first, second)
    known = frozenset[Any]().union(*found.table.values()) if found.table is not None else None
    of_second = found.of_second if known is None else lambda kind: found.of_second(kind) & known
    both_bio = spans == (tag_spans, tag_spans)
    return Friendship(
        name,
        first,
        second,
        _spans(spans[0], found.of_first, name, first),
        _spans(spans[1], of_second, name, second),
        match_spans,
        propose_first=_proposing_spans(found.to_first) if both_bio and _says_all(found) else None,
        propose_second=_proposing_spans(found.to_second) if both_bio else None,
        parts_first=_DisputedSpans(found.of_first, of_second) if both_bio else None,
        parts_second=_DisputedSpans(of_second, found.of_first) if both_bio else None,
        described=described("spans", found.table) if both_bio else None,
    )


@dataclass(frozen=True, slots=True)
class _DisputedSpans:
    """BIO tags chosen span by span: the words of a span that only one of the friends finds are left open, if both know
    its type; those of any other span and words that both leave outside are learnt."""

    own: Callable[[Any], Allowed]
    friend: Callable[[Any], Allowed]

    def __call__(
        self, inputs: Sequence[Any], decided: Predictions, likeliest: Candidates, friends: Predictions
    ) -> list[list[Prediction]]:
        return [
            [_opened(unit, self._disputed(unit.label.tags, [one.label.tags for one in said])) for unit in units]
            for units, said in zip(decided, friends, strict=True)
        ]

    def _disputed(self, tags: Sequence[str], friends: Sequence[Sequence[str]]) -> set[int]:
        mine = [(start, end, self.own(kind)) for kind, start, end in bio_spans(tags)]
        found: set[int] = set()
        for said in friends:
            theirs = [(start, end, self.friend(kind)) for kind, start, end in bio_spans(said)]
            for here, there in ((mine, theirs), (theirs, mine)):
                for start, end, allowed in here:
                    if allowed and not any((start, end) == one[:2] and allowed & one[2] for one in there):
                        found |= set(range(start, min(end, len(tags))))
        return found


def match_spans(first: Sequence[tuple[Any, ...]], second: Sequence[tuple[Any, ...]], /) -> list[Match]:
    """M: Dice over the spans of all units of either side."""
    matches = []
    for a, b in zip(first, second, strict=True):
        score = _dice([span for unit in a for span in unit], [span for unit in b for span in unit])
        matches.append(Match((score if b else None,) * len(a), (score if a else None,) * len(b)))
    return matches


def _dice(first: Sequence[Found], second: Sequence[Found]) -> float:
    if not first and not second:
        return 1.0
    places: dict[tuple[int, int], list[Allowed]] = {}
    for start, end, allowed in sorted(second, key=_by_freedom):
        places.setdefault((start, end), []).append(allowed)
    matched = 0
    for start, end, allowed in sorted(first, key=_by_freedom):
        there = places.get((start, end), [])
        meets = next((number for number, other in enumerate(there) if allowed & other), None)
        if meets is not None:
            del there[meets]
            matched += 1
    return 2 * matched / (len(first) + len(second))


def _by_freedom(span: Found) -> tuple[int, list[str]]:
    """Those first that can be matched in the fewest ways."""
    return len(span[2]), sorted(map(str, span[2]))


def _spans(spans_of: SpansOf, meaning: Callable[[Any], Allowed], friendship: str, task: str) -> Translation:
    meaning = cache(meaning)

    @naming_the_task(friendship, task, "a label with spans (type, start, end)")
    def found(label: Any) -> tuple[Found, ...]:
        spans = [(start, end, meaning(kind)) for kind, start, end in spans_of(label)]
        return tuple(span for span in spans if span[2])

    return _each_label(found)


def _says_all(found: Dictionary) -> bool:
    """Whether every type of the first task can be said by the second: else it would be proposed as absent."""
    return found.table is None or all(found.table.values())


def _proposing_spans(meaning: Callable[[Any], Allowed] | None) -> Propose | None:
    if meaning is None:
        return None

    def tags(label: Any, words: int) -> tuple[str, ...] | None:
        said = [(meaning(kind), start, end) for kind, start, end in bio_spans(label.tags)]
        if any(len(kinds) > 1 for kinds, _, _ in said):
            return None
        return bio_tags([(str(kind), start, end) for kinds, start, end in said for kind in kinds], words)

    return _proposing(tags)
