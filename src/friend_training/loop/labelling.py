"""Label one shard of the pool: a pure function of the shard and the tasks' weights, whoever runs it and where.

The first half of Algorithm 1's inner loop: every task predicts, every friendship matches (`label_shard`). `LabelWork`
is what a worker is sent and `Engine` whoever has workers; `FirstLabels` remembers what Base predicted.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import TypeAdapter

from friend_training.core.friendship import (
    Aggregation,
    Friendship,
    Remembering,
    aggregate_matches,
    asked_together,
    can_rank,
    decide,
    ranking,
)
from friend_training.core.pool import SetAside, ShardSource
from friend_training.core.task import Input, Prediction, Task
from friend_training.errors import FriendTrainingError
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.store import LABELLED, nullable

Audit = Callable[[str, Prediction], bool | None]
"""Is this prediction of this task right? None where nobody knows. Only the store's `correct` column sees it."""


Predictions = Sequence[Sequence[Prediction]]


class Labels(Protocol):
    """As much of a task as labelling needs."""

    @property
    def label_type(self) -> Any: ...

    def predict(self, inputs: Sequence[Any]) -> Predictions: ...


Column = npt.NDArray[np.float64]


def label_shard(
    tasks: Mapping[str, Labels],
    friendships: Sequence[Friendship],
    inputs: Sequence[Input],
    *,
    aggregate: Aggregation,
    audit: Audit | None = None,
    advanced: Callable[[int, int], None] = lambda done, total: None,
) -> pa.Table:
    """The rows of the store for these inputs: task after task, units in the order of the inputs."""
    with asked_together(tasks.values(), friendships):
        return _label_shard(tasks, friendships, inputs, aggregate, audit, advanced)


def _label_shard(
    tasks: Mapping[str, Labels],
    friendships: Sequence[Friendship],
    inputs: Sequence[Input],
    aggregate: Aggregation,
    audit: Audit | None,
    advanced: Callable[[int, int], None],
) -> pa.Table:
    steps = len(tasks) + len(friendships)
    predictions: dict[str, Predictions] = {}
    for name, task in tasks.items():
        predictions[name] = task.predict(inputs)
        _check_predictions(name, inputs, predictions[name])
        advanced(len(predictions), steps)
    matches: dict[str, dict[str, Column]] = {name: {} for name in tasks}
    for number, friendship in enumerate(friendships, start=1):
        first, second = _match(friendship, inputs, predictions[friendship.first], predictions[friendship.second])
        matches[friendship.first][friendship.name] = first
        matches[friendship.second][friendship.name] = second
        advanced(len(tasks) + number, steps)
    kept = dict(predictions)
    for friendship in friendships:
        if friendship.merge_first is not None:  # each of several friends adds to the labels that those before it left
            name = friendship.first
            kept[name] = friendship.merge_first(inputs, kept[name], predictions[friendship.second])
            _check_units(name, predictions[name], kept[name])
    for name in tasks:
        together = [friendship for friendship in friendships if friendship.joint(name) is not None]
        if together:
            kept[name] = decide(name, together, tasks, inputs, predictions)
            _check_units(name, predictions[name], kept[name])
        for friendship in together:
            if friendship.joint(name).confidence == "joint":  # type: ignore[union-attr]
                both = {**predictions, name: kept[name]}
                scores = _match(friendship, inputs, both[friendship.first], both[friendship.second])
                matches[name][friendship.name] = scores[0 if name == friendship.first else 1]
    return pa.concat_tables(
        [_rows(task, name, inputs, kept[name], matches[name], aggregate, audit) for name, task in tasks.items()]
    )


def _rows(
    task: Labels,
    name: str,
    inputs: Sequence[Input],
    predictions: Predictions,
    matches: Mapping[str, Column],
    aggregate: Aggregation,
    audit: Audit | None,
) -> pa.Table:
    units = [prediction for of_input in predictions for prediction in of_input]
    names = sorted(matches)
    by_friendship = np.array([matches[friendship] for friendship in names]).reshape(len(names), len(units))
    to_json = TypeAdapter(task.label_type).dump_json
    columns: dict[str, Any] = {
        "unit": [prediction.unit for prediction in units],
        "input": [given.id for given, of_input in zip(inputs, predictions, strict=True) for _ in of_input],
        "task": [name] * len(units),
        "label": [to_json(prediction.label).decode() for prediction in units],
        "confidence": np.array([prediction.confidence for prediction in units], np.float64),
        "content": [prediction.content for prediction in units],
        "kind": [prediction.kind for prediction in units],
        "match": nullable(aggregate_matches(by_friendship, aggregate)),
        "matches": pa.MapArray.from_arrays(
            np.arange(len(units) + 1, dtype=np.int32) * len(names),
            names * len(units),
            nullable(by_friendship.T.ravel()),
        ),
        "correct": [None if audit is None else audit(name, prediction) for prediction in units],
    }
    return pa.table(columns, schema=LABELLED)


def _match(
    friendship: Friendship, inputs: Sequence[Input], first: Predictions, second: Predictions
) -> tuple[Column, Column]:
    """The scores of one friendship for all units of its two tasks (Eq. 4); NaN: nothing to match."""
    found = friendship.match(inputs, first, second)
    if len(found) != len(inputs):
        raise FriendTrainingError(f"friendship {friendship.name!r}: {len(found)} matches for {len(inputs)} inputs")
    return (
        _scores(friendship.name, friendship.first, inputs, first, [match.first for match in found]),
        _scores(friendship.name, friendship.second, inputs, second, [match.second for match in found]),
    )


def _scores(
    friendship: str,
    task: str,
    inputs: Sequence[Input],
    predictions: Predictions,
    scores: Sequence[Sequence[float | None]],
) -> Column:
    for given, of_input, found in zip(inputs, predictions, scores, strict=True):
        if len(found) != len(of_input):
            raise FriendTrainingError(
                f"friendship {friendship!r}: {len(found)} scores for the {len(of_input)} units of task {task!r}"
                f" in input {given.id!r}"
            )
    column = np.array([score for found in scores for score in found], np.float64)  # None → NaN
    if np.any((column < 0) | (column > 1)):
        raise FriendTrainingError(f"friendship {friendship!r}: a matching score outside [0, 1] for task {task!r}")
    return column


def _check_predictions(task: str, inputs: Sequence[Input], predictions: Predictions) -> None:
    if len(predictions) != len(inputs):
        raise FriendTrainingError(f"task {task!r}: {len(predictions)} lists of predictions for {len(inputs)} inputs")
    seen: set[str] = set()
    for of_input in predictions:
        for prediction in of_input:
            if not 0 <= prediction.confidence <= 1:
                raise FriendTrainingError(
                    f"task {task!r}: confidence {prediction.confidence} of unit {prediction.unit!r} is not in [0, 1]"
                )
            if prediction.unit in seen:
                raise FriendTrainingError(f"task {task!r}: two units are called {prediction.unit!r}")
            seen.add(prediction.unit)


def _check_units(task: str, before: Predictions, merged: Predictions) -> None:
    if [[one.unit for one in units] for units in before] != [[one.unit for one in units] for units in merged]:
        raise FriendTrainingError(f"task {task!r}: merging labels must leave its units as they were")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder that a task is loaded from, and the digest that its files must have."""

    folder: Path
    digest: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of the store for one shard. `inputs` were labelled, the others set aside."""

    rows: pa.Table
    inputs: int
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelWork:
    """Everything that labelling in one iteration depends on, besides the shard; workers get a copy of it.

    Whoever computes it, the coordinating process alone writes the store and the record of a step. So a worker that dies
    leaves nothing behind, and one that was thought dead and comes back late has nowhere to write.
    """

    tasks: Mapping[str, Task]
    checkpoints: Mapping[str, Checkpoint]
    friendships: Sequence[Friendship]
    aggregate: Aggregation
    audit: Audit | None = None

    def load(self) -> None:
        """Give every task the weights of its checkpoint: once per worker."""
        for name, checkpoint in self.checkpoints.items():
            load_checkpoint(self.tasks[name], checkpoint.folder, digest=checkpoint.digest)

    def label(
        self,
        source: ShardSource,
        advanced: Callable[[int, int], None] = lambda done, total: None,
        queried: Mapping[str, Labels] | None = None,
    ) -> Labelled:
        """The rows of a shard. `queried` are stand-ins for the tasks that remember predictions (`FirstLabels`)."""
        shard, tasks = source.read(), queried or self.tasks
        rows = label_shard(
            tasks, self.friendships, shard.inputs, aggregate=self.aggregate, audit=self.audit, advanced=advanced
        )
        return Labelled(rows, len(shard.inputs), shard.set_aside)


class Engine(Protocol):
    """Carries out labelling somewhere else than in the coordinating process."""

    def labelled(self, work: LabelWork, sources: Iterator[ShardSource]) -> Generator[Labelled]:
        """One result for each source, in their order. Closing the iterator before its end stops the workers."""
        ...


Key = tuple[int, str, int]
"""The task, the digest of its weights, and the shard."""


class FirstLabels:
    """Base's predictions for the pool: the first iteration of every method needs the same ones.

    Shared by the methods of one comparison, which run one after the other in one process. A prediction depends on
    weights and shard only, so nothing but time depends on this. Predictions are held in memory: it is for pools that
    are held there too.
    """

    def __init__(self) -> None:
        # The task itself is part of the key: weights of the same digest can stand in another kind of model.
        self._predicted: dict[Key, tuple[Labels, Predictions]] = {}

    def queried(self, task: Labels, digest: str, shard: int) -> "Queried":
        """A stand-in for the task, whose weights are those of the digest, that labels this one shard."""
        return Queried(task, (id(task), digest, shard), self._predicted)


@dataclass(frozen=True, slots=True)
class Queried:
    """A task whose predictions for one shard are computed once."""

    task: Labels
    key: Key
    predicted: dict[Key, tuple[Labels, Predictions]]

    @property
    def label_type(self) -> Any:
        return self.task.label_type

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        if self.key not in self.predicted:
            self.predicted[self.key] = (self.task, self.task.predict(inputs))  # held, so that its id stays its own
        return self.predicted[self.key][1]

    def remembering(self) -> AbstractContextManager[None]:
        return self.task.remembering() if isinstance(self.task, Remembering) else nullcontext()

    @property
    def ranks(self) -> bool:
        return can_rank(self.task)

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        return ranking(self.task).n_best(inputs, k)

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        return ranking(self.task).log_likelihood(inputs, labels)
