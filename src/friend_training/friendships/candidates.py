"""Which tasks would make good friends: candidates ranked from predictions that people already have.

For every ordered pair, a task and a friend that would check it: how often their predictions agree after translation,
in excess of what predictions for different texts do; and where the task's gold is known, how much cleaner its labels
are if only agreed ones are taken. The corrected theory (docs/theory.md) says what an independent friend as good would
leave; with the measured dependence of the errors put in, what it says is what is counted, and that ranks.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from friend_training.analysis.agreement import agreement_report
from friend_training.analysis.error_rates import binomial_standard_error, corrected_error_rate
from friend_training.core.expected import expected
from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction, draws
from friend_training.errors import ConfigError, DataError
from friend_training.friendships.labels import Table, label_friendship, learned_means

FEWEST = 100
"""With fewer texts in common two tasks are not compared: a learned table and its check need a fold each."""

_FOLDS, _ROUNDS, _FEWEST_WITH_GOLD = 5, 5, 50


class PredictedLine(BaseModel):
    """A line of a file of predictions: {"id": "12.3", "label": "joy", "confidence": 0.83, "gold": "joy"}.

    Confidence and gold may be missing; a label of null is no answer.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    id: str
    label: str | int | bool | None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    gold: str | int | bool | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """The predictions of one task, by the ids of texts."""

    task: str
    lines: Mapping[str, PredictedLine]


def read_predictions(path: Path) -> Predicted:
    """A task is called after its file."""
    if not path.is_file():
        raise DataError("no such file; expected predictions, one JSON object per line", path=path)
    found: dict[str, PredictedLine] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            read = PredictedLine.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"][:1])
            such = 'expected a line such as {"id": "12.3", "label": "joy", "confidence": 0.8, "gold": "joy"}'
            message = f"{where + ': ' if where else ''}{expected(problem)}; {such}"
            raise DataError(message, path=path, line=number) from None
        if read.id in found:
            raise DataError(f"a second prediction for {read.id!r}", path=path, line=number)
        found[read.id] = read
    return Predicted(path.stem, found)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What `friend` would be worth to `task`. None: not known without the task's gold, or nothing to count.

    `texts` could be compared: both tasks predict something for them, and the translation has a meaning for both.
    `agreed` of them agree, `by_chance` would if the predictions were for different texts. `wrong` of the task's labels
    are wrong, `wrong_if_agreed` of those the friend agrees with, `wrong_if_shuffled` of those it would agree with if it
    looked at other texts: friends that know nothing agree on the commonest label, which may be the safest.
    `wrong_if_independent` is what the theory leaves to a friend as good whose errors are independent,
    `wrong_of_surest` what is wrong of as many labels as were agreed on, but the surest. `correlation` is that of the
    errors of both.
    """

    task: str
    friend: str
    texts: int
    agreed: float
    by_chance: float
    standard_error: float
    wrong: float | None = None
    wrong_if_agreed: float | None = None
    wrong_if_shuffled: float | None = None
    wrong_if_independent: float | None = None
    wrong_of_surest: float | None = None
    correlation: float | None = None

    @property
    def excess(self) -> float:
        """Agreement beyond chance."""
        return self.agreed - self.by_chance

    @property
    def lift(self) -> float | None:
        """How many fewer labels are wrong of those the friend agrees with, beyond what a shuffled friend does."""
        if self.wrong_if_shuffled is None or self.wrong_if_agreed is None:
            return None
        return self.wrong_if_shuffled - self.wrong_if_agreed

    @property
    def by_chance_alone(self) -> bool:
        """Whether nothing speaks for this friend."""
        return self.excess <= 2 * self.standard_error


def rank_friends(
    tasks: Sequence[Predicted], means: Mapping[tuple[str, str], Table] | None = None, *, seed: int = 0
) -> list[Candidate]:
    """Every task with every possible friend, the best first: by lift where gold is known, then by excess.

    `means` has tables of what labels of a first task mean to a second, by their names. In a pair without one a label
    means itself if both have the same labels; else the table is learned from the predictions, that of each
    text from other texts.
    """
    names = [one.task for one in tasks]
    if len(tasks) < 2 or len(set(names)) < len(names):
        raise ConfigError(f"friends are found among two tasks or more of different names, given: {', '.join(names)}")
    for pair in means or {}:
        if not set(pair) <= set(names) or pair[0] == pair[1]:
            raise ConfigError(f"means of {'-'.join(pair)}: expected two of {', '.join(names)}")
    found = [
        candidate for one, other in combinations(tasks, 2) for candidate in _pair(one, other, means or {}, seed=seed)
    ]
    return sorted(found, key=lambda one: (one.lift is None, -(one.lift or 0.0), -one.excess))


@dataclass(frozen=True, slots=True)
class _Text:
    """Whatever has an id: more a translation of labels does not ask."""

    id: str


def _pair(
    one: Predicted, other: Predicted, means: Mapping[tuple[str, str], Table], *, seed: int
) -> tuple[Candidate, Candidate]:
    """Two tasks as each other's friend."""
    if (other.task, one.task) in means or (
        (one.task, other.task) not in means and len(_labels(other)) > len(_labels(one))
    ):
        one, other = other, one  # a table leads from the task of more labels to that of fewer
    table = means.get((one.task, other.task))
    if table is None and _labels(one) == _labels(other):
        table = {label: label for label in _labels(one)}
    ids = sorted(
        text
        for text, line in one.lines.items()
        if line.label is not None and text in other.lines and other.lines[text].label is not None
    )
    if len(ids) < FEWEST:
        raise DataError(
            f"{one.task} and {other.task} have predictions for {len(ids)} texts in common, expected {FEWEST} or more"
        )
    seen = _Seen({}, {}, {})
    for learning, held in _folds(ids) if table is None else [(ids, ids)]:
        try:
            friendship = _friendship(one, other, table, learning)
        except DataError:  # nothing goes together, which is an answer
            return _silent(one, other, ids), _silent(other, one, ids)
        seen.add(friendship, one, other, held, seed)
    if not seen.agreed or not seen.chance:
        return _silent(one, other, ids), _silent(other, one, ids)
    return _candidate(one, other, seen), _candidate(other, one, seen)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen of a pair, by text: whether both agree; how often they do when one of them looks at another text;
    and, by task too, whether the friend's answer allows the task's gold. Texts with nothing to match are in none."""

    agreed: dict[str, bool]
    chance: dict[str, float]
    told: dict[tuple[str, str], bool]

    def add(self, friendship: Friendship, one: Predicted, other: Predicted, ids: Sequence[str], seed: int) -> None:
        firsts, seconds = _units(one, ids), _units(other, ids)
        self.agreed.update(_matched(friendship, ids, firsts, seconds))
        order = np.random.default_rng(seed).permutation(len(ids))
        rounds: dict[str, list[bool]] = {}
        for shift in range(1, min(_ROUNDS, len(ids) - 1) + 1):
            there = np.empty(len(ids), np.int64)
            there[order] = np.roll(order, shift)  # one circle: no text keeps its own
            for text, match in _matched(friendship, ids, firsts, [seconds[place] for place in there]).items():
                rounds.setdefault(text, []).append(match)
        self.chance.update({text: sum(found) / len(found) for text, found in rounds.items()})
        for task, of_first in ((one, True), (other, False)):
            known = [text for text in ids if task.lines[text].gold is not None]
            gold = [[Prediction(text, task.lines[text].gold, 1.0)] for text in known]
            sides = (gold, _units(other, known)) if of_first else (_units(one, known), gold)
            for text, match in _matched(friendship, known, *sides).items():
                self.told[task.task, text] = match


def _matched(
    friendship: Friendship, ids: Sequence[str], firsts: Sequence[Any], seconds: Sequence[Any]
) -> dict[str, bool]:
    found = friendship.match([_Text(text) for text in ids], firsts, seconds)
    scores = {text: match.first[0] for text, match in zip(ids, found, strict=True)}
    return {text: score == 1.0 for text, score in scores.items() if score is not None}


def _silent(task: Predicted, friend: Predicted, ids: Sequence[str]) -> Candidate:
    """No label of one goes with one of the other."""
    return Candidate(task.task, friend.task, len(ids), 0.0, 0.0, 0.0)


def _candidate(task: Predicted, friend: Predicted, seen: _Seen) -> Candidate:
    agreed = seen.agreed
    share, epsilon = sum(agreed.values()) / len(agreed), float(np.mean(list(seen.chance.values())))
    error = binomial_standard_error(sum(agreed.values()), len(agreed))
    found = Candidate(task.task, friend.task, len(agreed), share, epsilon, error)
    known = [text for text in agreed if text in seen.chance and (task.task, text) in seen.told]
    if len(known) < _FEWEST_WITH_GOLD:
        return found
    right = np.array([task.lines[text].label == task.lines[text].gold for text in known])
    both = np.array([agreed[text] for text in known])
    by_chance = np.array([seen.chance[text] for text in known])
    told = [seen.told[task.task, text] for text in known]
    report = agreement_report(correct_a=right.tolist(), correct_b=told, agreed=both.tolist(), epsilon=epsilon)
    if report.error is None or not by_chance.any():
        return found
    # Seen from Σ a friend that does not know the answer is still right by chance; the theory's η is that of knowing it.
    knowing = max(0.0, (report.eta_b - epsilon) / (1 - epsilon)) if epsilon < 1 else 0.0
    sure = np.argsort([-task.lines[text].confidence for text in known], kind="stable")[: int(both.sum())]
    return replace(
        found,
        wrong=1 - report.eta_a,
        wrong_if_agreed=report.error,
        wrong_if_shuffled=float(np.average(~right, weights=by_chance)),
        wrong_if_independent=corrected_error_rate(report.eta_a, knowing, epsilon),
        wrong_of_surest=float((~right[sure]).mean()),
        correlation=None if report.errors is None else report.errors.phi,
    )


def _friendship(one: Predicted, other: Predicted, table: Table | None, learning: Sequence[str]) -> Friendship:
    """By the table given, or by one that is learned from these texts; a label it does not know means nothing."""
    if table is None:
        pairs = [[task.lines[text].label for text in learning] for task in (one, other)]
        table = learned_means(*pairs).table
    return label_friendship(one.task, other.task, {label: table.get(label) for label in _labels(one)} | dict(table))


def _units(task: Predicted, ids: Sequence[str]) -> list[list[Prediction]]:
    lines = [task.lines[text] for text in ids]
    return [[Prediction(line.id, line.label, line.confidence)] for line in lines]


def _folds(ids: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """The texts that a table is learned from, and those that it is used on, five times over."""
    fold = draws(ids, "fold") % _FOLDS
    return [
        (
            [text for text, of in zip(ids, fold, strict=True) if of != held],
            [t for t, of in zip(ids, fold, strict=True) if of == held],
        )
        for held in range(_FOLDS)
    ]


def _labels(task: Predicted) -> set[Any]:
    return {label for line in task.lines.values() for label in (line.label, line.gold) if label is not None}


def means_of(given: Any, tasks: Sequence[str]) -> dict[tuple[str, str], Table]:
    """Tables of means as a file has them: {"emotion-polarity": {"joy": "positive", …}, …}; of two tasks, one table."""
    if not isinstance(given, dict):
        raise ConfigError(f"means are {json.dumps(given)[:100]}, expected tables by pairs of tasks, such as a-b")
    pairs = {f"{first}-{second}": (first, second) for first in tasks for second in tasks if first != second}
    if given.keys() <= pairs.keys() and all(isinstance(table, dict) for table in given.values()):
        return {pairs[name]: table for name, table in given.items()}
    if len(tasks) == 2 and not any(isinstance(meaning, dict) for meaning in given.values()):
        return {(tasks[0], tasks[1]): given}
    raise ConfigError(f"means are of {', '.join(map(str, given))}; expected tables by pairs: {', '.join(pairs)}")
