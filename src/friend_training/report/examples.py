"""Pseudo-labels to look at: some that were chosen, some that match kept out, some that confidence kept out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.picks import Reason
from friend_training.core.seeds import draws
from friend_training.report.drawn import Drawing, draw
from friend_training.report.units import Bools, Units

COUNT = 20

MISSED = pa.array([Reason.BELOW_THRESHOLD.value, Reason.BELOW_AGREEMENT.value])
"""Why units are rejected that could have been chosen, had their scores been better."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row of the store, and the label drawn with its text."""

    row: Mapping[str, Any]
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class Kind:
    """Some units of one kind: how many there are, and which rows are shown."""

    name: str
    explanation: str
    total: int
    rows: tuple[Mapping[str, Any], ...]


def kinds_of(units: Units, *, count: int = COUNT) -> list[Kind]:
    """A unit that was not chosen is rejected by whichever of its scores is lower.

    They are drawn by a hash of the unit, not picked for their scores: a fair sample, the same whenever it is drawn.
    Labels that say something come first.
    """
    missed = pc.is_in(units.rows["reason"], MISSED).to_numpy()
    by_match = missed & (units.match < units.confidence)
    found = (
        ("chosen", "What the next model was trained on.", units.chosen),
        ("rejected by match", "The model is surer of these than its friend agrees with them.", by_match),
        ("rejected by confidence", "The friend agrees more than the model is sure of them.", missed & ~by_match),
    )
    return [Kind(name, words, int(among.sum()), _some(units, among, count)) for name, words, among in found]


def examples_of(kind: Kind, inputs: Mapping[str, str]) -> list[Example]:
    texts = {name: json.loads(text) for name, text in inputs.items()}
    return [Example(row, draw(json.loads(row["label"]), texts.get(row["input"]))) for row in kind.rows]


def _some(units: Units, among: Bools, count: int) -> tuple[Mapping[str, Any], ...]:
    rows = units.rows.filter(pa.array(among))
    if not len(rows):
        return ()
    order = np.lexsort((draws(rows["unit"].to_pylist(), "example"), ~rows["content"].to_numpy()))[:count]
    return tuple(rows.take(order).to_pylist())
