"""Label one shard of the pool: a pure function of the shard and the tasks' weights, whoever runs it and where.

The first half of Algorithm 1's inner loop: every task predicts, every friendship matches.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import TypeAdapter

from friend_training.core.aggregate import Aggregation, aggregate_matches
from friend_training.core.friendship import Friendship
from friend_training.core.store import LABELLED, nullable
from friend_training.core.task import Input, Prediction
from friend_training.errors import FriendTrainingError

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
        if friendship.merge_first is not None:  # of several friends each adds to what those before it have said
            name = friendship.first
            kept[name] = friendship.merge_first(inputs, kept[name], predictions[friendship.second])
            _check_units(name, predictions[name], kept[name])
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
