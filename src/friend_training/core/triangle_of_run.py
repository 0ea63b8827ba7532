"""The triangle of a finished run: what its store says about the accuracy of three friends, iteration by iteration."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from friend_training.core.friendship import Friendship, Match
from friend_training.core.run import Run
from friend_training.core.task import Input, Prediction
from friend_training.core.triangle import PAIRS, Agreements, Triangle, triangle
from friend_training.errors import ConfigError

Right = Callable[[str, str, Any], bool]
"""Is what this task said of the input of this id right in Σ? Used only where gold is at hand, and for warnings."""

_ROUNDS = 5
"""How often the pool is shuffled to see what agrees by chance."""


def triangles_of_run(
    run: Run,
    label_types: Mapping[str, Any],
    friendships: Sequence[Friendship],
    pool: Sequence[Input],
    *,
    right: Right | None = None,
    seed: int = 0,
) -> dict[int, Triangle]:
    """For each iteration of a run, the estimated accuracy of its three tasks, from the labels they gave to the pool.

    `label_types` names the three tasks. The labels of iteration t are those of the models before its training, so they
    belong beside the dev scores of t − 1.
    """
    sides = _sides(list(label_types), friendships)
    return {
        iteration: triangle_of_predictions(
            list(label_types),
            sides,
            pool,
            _predictions(run.store.read(iteration).to_pylist(), label_types, pool),
            right=right,
            seed=seed,
        )
        for iteration in run.store.iterations()
    }


def triangle_of_predictions(
    names: Sequence[str],
    friendships: Sequence[Friendship],
    inputs: Sequence[Input],
    predictions: Mapping[str, Sequence[Sequence[Prediction]]],
    *,
    right: Right | None = None,
    seed: int = 0,
) -> Triangle:
    """The triangle of three tasks' predictions for the same inputs.

    Friends agree on an input if every unit of it that was matched has the score 1. Inputs on which a friend is silent
    are left out. To shuffle, one random circle is drawn, in which the friends stand at one, two and three places from
    each other, so that no two of them look at the same input.
    """
    sides = _sides(names, friendships)
    answered = [i for i in range(len(inputs)) if all(len(predictions[name][i]) for name in names)]
    if len(answered) < len(names):
        raise ConfigError(f"all three friends answered on {len(answered)} inputs: too few to be shuffled")
    given = [inputs[i] for i in answered]
    said = {name: [predictions[name][i] for i in answered] for name in names}
    translated = [
        (one.translate_first(given, said[one.first]), one.translate_second(given, said[one.second])) for one in sides
    ]

    def agreements(places: Mapping[str, Sequence[int]]) -> Agreements:
        columns = []
        for one, (first, second) in zip(sides, translated, strict=True):
            left = [first[i] for i in places[one.first]]
            columns.append([_agree(match) for match in one.matcher(left, [second[i] for i in places[one.second]])])
        return np.array(columns, dtype=np.bool_).T

    rng = np.random.default_rng(seed)
    shuffled = []
    for _ in range(_ROUNDS):
        circle = rng.permutation(len(given))
        shuffled.append(agreements({name: np.roll(circle, k).tolist() for k, name in enumerate(names)}))
    same = agreements({name: range(len(given)) for name in names})
    known = (
        None
        if right is None
        else [[right(name, x.id, units[0].label) for x, units in zip(given, said[name], strict=True)] for name in names]
    )
    return triangle(names, same, np.concatenate(shuffled), correct=known, seed=seed)


def _sides(names: Sequence[str], friendships: Sequence[Friendship]) -> list[Friendship]:
    """The three friendships in the order of PAIRS."""
    wanted = [{names[i], names[j]} for i, j in PAIRS] if len(names) == 3 else []
    found = [[one for one in friendships if {one.first, one.second} == pair] for pair in wanted]
    if len(wanted) != 3 or any(len(matching) != 1 for matching in found):
        raise ConfigError(
            f"a triangle needs three tasks and one friendship between every two of them; given are {', '.join(names)}"
            f" and {', '.join(f'{one.first}-{one.second}' for one in friendships)}"
        )
    return [matching[0] for matching in found]


def _agree(match: Match) -> bool:
    scores = [score for score in (*match.first, *match.second) if score is not None]
    return bool(scores) and all(score == 1.0 for score in scores)


def _predictions(
    rows: Sequence[Mapping[str, Any]], label_types: Mapping[str, Any], pool: Sequence[Input]
) -> dict[str, list[list[Prediction]]]:
    """The tasks' predictions as they were, read back from the store, in the order of the pool."""
    adapters = {name: TypeAdapter[Any](label_type) for name, label_type in label_types.items()}
    found: dict[str, dict[str, list[Prediction]]] = {name: {x.id: [] for x in pool} for name in label_types}
    for row in rows:
        if row["task"] in found:
            label = adapters[row["task"]].validate_json(row["label"])
            found[row["task"]][row["input"]].append(Prediction(row["unit"], label, row["confidence"], row["content"]))
    return {name: [of_task[x.id] for x in pool] for name, of_task in found.items()}
