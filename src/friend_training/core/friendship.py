"""A friendship joins two tasks: two translations into a common space Σ and a matcher (Eq. 4 of the paper).

A task with several friends has one matching score per friendship and unit; `aggregate_matches` makes one of them.

Eq. 4 lets a friend say whether a label is right. A friend can also help to choose the label (`decide`): of a task's k
likeliest labels and its friends' proposals the one with the largest log p_own + Σ (log p_friend + γ · match) is taken.
What one of them had said otherwise can be left open, so that nothing is learnt there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
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


Auto = Literal["auto"]


@dataclass(frozen=True, slots=True)
class Joint:
    """How one task of a friendship has its labels decided.

    `match_weight` is γ, `temperature` divides both tasks' log-probabilities; "auto" has them found on dev, anew in each
    iteration. `best` and `friend_best` are how many of each one's likeliest labels are considered; with one of the
    friend's, or a friend that cannot rank, its prediction stands. Of the proposals the `proposals` likeliest are
    considered. `friend` replaces the friend's predictions, `foreign` (a seed) lets every input be matched with another
    input's friend, and `through` is the friendship that labels are matched by, where a control has changed the one
    that predictions are: all of these are for controls.

    With `best` 1 and nothing proposed the task's own prediction stands, and `settle` alone says what of it is learnt:
    labels in parts for tasks that cannot rank. `confidence` "joint" makes the confidence of a label the share of its
    score among those considered, and matches the label that was decided on; it is for labels that are chosen as wholes.
    `every` says that all labels are learnt that have a part left, whatever their scores.
    """

    match_weight: float | Auto
    temperature: float | Auto = 1.0
    best: int = 16
    friend_best: int = 1
    proposals: int = 16
    propose: Proposals | None = None
    settle: Settle | None = None
    friend: Callable[[Sequence[Any], Predictions], Predictions] | None = None
    foreign: int | None = None
    confidence: Literal["own", "joint"] = "own"
    through: "Friendship | None" = None
    every: bool = False

    @property
    def ranks(self) -> bool:
        """Whether other labels than one's own prediction are considered."""
        return self.best > 1 or self.propose is not None

    @property
    def to_fit(self) -> bool:
        """Whether there is something to be found on dev."""
        return self.ranks and "auto" in (self.match_weight, self.temperature)


@dataclass(frozen=True, slots=True)
class Friendship:
    """An edge of the friendship graph: task `first` and task `second`, by name.

    Where Σ is the first task's own label space, its friend can do more than check: with `merge_first` the first task
    is trained on labels made of both predictions. Each prediction alone is matched before, and confidence is its.
    `propose_first` gives the second task's predictions as labels of the first, `propose_second` the other way round; a
    friendship whose translations cannot be turned round has none. With `joint_first` or `joint_second` that task's
    labels are decided on together with the friend's (`decide`), whatever task it is. `parts_first` and `parts_second`
    say what of a label is learnt where labels are chosen part by part; a task without them has labels of one part.
    `described` is what a config says of the friendship, if it can say all of it: its kind and the settings of that
    kind.
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
    parts_first: Settle | None = None
    parts_second: Settle | None = None
    described: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for part in ("translate_first", "translate_second", "matcher"):
            if not callable(getattr(self, part)):
                raise ConfigError(
                    f"friendship {self.name} of {self.first} and {self.second}: {part} is {getattr(self, part)!r},"
                    " expected a function of a batch"
                )

    def joint(self, task: str) -> Joint | None:
        """How the labels of one of its tasks are decided."""
        return {self.first: self.joint_first, self.second: self.joint_second}.get(task)

    def with_joint(self, task: str, joint: Joint | None) -> "Friendship":
        """The same friendship with the labels of one task decided otherwise."""
        return replace(self, joint_first=joint) if task == self.first else replace(self, joint_second=joint)

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
    name: str,
    friendships: Sequence[Friendship],
    tasks: Mapping[str, Any],
    inputs: Sequence[Any],
    predictions: Mapping[str, Predictions],
) -> list[list[Prediction]]:
    """The labels of a task, decided on together with all its friends that take part in that; units stay as they are."""
    return consider(name, friendships, tasks, inputs, predictions).decided()


Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one friend has to say: its predictions or likeliest answers to each input, the sums of their
    log-probabilities, and the match of every candidate of every unit with each of them."""

    friendship: Friendship
    joint: Joint
    predicted: Predictions
    logs: Sequence[Sequence[float]] = ()
    matches: Sequence[Sequence[Sequence[Numbers]]] = ()


@dataclass(frozen=True, slots=True)
class Considered:
    """All that is weighed for the labels of a task: the candidates of every unit and their log-probabilities, and what
    each friend says of them. Without candidates the task's own predictions stand."""

    inputs: Sequence[Any]
    own: Predictions
    opinions: Sequence[Opinion]
    likeliest: Candidates
    candidates: Sequence[Sequence[Sequence[Prediction]]] = ()
    logs: Sequence[Sequence[Numbers]] = ()

    def decided(self) -> list[list[Prediction]]:
        """The labels to learn, by the weights of the friendships."""
        labels: Predictions = self.own
        if self.candidates:
            ranking_ones = [one.joint for one in self.opinions if one.joint.ranks]
            weights = [_number(joint.match_weight) for joint in ranking_ones]
            labels = self.weighed(weights, _number(ranking_ones[0].temperature))
        known = [
            [[unit, *best] for unit, best in zip(units, found, strict=True)]
            for units, found in zip(self.own, self.likeliest, strict=True)
        ]
        for one in self.opinions:
            if one.joint.settle is not None:
                labels = one.joint.settle(self.inputs, labels, known, one.predicted)
        return [[*units] for units in labels]

    def weighed(self, weights: Sequence[float], temperature: float) -> list[list[Prediction]]:
        """The candidates with the largest log p_own + Σ (log p_friend + γ · match), unit by unit.

        `weights` has γ of each friendship that ranks labels; 0 leaves a friend out. The units of an input share the
        answer of each friend, so all combinations of answers are tried.
        """
        rescored = any(one.joint.confidence == "joint" for one in self.opinions)
        return [
            [
                _chosen(unit, found, of_unit, rescored=rescored)
                for unit, found, of_unit in zip(units, candidates, of_input, strict=True)
            ]
            for units, candidates, of_input in zip(
                self.own, self.candidates, self.scores(weights, temperature), strict=True
            )
        ]

    def scores(self, weights: Sequence[float], temperature: float) -> Iterator[list[Numbers]]:
        """Input by input, the scores of the candidates of every unit under the friends' best answers."""
        ranking_ones = [one for one in self.opinions if one.joint.ranks]
        heard = [
            (one, weight) for one, weight in zip(ranking_ones, weights, strict=True) if weight or len(weights) == 1
        ]
        for number, logs in enumerate(self.logs):
            if len(logs) == 1:  # friends share the one label only: each has its best answer to every candidate
                total = logs[0] / temperature
                for one, weight in heard:
                    answered = np.array(one.logs[number])[:, None] / temperature
                    total = total + (answered + weight * np.stack([found[0] for found in one.matches[number]])).max(0)
                yield [total]
                continue
            best, chosen = -np.inf, list[Numbers]()
            for answers in product(*(range(len(one.logs[number])) for one, _ in heard)):
                scores, said = [of_unit / temperature for of_unit in logs], 0.0
                for (one, weight), answer in zip(heard, answers, strict=True):
                    matches = one.matches[number][answer]
                    scores = [score + weight * match for score, match in zip(scores, matches, strict=True)]
                    said += float(one.logs[number][answer]) / temperature
                whole = said + sum(float(np.max(of_unit)) for of_unit in scores)
                if whole > best or not chosen:
                    best, chosen = whole, scores
            yield chosen


def consider(
    name: str,
    friendships: Sequence[Friendship],
    tasks: Mapping[str, Any],
    inputs: Sequence[Any],
    predictions: Mapping[str, Predictions],
) -> Considered:
    """Ask a task and its friends for all that its labels are decided by."""
    own, opinions = predictions[name], list[Opinion]()
    for friendship in friendships:
        joint = friendship.joint(name)
        if joint is not None:
            others = predictions[friendship.second if name == friendship.first else friendship.first]
            opinions.append(
                Opinion(friendship, joint, others if joint.friend is None else joint.friend(inputs, others))
            )
    ranking_ones = [one for one in opinions if one.joint.ranks]
    if not ranking_ones:
        return Considered(inputs, own, opinions, [[[unit] for unit in units] for units in own])
    likeliest = ranking(tasks[name]).n_best(inputs, max(one.joint.best for one in ranking_ones))
    proposed: list[list[list[Prediction]]] = [[[] for _ in units] for units in own]
    for one in ranking_ones:
        if one.joint.propose is not None and one.joint.foreign is None:
            for units, found in zip(proposed, one.joint.propose(inputs, likeliest, one.predicted), strict=True):
                for unit, new in zip(units, found, strict=True):
                    unit.extend(new)
    most = max(one.joint.proposals for one in ranking_ones)
    candidates, logs = _weighed(ranking(tasks[name]), inputs, own, likeliest, proposed, most)
    heard = [_opinion(name, one, tasks, inputs, candidates) if one.joint.ranks else one for one in opinions]
    return Considered(inputs, own, heard, likeliest, candidates, logs)


def _opinion(
    name: str,
    one: Opinion,
    tasks: Mapping[str, Any],
    inputs: Sequence[Any],
    candidates: Sequence[Sequence[Sequence[Prediction]]],
) -> Opinion:
    first = name == one.friendship.first
    friend = tasks[one.friendship.second if first else one.friendship.first]
    answers, logs = _answers(friend, one.joint, inputs, one.predicted)
    return replace(
        one,
        logs=logs,
        matches=_matches(one.joint.through or one.friendship, one.joint, inputs, candidates, answers, first=first),
    )


def _chosen(unit: Prediction, found: Sequence[Prediction], scores: Numbers, *, rescored: bool) -> Prediction:
    best = int(np.argmax(scores))
    label = _with_label(unit, found[best])
    if not rescored:
        return label
    return replace(label, confidence=float(1 / np.exp(scores - scores[best]).sum()))


def _number(given: float | Auto) -> float:
    if isinstance(given, str):
        raise ConfigError("joint labels: what is 'auto' is found on dev first (loop/thresholds.py)")
    return given


def ranking(task: Any) -> Ranking:
    """The task, if it can rank labels; one that cannot is refused."""
    if not isinstance(task, Ranking):
        name = getattr(task, "name", type(task).__name__)
        raise UnsupportedTaskError(f"joint labels need a task with n_best and log_likelihood; {name!r} has them not")
    return task


def can_rank(task: Any) -> bool:
    """Whether a task ranks its labels; a stand-in answers for the task it stands for."""
    return isinstance(task, Ranking) and bool(getattr(task, "ranks", True))


def _with_label(unit: Prediction, chosen: Prediction) -> Prediction:
    return replace(unit, label=chosen.label, content=chosen.content, kind=chosen.kind)


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
    if joint.friend_best == 1 or not can_rank(friend):
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
