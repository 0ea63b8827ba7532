"""How good the models are, and how the pseudo-labels changed over the iterations.

Models: every method and baseline side by side, on test and by iteration on dev. Pseudo-labels: agreement, confidence,
errors, and what other thresholds do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from friend_training.analysis.metrics import headline, main_metric, metric_spec
from friend_training.report.names import step_in_words
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
from friend_training.report.run_reader import MethodRun, Study
from friend_training.runs.run import FinishedStep, Run
from friend_training.runs.steps import KINDS_OF_WORK, Label, Step, kind_of_work

# Time and memory: of every method by what it did, and of every step.


@dataclass(frozen=True, slots=True)
class StepCost:
    """A step, or the shards of one iteration together."""

    words: str
    seconds: float
    peak_memory_mb: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by kind of work; the memory is the most that the process ever held, if it is known."""

    words: str
    seconds: tuple[float, ...]
    peak_memory_mb: float | None
    steps: tuple[StepCost, ...]

    @property
    def total(self) -> float:
        return sum(self.seconds)


def costs_of(study: Study) -> list[Cost]:
    """What encoder and bridge took comes first, where the study made them itself."""
    runs = [("encoder and bridge", Run(study.folder))]
    runs += [(method.words, method.run) for method in study.methods if method.run is not None]
    if len(runs) == 2 and runs[1][1].folder == study.folder:  # a single run, not a study of several
        del runs[0]
    return [_cost(words, steps) for words, run in runs if (steps := run.finished())]


def _cost(words: str, steps: Sequence[FinishedStep]) -> Cost:
    seconds = dict.fromkeys(KINDS_OF_WORK, 0.0)
    groups: dict[Step | int, list[FinishedStep]] = {}
    for done in steps:
        seconds[kind_of_work(done.step)] += done.seconds
        groups.setdefault(done.step.iteration if isinstance(done.step, Label) else done.step, []).append(done)
    return Cost(
        words,
        tuple(seconds.values()),
        most(done.peak_memory_mb for done in steps),
        tuple(
            StepCost(_words(group), sum(d.seconds for d in group), most(d.peak_memory_mb for d in group))
            for group in groups.values()
        ),
    )


def most(peaks: Iterable[float | None]) -> float | None:
    """The highest of those that are known: on Windows a process does not tell."""
    return max((peak for peak in peaks if peak is not None), default=None)


def _words(group: Sequence[FinishedStep]) -> str:
    step = group[0].step
    if isinstance(step, Label):
        shards = "1 shard" if len(group) == 1 else f"{len(group)} shards"
        return f"labelling the pool, iteration {step.iteration}, {shards}"
    return step_in_words(step)


@dataclass(frozen=True, slots=True)
class Column:
    """A metric of a task on one test set. `first` begins a new group of columns."""

    task: str
    split: str
    metric: str

    @property
    def words(self) -> str:
        spec = metric_spec(self.metric)
        return spec.title + ("" if spec.higher_is_better else " ↓")


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """`groups` are the headings above the columns and how many columns each spans."""

    groups: tuple[tuple[str, int], ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[MethodRun, tuple[Cell, ...]], ...]


def scores_on_test(methods: Sequence[MethodRun], *, everything: bool = False) -> ScoreTable:
    """One row per method that has been tested. `everything` shows all metrics, not only the best known."""
    values: dict[str, dict[Column, float | None]] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for method in methods:
        for one in method.evaluations:
            if one.split == "dev":
                continue
            known = names.setdefault((one.task, one.split), [])
            known += [metric for metric in one.metrics if metric not in known]
            row = values.setdefault(method.name, {})
            row |= {Column(one.task, one.split, metric): value for metric, value in one.metrics.items()}
    groups = {key: list(known) if everything else headline(known) for key, known in names.items()}
    columns = [Column(*key, metric) for key, metrics in groups.items() for metric in metrics]
    cells = {name: [_text(row.get(column), values, column) for column in columns] for name, row in values.items()}
    best = [_best([row[index] for row in cells.values()], column.metric) for index, column in enumerate(columns)]
    several = len({split for _, split in names}) > 1
    return ScoreTable(
        groups=tuple(
            (f"{task}, {split.removeprefix('test:')}" if several else task, len(metrics))
            for (task, split), metrics in groups.items()
        ),
        columns=tuple(columns),
        rows=tuple(
            (method, tuple(Cell(text, text == b) for text, b in zip(cells[method.name], best, strict=True)))
            for method in methods
            if method.name in values
        ),
    )


@dataclass(frozen=True, slots=True)
class DevScores:
    """The main metric of a task on dev, by iteration; `best` is the iteration that test was scored with."""

    task: str
    metric: str
    rows: tuple[tuple[MethodRun, tuple[float | None, ...], int | None], ...]

    @property
    def iterations(self) -> range:
        return range(max((len(values) for _, values, _ in self.rows), default=0))


def scores_on_dev(methods: Sequence[MethodRun], own: Mapping[str, str]) -> list[DevScores]:
    """`own` are the metrics that the config names for its tasks."""
    tables = []
    tasks = dict.fromkeys(one.task for method in methods for one in method.evaluations if one.split == "dev")
    for task in tasks:
        rows = []
        metric = main_metric(names_of(methods, task), own.get(task))
        for method in methods:
            of_task = [one for one in method.evaluations if one.task == task]
            dev = {one.iteration: one.metrics.get(metric) for one in of_task if one.split == "dev"}
            if dev:
                best = next((one.iteration for one in of_task if one.split != "dev"), None)
                rows.append((method, tuple(dev.get(number) for number in range(len(dev))), best))
        tables.append(DevScores(task, metric, tuple(rows)))
    return tables


def names_of(methods: Iterable[MethodRun], task: str) -> list[str]:
    """The metrics of a task, in the order in which they were recorded."""
    return list(
        dict.fromkeys(name for m in methods for one in m.evaluations if one.task == task for name in one.metrics)
    )


def printed(value: float | None, others: Iterable[float | None]) -> str:
    """One decimal for percentages, three where all values lie between 0 and 1."""
    if value is None:
        return "–"
    small = all(other is None or abs(other) <= 1 for other in others)
    return f"{value:.3f}" if small else f"{value:.1f}"


def _text(value: float | None, values: dict[str, dict[Column, float | None]], column: Column) -> str:
    return printed(value, [row.get(column) for row in values.values()])


def _best(texts: Sequence[str], metric: str) -> str | None:
    """The best as printed: a difference that is not shown is not marked either."""
    numbers = [text for text in texts if text != "–"]
    if len(numbers) < 2:
        return None
    return (max if metric_spec(metric).higher_is_better else min)(numbers, key=float)


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
    friends = friends_of(task, found)
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
    return Figure(units.task, plot, tuple((curve.name, curve.looks) for curve in curves), caption)


def friends_of(task: str, found: ByIteration) -> list[str]:
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
