"""Friendships between any two label sets: a table, or two functions, say what a label of one means to the other.

An element of Σ is, for each unit, the SET of meanings that its label allows. With a table Σ is the second task's own
label set: a label of the second task allows itself, one of the first task what the table says. Two units match when
their sets have a member in common. An empty set says nothing, and then there is nothing to match.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from friend_training.core.friendship import Friendship, Match, Propose, Translation
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError

Meaning = Hashable | Collection[Hashable] | None
"""What a label means: one element of Σ, any of several (a list, tuple or set), or None: nothing to say."""

Table = Mapping[str, Meaning]
"""For each label of the first task its meaning as a label of the second."""

Meanings = Callable[[Any], Meaning]
"""The same as a function of the label, which may then be structured."""

Allowed = frozenset[Hashable]


def label_friendship(
    first: str, second: str, means: Table | tuple[Meanings, Meanings], *, name: str | None = None
) -> Friendship:
    """Two tasks over the same inputs, by name, as friends.

    `means` is a table from labels of `first` to those of `second`, or two functions that take a label of either task
    to its meaning. A table can be turned round, so it also proposes labels: where a label means exactly one of the
    friend's. From functions nothing is proposed.
    """
    name = name or f"{first}-{second}"
    if isinstance(means, Mapping):
        table = {label: _as_set(meaning) for label, meaning in means.items()}
        backwards: dict[Hashable, Allowed] = {
            other: frozenset(label for label, allowed in table.items() if other in allowed)
            for other in frozenset[Hashable]().union(*table.values())
        }
        return Friendship(
            name,
            first,
            second,
            _translation(lambda label: _looked_up(table, label), name, first),
            _translation(lambda label: frozenset({label}), name, second),
            match_meanings,
            propose_first=_proposing(lambda label: backwards.get(label, frozenset())),
            propose_second=_proposing(lambda label: _looked_up(table, label)),
        )
    if not (isinstance(means, tuple) and len(means) == 2 and all(map(callable, means))):
        raise ConfigError(
            f"friendship {name}: means is {means!r}, expected a table from labels of {first} to labels of {second},"
            " or a tuple of two functions"
        )
    of_first, of_second = means
    return Friendship(
        name,
        first,
        second,
        _translation(lambda label: _as_set(of_first(label)), name, first),
        _translation(lambda label: _as_set(of_second(label)), name, second),
        match_meanings,
    )


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


def _translation(meaning: Callable[[Any], Allowed], friendship: str, task: str) -> Translation:
    """F: each unit's label as the meanings it allows."""

    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[tuple[Allowed, ...]]:
        return [tuple(allowed(unit.label) for unit in units) for units in predictions]

    def allowed(label: Any) -> Allowed:
        try:
            return meaning(label)
        except ConfigError as error:
            raise ConfigError(f"friendship {friendship}, task {task}: {error}") from None
        except Exception as error:  # whatever a function of the user's raises
            raise ConfigError(
                f"friendship {friendship}, task {task}: the meaning of {label!r} could not be told,"
                f" {type(error).__name__}: {error}"
            ) from error

    return translate


def _proposing(meaning: Callable[[Any], Allowed]) -> Propose:
    """The friend's answer as a label: where all that it says is one label, and the same one."""

    def propose(
        inputs: Sequence[Any], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]], /
    ) -> list[list[Prediction | None]]:
        proposals = [_agreed(units, meaning) for units in friends]
        return [
            [None if found is None else Prediction(unit.unit, *found) for unit in units]
            for units, found in zip(own, proposals, strict=True)
        ]

    return propose


def _agreed(friends: Sequence[Prediction], meaning: Callable[[Any], Allowed]) -> tuple[Hashable, float] | None:
    """The one label that the friend's units mean, and the confidence of the least sure of them."""
    said = [(meaning(unit.label), unit.confidence) for unit in friends]
    telling = [(allowed, confidence) for allowed, confidence in said if allowed]
    labels = {label for allowed, _ in telling for label in allowed}
    return (labels.pop(), min(confidence for _, confidence in telling)) if len(labels) == 1 else None


def _looked_up(table: Mapping[str, Allowed], label: Any) -> Allowed:
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
