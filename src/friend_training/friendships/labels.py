"""Friendships between any two label sets: a table, or two functions, say what a label of one means to the other.

An element of Σ is, for each unit, the SET of meanings that its label allows. With a table Σ is the second task's own
label set: a label of the second task allows itself, one of the first task what the table says. Two units match when
their sets have a member in common. An empty set says nothing, and then there is nothing to match.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from friend_training.core.friendship import Friendship, Match, Propose, Translation
from friend_training.core.task import Counts, Prediction, ratio
from friend_training.errors import ConfigError, DataError
from friend_training.types import Tags

Meaning = Hashable | Collection[Hashable] | None
"""What a label means: one element of Σ, any of several (a list, tuple or set), or None: nothing to say."""

Table = Mapping[str, Meaning]
"""For each label of the first task its meaning as a label of the second."""

Meanings = Callable[[Any], Meaning]
"""The same as a function of the label, which may then be structured."""

Allowed = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What labels of two tasks mean in Σ, and the way back, from one task's labels to the other's, where there is one.

    `table` is the one that it was made of, if it was.
    """

    of_first: Callable[[Any], Allowed]
    of_second: Callable[[Any], Allowed]
    to_first: Callable[[Any], Allowed] | None = None
    to_second: Callable[[Any], Allowed] | None = None
    table: Mapping[Any, Allowed] | None = None


def read_means(
    means: Table | tuple[Meanings, Meanings] | None, friendship: str, first: str, second: str, otherwise: Meaning = None
) -> Dictionary:
    """A table, two functions or, as None, the same labels on both sides, made into what a friendship needs."""
    if means is None:
        return Dictionary(_itself, _itself, _itself, _itself)
    if isinstance(means, Mapping):
        table = {label: _as_set(meaning) for label, meaning in means.items()}
        backwards: dict[Hashable, Allowed] = {
            other: frozenset(label for label, allowed in table.items() if other in allowed)
            for other in frozenset[Hashable]().union(*table.values())
        }
        rest = _as_set(otherwise)
        of_first = naming_the_task(friendship, first, EXPECTED)(lambda label: _looked_up(table, label, rest))
        return Dictionary(of_first, _itself, lambda label: backwards.get(label, frozenset()), of_first, table)
    if not (isinstance(means, tuple) and len(means) == 2 and all(map(callable, means))):
        raise ConfigError(
            f"friendship {friendship}: means is {means!r}, expected a table from labels of {first} to labels of"
            f" {second}, or a tuple of two functions"
        )
    left, right = means
    return Dictionary(
        naming_the_task(friendship, first, EXPECTED)(lambda label: _as_set(left(label))),
        naming_the_task(friendship, second, EXPECTED)(lambda label: _as_set(right(label))),
    )


EXPECTED = "a label, a list of labels or None"

T = TypeVar("T")


def naming_the_task(friendship: str, task: str, expected: str) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """What goes wrong with a label, in a function of the user's perhaps, is told with friendship and task."""

    def decorate(function: Callable[[Any], T]) -> Callable[[Any], T]:
        def told(label: Any) -> T:
            try:
                return function(label)
            except ConfigError as error:
                raise ConfigError(f"friendship {friendship}, task {task}: {error}") from None
            except Exception as error:  # whatever a function of the user's raises
                raise ConfigError(
                    f"friendship {friendship}, task {task}: the meaning of {label!r} could not be told,"
                    f" {type(error).__name__}: {error}; expected {expected}"
                ) from error

        return told

    return decorate


def _itself(label: Any) -> Allowed:
    return frozenset({label})


@overload
def label_friendship(
    first: str,
    second: str,
    means: Table | tuple[Meanings, Meanings],
    *,
    otherwise: Meaning = None,
    name: str | None = None,
) -> Friendship: ...


@overload
def label_friendship(
    first: str, second: str, means: Literal["learned"], *, name: str | None = None
) -> "FriendshipToLearn": ...


def label_friendship(
    first: str,
    second: str,
    means: Table | tuple[Meanings, Meanings] | Literal["learned"],
    *,
    otherwise: Meaning = None,
    name: str | None = None,
) -> "Friendship | FriendshipToLearn":
    """Two tasks over the same inputs, by name, as friends.

    `means` is a table from labels of `first` to those of `second`, or two functions that take a label of either task
    to its meaning. A table can be turned round, so it also proposes labels: where a label means exactly one of the
    friend's. From functions nothing is proposed. With "learned" the table is still to be learned from pairs of labels.

    The first may be a tagger: its tags mean whatever one of them means, and `otherwise` if none means anything.
    """
    name = name or f"{first}-{second}"
    if isinstance(means, str) and means == "learned":
        return FriendshipToLearn(name, first, second)
    if means is None or isinstance(means, str):
        raise ConfigError(
            f"friendship {name}: means is {means!r}, expected a table from labels of {first} to labels of {second},"
            " a tuple of two functions, or 'learned'"
        )
    if otherwise is not None and not isinstance(means, Mapping):
        raise ConfigError(f"friendship {name}: otherwise is for a table of means, which is {means!r:.100}")
    found = read_means(means, name, first, second, otherwise)
    table = found.table or {}
    section = described("labels", found.table)
    return Friendship(
        name,
        first,
        second,
        _translation(found.of_first),
        _translation(found.of_second),
        match_meanings,
        propose_first=_proposal(found.to_first, {other for allowed in table.values() for other in allowed}),
        propose_second=_proposal(found.to_second, table),
        described=section if section is None or otherwise is None else section | {"otherwise": otherwise},
    )


def _proposal(meaning: Callable[[Any], Allowed] | None, labels: Collection[Hashable]) -> Propose | None:
    """None where no label of the friend means exactly one: such a friend never says which it would be."""
    return _proposing(meaning) if meaning is not None and any(len(meaning(one)) == 1 for one in labels) else None


def described(kind: str, table: Mapping[Any, Allowed] | None) -> dict[str, Any] | None:
    """A table as a config has it, where all its labels are texts."""
    if table is None or not all(isinstance(one, str) for label, means in table.items() for one in (label, *means)):
        return None
    return {"kind": kind, "means": {label: sorted(map(str, means)) or None for label, means in table.items()}}


@dataclass(frozen=True, slots=True)
class FriendshipToLearn:
    """A friendship between labels whose table nobody has written: it is learned from pairs of labels."""

    name: str
    first: str
    second: str

    @property
    def described(self) -> Mapping[str, Any]:
        """What a config says of it besides the two tasks."""
        return {"kind": "labels", "means": "learned"}

    def learned(self, first_labels: Sequence[Any], second_labels: Sequence[Any]) -> tuple[Friendship, "LearnedMeans"]:
        """The friendship with the table that `learned_means` finds, and how good that is."""
        try:
            found = learned_means(first_labels, second_labels)
        except DataError as error:
            raise DataError(f"friendship {self.name}: {error}") from None
        return label_friendship(self.first, self.second, found.table, name=self.name), found


@dataclass(frozen=True, slots=True)
class LearnedMeans:
    """A table of means that was learned from `pairs` texts, and how good such tables are on texts they have not seen.

    `agreement` is the share of unseen texts whose two labels match, of those where the table says something
    (`telling`, a share of all); `chance` is the same for pairs of labels of different texts. Where the agreement is
    hardly above chance the two tasks have little to say to each other.
    """

    table: dict[Any, list[Any] | None]
    pairs: int
    agreement: float
    chance: float
    telling: float


_FEWEST, _FEWEST_OF_A_LABEL = 30, 5
_FOLDS = 5
_SURE = 2.0


def learned_means(first_labels: Sequence[Any], second_labels: Sequence[Any]) -> LearnedMeans:
    """Learn what labels of a task mean to its friend from the labels that the same texts have in both.

    They are gold labels, or both models' predictions for unlabeled texts, of Base for instance. None is no label. A
    label means those of the friend that go with it clearly more often than by chance: by two standard errors, and by
    at least half as much as the one that gains most. A rare label, or one that goes
    with none, means nothing.
    """
    if len(first_labels) != len(second_labels):
        raise DataError(
            f"{len(first_labels)} labels of the first task and {len(second_labels)} of the second, expected pairs"
        )
    pairs = [(a, b) for a, b in zip(first_labels, second_labels, strict=True) if a is not None and b is not None]
    firsts, seconds = (sorted({pair[side] for pair in pairs}, key=str) for side in (0, 1))
    if len(pairs) < _FEWEST or len(firsts) < 2 or len(seconds) < 2:
        raise DataError(
            f"there are {len(pairs)} texts with labels of both tasks, {len(firsts)} labels of the first and"
            f" {len(seconds)} of the second among them; to learn what labels mean, expected {_FEWEST} or more with at"
            " least two of each"
        )
    rows, columns = {a: n for n, a in enumerate(firsts)}, {b: n for n, b in enumerate(seconds)}
    places = np.array([(rows[a], columns[b]) for a, b in pairs])
    counts = np.zeros((_FOLDS, len(firsts), len(seconds)))
    np.add.at(counts, (_folds(len(pairs)), places[:, 0], places[:, 1]), 1)
    whole = counts.sum(0)
    means = _means_of(whole)
    if not means.any():
        raise DataError(
            f"no label of the first task goes with one of the second more often than by chance, in {len(pairs)} texts;"
            " expected tasks that have something to do with each other, or more texts"
        )
    matched = telling = expected = 0.0
    for fold in counts:
        unseen = _means_of(whole - fold)
        of_first = fold.sum(1)
        says = unseen.any(1)
        matched += float((fold * unseen).sum())
        telling += float(of_first[says].sum())
        expected += float((of_first[:, None] * unseen * (fold.sum(0) / max(1.0, fold.sum()))).sum())
    table = {a: [b for b, n in columns.items() if means[rows[a], n]] or None for a in firsts}
    return LearnedMeans(
        table, len(pairs), float(ratio(matched, telling)), float(ratio(expected, telling)), telling / len(pairs)
    )


def _folds(pairs: int) -> Any:
    """The part that each pair is left out in: pairs in an order of their own, so that sorted texts do no harm."""
    return np.random.default_rng(0).permutation(pairs) % _FOLDS


def _means_of(counts: Counts) -> NDArray[np.bool_]:
    """Which second labels (columns) a first label (row) means, from how often they go together."""
    of_first = counts.sum(1, keepdims=True)
    chance = ratio(counts.sum(0, keepdims=True), counts.sum())
    gain = ratio(counts, of_first) - chance
    error = np.sqrt(ratio(chance * (1 - chance), of_first))
    clear = (of_first >= _FEWEST_OF_A_LABEL) & (gain > _SURE * error)
    means: NDArray[np.bool_] = clear & (gain >= gain.max(1, keepdims=True) / 2)
    return means


def labels_without_meaning(means: Table, gold: Iterable[str]) -> list[str]:
    """The labels of the first task's gold that do not stand in the table, sorted: to be told before training."""
    return sorted(set(gold) - means.keys())


def match_meanings(first: Sequence[tuple[Allowed, ...]], second: Sequence[tuple[Allowed, ...]], /) -> list[Match]:
    """M: 1 where two units have a meaning in common, 0 where they have none.

    An input is one unit for a classifier. Should a task have several, a unit's score is the share of the friend's that
    it meets, of those that say something.
    """
    return [Match(_scores(a, b), _scores(b, a)) for a, b in zip(first, second, strict=True)]


def _scores(own: Sequence[Allowed], friends: Sequence[Allowed]) -> tuple[float | None, ...]:
    telling = [allowed for allowed in friends if allowed]
    return tuple(
        sum(bool(allowed & other) for other in telling) / len(telling) if allowed and telling else None
        for allowed in own
    )


def _translation(meaning: Callable[[Any], Allowed]) -> Translation:
    """F: each unit's label as the meanings it allows."""

    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[tuple[Allowed, ...]]:
        return [tuple(meaning(unit.label) for unit in units) for units in predictions]

    return translate


def _proposing(meaning: Callable[[Any], Allowed]) -> Propose:
    """The friend's answer as a label: where all that it says is one label, and the same one."""

    def propose(
        inputs: Sequence[Any], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]], /
    ) -> list[list[Prediction | None]]:
        proposals = [_agreed(units, meaning) for units in friends]
        return [
            [None if found is None or isinstance(unit.label, Tags) else Prediction(unit.unit, *found) for unit in units]
            for units, found in zip(own, proposals, strict=True)
        ]

    return propose


def _agreed(friends: Sequence[Prediction], meaning: Callable[[Any], Allowed]) -> tuple[Hashable, float] | None:
    """The one label that the friend's units mean, and the confidence of the least sure of them."""
    said = [(meaning(unit.label), unit.confidence) for unit in friends]
    telling = [(allowed, confidence) for allowed, confidence in said if allowed]
    labels = {label for allowed, _ in telling for label in allowed}
    return (labels.pop(), min(confidence for _, confidence in telling)) if len(labels) == 1 else None


def _looked_up(table: Mapping[Any, Allowed], label: Any, otherwise: Allowed = frozenset()) -> Allowed:
    """What a label means; of tags whatever one of them means, and if none means anything, `otherwise`."""
    if isinstance(label, Tags):
        return frozenset[Hashable]().union(*(_looked_up(table, tag) for tag in label.tags)) or otherwise
    if label not in table:
        raise ConfigError(f"label {label!r} does not stand in means, which has {', '.join(map(str, table))}")
    return table[label]


def _as_set(meaning: Meaning) -> Allowed:
    if meaning is None:
        return frozenset()
    if isinstance(meaning, list | tuple | set | frozenset):
        return frozenset(meaning)
    if isinstance(meaning, Mapping):
        raise ConfigError(f"a meaning is {meaning!r}, expected a label, a list of labels or None")
    return frozenset({meaning})  # type: ignore[arg-type]
