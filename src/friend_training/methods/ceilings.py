"""Ceilings: what friend-training could gain if its selection made no mistakes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from friend_training.core.friendship import Friendship, Match, Translation
from friend_training.core.labelling import Audit
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError

Verdicts = tuple[float, ...]


def oracle(friendship: Friendship, audit: Audit | None) -> Friendship:
    """A friendship that knows the hidden gold: a unit's matching score is 1 where its label is right, else 0.

    With total agreement as the rule exactly the right pseudo-labels are chosen. A unit without gold is not right.
    """
    if audit is None:
        raise ConfigError(
            "fdt-oracle chooses by the hidden gold of the pool, and this pool has none: it takes the embedded"
            " dialogues, or public data with pool_of: labelled"
        )
    return replace(
        friendship,
        translate_first=_verdicts(friendship.first, audit),
        translate_second=_verdicts(friendship.second, audit),
        matcher=_as_they_are,
    )


def _verdicts(task: str, audit: Audit) -> Translation:
    def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> list[Verdicts]:
        return [tuple(float(audit(task, prediction) is True) for prediction in units) for units in predictions]

    return translate


def _as_they_are(first: Sequence[Verdicts], second: Sequence[Verdicts]) -> list[Match]:
    return [Match(*pair) for pair in zip(first, second, strict=True)]
