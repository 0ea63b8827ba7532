"""How the pseudo-labels changed over the iterations: agreement, confidence, errors, and what other thresholds do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from friend_training.report.plots import Curve, Figure, lines, threshold_curves
from friend_training.report.pseudo_labels import (
    Effect,
    Units,
    effects,
    errors_together,
    grid_with,
    share_right,
    total_agreement,
)
from friend_training.report.run_reader import MethodRun

ByIteration = Mapping[int, Mapping[str, Units]]
"""The units of a method: iteration → task → units."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One task in one iteration. `counted` is what selection counted; `together` are (friend, φ of their errors)."""

    iteration: int
    counted: Mapping[str, Any]
    total_agreement: float | None
    together: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What one threshold does, by iteration, and in which of them it is the one that was used."""

    threshold: float
    cells: tuple[tuple[Effect, bool], ...]


@dataclass(frozen=True, slots=True)
class ThresholdTable:
    iterations: tuple[int, ...]
    chosen: tuple[int, ...]
    precision: tuple[float | None, ...]
    rows: tuple[ThresholdRow, ...]

    @property
    def instead(self) -> list[tuple[Effect, int, float | None]]:
        """What thresholds a tenth lower and higher than the last one would have done, beside what was done."""
        cells = [row.cells[-1] for row in self.rows]
        used = [effect.threshold for effect, is_used in cells if is_used]
        if not used:
            return []
        near = [e for e, _ in cells if any(abs(e.threshold - used[0] - step) < 0.005 for step in (-0.1, 0.1))]
        return [(effect, self.chosen[-1], self.precision[-1]) for effect in near]


def drifts(method: MethodRun, task: str, found: ByIteration) -> list[Drift]:
    friends = _friends(task, found)
    rows = []
    for iteration, tasks in found.items():
        together = tuple((friend, errors_together(tasks[task], tasks[friend])) for friend in friends)
        rows.append(Drift(iteration, method.selected(iteration)[task], total_agreement(tasks[task]), together))
    return rows


def drift_figure(rows: Sequence[Drift]) -> Figure:
    shares = {
        "mean confidence": ("score-confidence", [row.counted["mean_confidence"] for row in rows]),
        "mean match": ("score-match", [row.counted["mean_match"] for row in rows]),
        "total agreement": ("series-7", [row.total_agreement for row in rows]),
        "chosen, of all": ("series-0", [_share(row.counted["chosen"], row.counted["units"]) for row in rows]),
        "right, of the chosen": ("score-overall", [row.counted["precision"] for row in rows]),
        "right, of all": ("chosen-wrong", [row.counted["accuracy"] for row in rows]),
        "changed label": ("series-3", [row.counted["changed"] for row in rows]),
    }
    curves = [
        Curve(name, looks, values) for name, (looks, values) in shares.items() if any(v is not None for v in values)
    ]
    plot = lines(curves, first=rows[0].iteration, y_label="share", unit_range=True)
    return Figure("Agreement and drift", plot, tuple((curve.name, curve.looks) for curve in curves))


def threshold_table(task: str, found: ByIteration) -> ThresholdTable:
    units = [tasks[task] for tasks in found.values()]
    grid = grid_with(*(one.threshold for one in units))
    by_iteration = [effects(one, grid) for one in units]
    rows = [
        ThresholdRow(
            threshold,
            tuple((e[place], one.threshold == threshold) for e, one in zip(by_iteration, units, strict=True)),
        )
        for place, threshold in enumerate(grid)
    ]
    return ThresholdTable(
        iterations=tuple(found),
        chosen=tuple(int(one.chosen.sum()) for one in units),
        precision=tuple(share_right(one, one.chosen) for one in units),
        rows=tuple(rows),
    )


def threshold_figure(table: ThresholdTable, units: Units) -> Figure:
    """Of the last iteration: how the chosen grow fewer and, one hopes, better."""
    found = [row.cells[-1][0] for row in table.rows]
    curves = [
        Curve("would be chosen, of all", "series-0", [_share(effect.chosen, len(units)) for effect in found]),
        Curve("right, of these", "score-overall", [effect.precision for effect in found]),
    ]
    curves = [curve for curve in curves if any(value is not None for value in curve.values)]
    plot = threshold_curves(curves, [effect.threshold for effect in found], used=units.threshold)
    caption = "What other thresholds would have done." + ("" if units.threshold is None else " Dashed: the one used.")
    return Figure("Other thresholds", plot, tuple((curve.name, curve.looks) for curve in curves), caption)


def _friends(task: str, found: ByIteration) -> list[str]:
    """Tasks that share a friendship with this one: the store keeps a matching score under its name."""
    tasks = found[max(found)]
    names = {name: {friendship for friendship, _ in _matches(units)} for name, units in tasks.items()}
    pairs = [pair for pair in combinations(tasks, 2) if names[pair[0]] & names[pair[1]] and task in pair]
    return [other for pair in pairs for other in pair if other != task]


def _matches(units: Units) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = units.rows["matches"][0].as_py() if len(units) else []
    return found


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
