"""Inputs with gold that are labelled as if they had none: how well a selector's scores tell right from wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.aggregate import Aggregation
from friend_training.core.aiming import Aimed, threshold_for_precision
from friend_training.core.friendship import Friendship
from friend_training.core.labelling import label_shard
from friend_training.core.picks import Precision
from friend_training.core.selector import Selector
from friend_training.core.store import scores_of
from friend_training.core.task import Prediction, Task


@dataclass(frozen=True, slots=True)
class Probe:
    """Dev inputs of a task, in the form of the pool's (its friends label them too), and whether a prediction is right.

    They are looked at to find a threshold and never trained on; `right` gives None where nobody knows.
    """

    inputs: Sequence[Any]
    right: Callable[[Prediction], bool | None]


def friends_of(name: str, friendships: Sequence[Friendship]) -> list[Friendship]:
    return [friendship for friendship in friendships if name in (friendship.first, friendship.second)]


def probed(
    name: str, probe: Probe, tasks: Mapping[str, Task], friendships: Sequence[Friendship], *, aggregate: Aggregation
) -> pa.Table:
    """What the task, as it is now, says of the probe: the rows that labelling a pool of these inputs would give.

    `tasks` and `friendships` are the whole run's; only those that have to do with this task do anything.
    """
    between = friends_of(name, friendships)
    names = {name} | {other for friendship in between for other in (friendship.first, friendship.second)}
    asked = {other: task for other, task in tasks.items() if other in names}

    def audit(task: str, prediction: Prediction) -> bool | None:
        return probe.right(prediction) if task == name else None

    rows = label_shard(asked, between, probe.inputs, aggregate=aggregate, audit=audit)
    return rows.filter(pc.equal(rows["task"], name))


def aimed(selector: Selector, rows: pa.Table) -> Aimed:
    """The threshold of a selector that aims at a precision, by the rows of a probe that it could choose from."""
    assert isinstance(selector.pick, Precision)
    known = rows.filter(pc.is_valid(rows["correct"]))
    scores = scores_of(known)
    possible = selector.possible(scores)
    return threshold_for_precision(
        selector.overall(scores)[possible],
        known["correct"].to_numpy(zero_copy_only=False).astype(bool)[possible],
        selector.pick,
    )
