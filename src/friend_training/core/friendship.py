"""A friendship joins two tasks: two translations into a common space Σ and a matcher (Eq. 4 of the paper).

A task with several friends has one matching score per friendship and unit; `aggregate_matches` makes one of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from friend_training.core.seeds import draws
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError, FriendTrainingError

Aggregation = Literal["mean", "min", "max", "geometric"]


def aggregate_matches(scores: npt.NDArray[np.float64], how: Aggregation) -> npt.NDArray[np.float64]:
    """Aggregate the scores of every friendship; NaN, "nothing to match", is left out unless there is nothing else."""
    # scores: friendship × unit → unit
    if how not in get_args(Aggregation):
        raise ConfigError(f"aggregate: {how!r} is none of {', '.join(get_args(Aggregation))}")
    matched = ~np.isnan(scores)
    low = np.min(np.where(matched, scores, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(matched, scores, -np.inf), axis=0, initial=-np.inf)
    count = matched.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if how == "min":
            result = low
        elif how == "max":
            result = high
        elif how == "mean":
            result = np.where(matched, scores, 0.0).sum(axis=0) / count
        else:
            result = np.exp(np.where(matched, np.log(scores), 0.0).sum(axis=0) / count)
        # Rounding must not move a mean out of its bounds: the score of a single friend stays what it is, and agreement
        # with every friend stays exactly 1.
        return np.where(count > 0, np.clip(result, low, high), np.nan)


class Translation(Protocol):
    """F: what a task predicts for an input, reduced to an element of Σ. Batch in, batch out."""

    def __call__(self, inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> Sequence[Any]: ...


@dataclass(frozen=True, slots=True)
class Match:
    """The matching scores of one input: one for each unit of either task, in the order of its predictions.

    Each is in [0, 1], 1 is total agreement; None means that there was nothing to match for this unit.
    """

    first: tuple[float | None, ...]
    second: tuple[float | None, ...]


class Matcher(Protocol):
    """M: two translations of the same input → matching scores. Batch in, batch out."""

    def __call__(self, first: Sequence[Any], second: Sequence[Any], /) -> Sequence[Match]: ...


class Merge(Protocol):
    """Both friends' predictions as labels of the first task: its own predictions, unit by unit, with other labels."""

    def __call__(
        self, inputs: Sequence[Any], first: Sequence[Sequence[Prediction]], second: Sequence[Sequence[Prediction]], /
    ) -> Sequence[Sequence[Prediction]]: ...


class Propose(Protocol):
    """What the friend's answer says as labels of one's own task: unit by unit of one's own predictions, or None.

    The confidence of a proposal is the friend's.
    """

    def __call__(
        self, inputs: Sequence[Any], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]], /
    ) -> Sequence[Sequence[Prediction | None]]: ...


Predictions = Sequence[Sequence[Prediction]]

Candidates = Sequence[Sequence[Sequence[Prediction]]]
"""Input by input and unit by unit: labels that the unit may have."""


class Proposals(Protocol):
    """What a friend's answers say of one's own labels: unit by unit, labels to be considered beside `likeliest`."""

    def __call__(self, inputs: Sequence[Any], likeliest: Candidates, friends: Predictions, /) -> Candidates: ...


class Settle(Protocol):
    """The labels to learn of those decided on: what was proposed or predicted otherwise may be left open in them.

    `likeliest` are one's own predictions and likeliest labels.
    """

    def __call__(
        self, inputs: Sequence[Any], decided: Predictions, likeliest: Candidates, friends: Predictions, /
    ) -> Sequence[Sequence[Prediction]]: ...


@dataclass(frozen=True, slots=True)
class Joint:
    """How one task of a friendship has its labels decided.

    `match_weight` is γ, `temperature` divides both tasks' log-probabilities, `best` and `friend_best` are how many of
    each one's likeliest labels are considered; with one of the friend's its prediction stands. Of the proposals the
    `proposals` likeliest are considered. `friend` replaces the friend's predictions, `foreign` (a seed) lets every
    input be matched with another input's friend: both are controls.

    With `best` 1 and nothing proposed the task's own prediction stands, and `settle` alone says what of it is learnt:
    labels in parts for tasks that cannot rank.
    """

    match_weight: float
    temperature: float = 1.0
    best: int = 16
    friend_best: int = 1
    proposals: int = 16
    propose: Proposals | None = None
    settle: Settle | None = None
    friend: Callable[[Sequence[Any], Predictions], Predictions] | None = None
    foreign: int | None = None


@dataclass(frozen=True, slots=True)
class Friendship:
    """An edge of the friendship graph: task `first` and task `second`, by name.

    Where Σ is the first task's own label space, its friend can do more than check: with `merge_first` the first task
    is trained on labels made of both predictions. Each prediction alone is matched before, and confidence is its.
    `propose_first` gives the second task's predictions as labels of the first, `propose_second` the other way round; a
    friendship whose translations cannot be turned round has none. With `joint_first` or `joint_second` that task's
    labels are decided on together with the friend's (`core.joint`), whatever task it is. `described` is what a config
    says of the friendship, if it can say all of it: its kind and the settings of that kind.
    """

    name: str
    first: str
    second: str
    translate_first: Translation
    translate_second: Translation
    matcher: Matcher
    merge_first: Merge | None = None
    propose_first: Propose | None = None
    propose_second: Propose | None = None
    joint_first: Joint | None = None
    joint_second: Joint | None = None
    described: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for part in ("translate_first", "translate_second", "matcher"):
            if not callable(getattr(self, part)):
                raise ConfigError(
                    f"friendship {self.name} of {self.first} and {self.second}: {part} is {getattr(self, part)!r},"
                    " expected a function of a batch"
                )

    def match(
        self,
        inputs: Sequence[Any],
        first: Sequence[Sequence[Prediction]],
        second: Sequence[Sequence[Prediction]],
    ) -> Sequence[Match]:
        """m = M(F_a(f_a(x)), F_b(f_b(x))) for a batch of inputs.

        What a translation or matcher of the user's does wrong is told with friendship, task and expectation.
        """
        translated_first = self._translated(self.first, self.translate_first, inputs, first)
        translated_second = self._translated(self.second, self.translate_second, inputs, second)
        with self._naming(f"the matcher of {self.first} and {self.second}", "a Match for each input"):
            found = self.matcher(translated_first, translated_second)
            wrong = next((match for match in found if not isinstance(match, Match)), None)
        if wrong is not None:
            raise ConfigError(
                f"friendship {self.name}: the matcher of {self.first} and {self.second} gave {wrong!r},"
                f" expected a Match for each input, with one score for each unit of either"
            )
        return found

    def _translated(
        self, task: str, translate: Translation, inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]]
    ) -> Sequence[Any]:
        expected = "one element of Σ for each input"
        with self._naming(f"the translation of task {task}", expected):
            found = translate(inputs, predictions)
            count = len(found)
        if count != len(inputs):
            raise ConfigError(
                f"friendship {self.name}: the translation of task {task} gave {count} for {len(inputs)} inputs,"
                f" expected {expected}"
            )
        return found

    @contextmanager
    def _naming(self, part: str, expected: str) -> Iterator[None]:
        try:
            yield
        except (FriendTrainingError, OSError, MemoryError):
            raise
        except Exception as error:  # whatever code of the user's raises
            raise ConfigError(
                f"friendship {self.name}: {part} failed, {type(error).__name__}: {error}; expected {expected}"
            ) from error


def partners(ids: Sequence[str], shapes: Sequence[tuple[int, int]], seed: int) -> dict[int, int]:
    """Which input's friend each input is given where friends are shuffled on purpose: never its own.

    Inputs of one shape (their numbers of units of both tasks) are put in a random order, and each takes the next one's:
    one cycle through all of them. An input without another of its shape has no partner.
    """
    draw = draws(ids, "shuffled", seed)
    groups: dict[tuple[int, int], list[int]] = {}
    for index in sorted(range(len(ids)), key=lambda index: (int(draw[index]), ids[index])):
        groups.setdefault(shapes[index], []).append(index)
    cycles = [group for group in groups.values() if len(group) > 1]
    pairs = [pair for cycle in cycles for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
    return dict(sorted(pairs))
