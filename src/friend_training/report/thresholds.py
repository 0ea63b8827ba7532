"""What every other pick threshold would have done: how many units it chooses, and how many of those are right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from friend_training.report.units import Units, share_right

GRID = tuple(round(0.05 * step, 2) for step in range(21))


@dataclass(frozen=True, slots=True)
class Effect:
    """The units whose overall score reaches `threshold`; `precision` is None where nobody knows."""

    threshold: float
    chosen: int
    precision: float | None


def effects(units: Units, thresholds: Sequence[float]) -> list[Effect]:
    """Labels without content, say, stay out at any threshold, and what was chosen by hand stays in."""
    possible = units.candidate & np.isfinite(units.overall)
    by_hand = units.chosen & ~units.candidate
    found = []
    for threshold in thresholds:
        reached = by_hand | possible & (units.overall >= threshold)
        found.append(Effect(threshold, int(reached.sum()), share_right(units, reached)))
    return found


def grid_with(*thresholds: float | None) -> list[float]:
    """The thresholds to show: every 0.05, and those that were used."""
    return sorted({*GRID, *(threshold for threshold in thresholds if threshold is not None)})
