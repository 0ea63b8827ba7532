"""A friendship joins two tasks: two translations into a common space Σ and a matcher (Eq. 4 of the paper).

A task with several friends has one matching score per friendship and unit; `aggregate_matches` makes one of them.

Eq. 4 lets a friend say whether a label is right. A friend can also help to choose the label (`decide`): of a task's k
likeliest labels and its friend's proposals the one with the largest log p_own + log p_friend + γ · match is taken. What
one of the two had said otherwise can be left open, so that nothing is learnt there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from friend_training.core.task import Prediction, draws
from friend_training.errors import ConfigError, FriendTrainingError, UnsupportedTaskError

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


@runtime_checkable
class Ranking(Protocol):
    """What a task offers beyond its four verbs for its labels to be decided on together with a friend's."""

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        """The k likeliest labels of every unit, the likeliest first; fewer where there are fewer."""
        ...

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        """The log-probability of each of some labels of every unit; -inf for a label that the model cannot give."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """What a task may offer besides: to compute only once what several questions about the same inputs need."""

    def remembering(self) -> AbstractContextManager[None]:
        """Inside it the same list of inputs is read once; the task must not be changed meanwhile."""
        ...


@contextmanager
def asked_together(tasks: Iterable[Any], friendships: Sequence[Friendship]) -> Iterator[None]:
    """Around labelling: where labels are decided on together, tasks are asked about the same inputs several times."""
    joint = any(one.joint_first is not None or one.joint_second is not None for one in friendships)
    with ExitStack() as remembering:
        for task in tasks:
            if joint and isinstance(task, Remembering):
                remembering.enter_context(task.remembering())
        yield


def decide(
    friendship: Friendship,
    joint: Joint,
    tasks: tuple[Any, Any],
    inputs: Sequence[Any],
    predictions: tuple[Predictions, Predictions],
    *,
    first: bool,
) -> list[list[Prediction]]:
    """The labels of the first (or else the second) task of a friendship; units and confidences stay as they are."""
    (task, friend), (own, others) = (tasks, predictions) if first else (tasks[::-1], predictions[::-1])
    if joint.friend is not None:
        others = joint.friend(inputs, others)
    if joint.best == 1 and joint.propose is None:
        return _settled(joint, inputs, own, [[[unit] for unit in units] for units in own], others)
    likeliest = ranking(task).n_best(inputs, joint.best)
    proposed: Candidates = [[() for _ in units] for units in own]
    if joint.propose is not None and joint.foreign is None:
        proposed = joint.propose(inputs, likeliest, others)
    candidates, own_logs = _weighed(ranking(task), inputs, own, likeliest, proposed, joint.proposals)
    answers, friend_logs = _answers(friend, joint, inputs, others)
    matches = _matches(friendship, joint, inputs, candidates, answers, first=first)
    decided: list[list[Prediction]] = []
    for number, units in enumerate(own):
        # matches: friend's answers × unit × candidates
        scores = [
            [
                logs / joint.temperature + joint.match_weight * match
                for logs, match in zip(own_logs[number], of_answer, strict=True)
            ]
            for of_answer in matches[number]
        ]
        whole = [
            float(logs) / joint.temperature + sum(float(np.max(of_unit)) for of_unit in of_answer)
            for logs, of_answer in zip(friend_logs[number], scores, strict=True)
        ]
        chosen = scores[int(np.argmax(whole))]
        decided.append(
            [
                _with_label(unit, found[int(np.argmax(of_unit))])
                for unit, found, of_unit in zip(units, candidates[number], chosen, strict=True)
            ]
        )
    known = [
        [[unit, *best] for unit, best in zip(units, found, strict=True)]
        for units, found in zip(own, likeliest, strict=True)
    ]
    return _settled(joint, inputs, decided, known, others)


def _settled(
    joint: Joint, inputs: Sequence[Any], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    settled = decided if joint.settle is None else joint.settle(inputs, decided, likeliest, friends)
    return [[*units] for units in settled]


def ranking(task: Any) -> Ranking:
    """The task, if it can rank labels; one that cannot is refused."""
    if not isinstance(task, Ranking):
        name = getattr(task, "name", type(task).__name__)
        raise UnsupportedTaskError(f"joint labels need a task with n_best and log_likelihood; {name!r} has them not")
    return task


def _with_label(unit: Prediction, chosen: Prediction) -> Prediction:
    return replace(unit, label=chosen.label, content=chosen.content, kind=chosen.kind)


Numbers = npt.NDArray[np.float64]


def _weighed(
    task: Ranking, inputs: Sequence[Any], own: Predictions, likeliest: Candidates, proposed: Candidates, most: int
) -> tuple[list[list[list[Prediction]]], list[list[Numbers]]]:
    """The candidates of every unit with their log-probabilities: prediction and likeliest, then the best proposals."""
    sure = [
        [_different([unit, *best]) for unit, best in zip(units, found, strict=True)]
        for units, found in zip(own, likeliest, strict=True)
    ]
    all_of = [
        [_different([*known, *new]) for known, new in zip(units, found, strict=True)]
        for units, found in zip(sure, proposed, strict=True)
    ]
    weighed = task.log_likelihood(inputs, [[[one.label for one in unit] for unit in units] for units in all_of])
    candidates: list[list[list[Prediction]]] = []
    logs: list[list[Numbers]] = []
    for known, units, found in zip(sure, all_of, weighed, strict=True):
        kept = [
            [*range(len(unit_known)), *sorted(range(len(unit_known), len(unit)), key=lambda at: -of_unit[at])[:most]]
            for unit_known, unit, of_unit in zip(known, units, found, strict=True)
        ]
        candidates.append([[unit[at] for at in places] for unit, places in zip(units, kept, strict=True)])
        logs.append([np.array([of[at] for at in places]) for of, places in zip(found, kept, strict=True)])
    return candidates, logs


def _different(candidates: Sequence[Prediction]) -> list[Prediction]:
    """The first candidate of every label."""
    return list({candidate.label: candidate for candidate in reversed(candidates)}.values())[::-1]


def _answers(
    friend: Any, joint: Joint, inputs: Sequence[Any], predictions: Predictions
) -> tuple[list[list[list[Prediction]]], list[list[float]]]:
    """The friend's answers to each input, all its units in each, and what their log-probabilities sum up to."""
    if joint.friend_best == 1:
        return [[[*units]] for units in predictions], [[0.0] for _ in predictions]
    ranked = ranking(friend)
    found = ranked.n_best(inputs, joint.friend_best)
    logs = ranked.log_likelihood(inputs, [[[one.label for one in unit] for unit in units] for units in found])
    answers, sums = [], []
    for units, of_units, known in zip(found, logs, predictions, strict=True):
        most = max((len(unit) for unit in units), default=1)
        places = [[min(rank, len(unit) - 1) for unit in units] for rank in range(most)]
        answers.append(
            [
                [_with_label(one, unit[at]) for one, unit, at in zip(known, units, of_rank, strict=True)]
                for of_rank in places
            ]
        )
        sums.append([sum(of[at] for of, at in zip(of_units, of_rank, strict=True)) for of_rank in places])
    return answers, sums


def _matches(
    friendship: Friendship,
    joint: Joint,
    inputs: Sequence[Any],
    candidates: Sequence[Sequence[Sequence[Prediction]]],
    answers: Sequence[Sequence[Sequence[Prediction]]],
    *,
    first: bool,
) -> list[list[list[Numbers]]]:
    """For every input, answer of the friend and unit: the match of each candidate. 0 where there is nothing to match.

    A unit's candidates are tried with the candidates of equal rank of the other units beside it: matchers score each
    unit by itself.
    """
    if joint.match_weight == 0:
        return [
            [[np.zeros(len(unit)) for unit in units] for _ in found]
            for units, found in zip(candidates, answers, strict=True)
        ]
    translate, translate_friend = friendship.translate_first, friendship.translate_second
    if not first:
        translate, translate_friend = translate_friend, translate
    ranks = [
        [[unit[min(rank, len(unit) - 1)] for unit in units] for rank in range(max(map(len, units), default=0))]
        for units in candidates
    ]
    own_at = [number for number, of_ranks in enumerate(ranks) for _ in of_ranks]
    friend_at = [number for number, of_answers in enumerate(answers) for _ in of_answers]
    own_in_sigma = iter(translate([inputs[number] for number in own_at], [units for found in ranks for units in found]))
    friend_in_sigma = iter(
        translate_friend([inputs[number] for number in friend_at], [units for found in answers for units in found])
    )
    own_translated = [[next(own_in_sigma) for _ in found] for found in ranks]
    friend_translated = [[next(friend_in_sigma) for _ in found] for found in answers]
    if joint.foreign is not None:
        shapes = [(len(units), len(found[0])) for units, found in zip(candidates, answers, strict=True)]
        other = partners([given.id for given in inputs], shapes, joint.foreign)
        friend_translated = [friend_translated[other[n]] if n in other else [] for n in range(len(inputs))]
    pairs = [
        (own_sigma, friend_sigma)
        for own_found, friend_found in zip(own_translated, friend_translated, strict=True)
        for friend_sigma in friend_found
        for own_sigma in own_found
    ]
    firsts, seconds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = friendship.matcher(firsts, seconds) if first else friendship.matcher(seconds, firsts)
    if len(found) != len(pairs):
        raise FriendTrainingError(f"friendship {friendship.name!r}: {len(found)} matches for {len(pairs)} pairs")
    scores = iter(match.first if first else match.second for match in found)
    result: list[list[list[Numbers]]] = []
    for units, own_found, friend_found in zip(candidates, own_translated, friend_translated, strict=True):
        of_input = [[next(scores) for _ in own_found] for _ in friend_found] or [
            [(None,) * len(units)] * len(own_found)
        ]
        result.append(
            [
                [
                    np.array([by_rank[min(rank, len(by_rank) - 1)][place] or 0.0 for rank in range(len(unit))])
                    for place, unit in enumerate(units)
                ]
                for by_rank in of_input
            ]
        )
    return result
