"""The figures of an experiment of any tasks: the paper's 3a, 3b and 3c, and 4, as lines through the results of its
variants; or its methods side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.errors import ConfigError, DataError
from friend_training.experiments.experiment import FigureKind, load_experiment
from friend_training.experiments.results import read_results
from friend_training.methods.registry import METHODS
from friend_training.runs.files import atomic_file
from friend_training.study.sections import in_words

Record = dict[str, Any]

# Figures as the paper draws them: a metric over a setting, a line per method, bars of the deviation over seeds.


FORMATS = ("svg", "png", "pdf")


STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "svg.hashsalt": "friend-training",  # equal figures have equal bytes
}

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by people who see fewer colours too (Okabe and Ito); lines have their own markers besides."""

MARKERS = ("o", "s", "^", "D", "v", "P")

QUIET = "#7a7a7a"


@dataclass(frozen=True, slots=True)
class Point:
    """The values of all seeds at one place of the axis."""

    x: float
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def deviation(self) -> float:
        """The sample standard deviation; one seed has none, and no bar."""
        return stdev(self.values) if len(self.values) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points from left to right; a `quiet` one is there to compare with."""

    label: str
    points: tuple[Point, ...]
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A dashed line at the mean of some values, wherever the axis goes."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    levels: tuple[Level, ...] = ()
    names: tuple[str, ...] = ()
    """What stands at 0, 1, 2 … of the axis, where its places are no numbers."""


def draw(panels: Sequence[Panel], path: str | Path) -> None:
    """Draw the panels side by side; the file's ending decides as what."""
    path = Path(path)
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ConfigError(f"{path}: a figure is written as {', '.join(FORMATS)}, not as {path.suffix or 'nothing'}")
    with rc_context(STYLE):
        figure = Figure(figsize=(3.9 * len(panels), 3.1), layout="constrained")
        for number, panel in enumerate(panels, start=1):
            _draw_panel(figure.add_subplot(1, len(panels), number), panel)
        metadata = {"Date": None} if ending == "svg" else {}
        with atomic_file(path) as temporary:
            figure.savefig(temporary, format=ending, dpi=200, metadata=metadata)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    shown = 0
    for curve in panel.curves:
        points = sorted(curve.points, key=lambda point: point.x)
        bars = any(point.deviation for point in points)
        axes.errorbar(
            [point.x for point in points],
            [point.mean for point in points],
            yerr=[point.deviation for point in points] if bars else None,
            label=curve.label,
            color=QUIET if curve.quiet else COLOURS[shown % len(COLOURS)],
            marker="x" if curve.quiet else MARKERS[shown % len(MARKERS)],
            linestyle="none" if panel.names else ":" if curve.quiet else "-",
            linewidth=1.6,
            markersize=5,
            capsize=3,
            elinewidth=1.0,
        )
        shown += not curve.quiet
    for level in panel.levels:
        axes.axhline(fmean(level.values), label=level.label, color="#333333", linestyle="--", linewidth=1.2)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    places = sorted({point.x for curve in panel.curves for point in curve.points})
    axes.margins(x=0.08, y=0.12)
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names, rotation=40, ha="right", fontsize=8)
        return
    axes.set_xticks(places, [f"{place:g}" for place in places])
    names = [*(curve.label for curve in panel.curves), *(level.label for level in panel.levels)]
    handles, labels = axes.get_legend_handles_labels()
    axes.legend([handles[labels.index(name)] for name in names], names, fontsize=8)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a figure that is about one task, and the metric that is drawn of it."""

    task: str
    name: str
    metric: str


PARTS = (Part("csrl", "CSRL", "csrl.f1"), Part("rewriting", "rewriting", "rewriting.wer"))
"""The paper's pair, with the metrics that the paper draws."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a figure of the paper's pair shows: its methods as they are called there, the quiet ones last.

    Of other tasks all methods are drawn that have results.

    `level` is the method that variants without a place on the axis are drawn for.
    """

    title: str
    x_label: str
    lines: dict[str, str]
    quiet: tuple[str, ...] = ("base",)
    level: str | None = None


KINDS: dict[FigureKind, Kind] = {
    "thresholds": Kind(
        "{part}: pick threshold", "pick threshold of {part} (its friend's: {friend})", {"fdt": "FDT", "base": "Base"}
    ),
    "strength": Kind(
        "{part}: strength of the base model",
        "labels of both tasks (% of all)",
        {"fdt": "FDT", "stbr": "STBR", "stea": "STea", "base": "Base"},
        level="fdt",
    ),
    "co-updating": Kind(
        "{part}: co-updating",
        "labels of {part} (% of all; its friend has 100 %)",
        {"fdt-s": "FDT, friend updated", "fdt-sf": "FDT-SF, friend fixed", "base": "Base"},
    ),
}


def panels(folder: str | Path) -> list[Panel]:
    """The parts of an experiment's figure that have results."""
    folder = Path(folder)
    kind, records = load_experiment(folder).figure, read_results(folder)
    if kind is None:
        found = _side_by_side(records)
    else:
        records = [record for record in records if "variant" in record]
        made = [_panel(KINDS[kind], part, records, folder) for part in _parts(records)]
        found = [panel for panel in made if panel.curves]
    if not found:
        raise DataError(f"{folder} has no results to draw yet; `friend-train experiment {folder}`")
    return found


def _parts(records: Sequence[Record]) -> list[Part]:
    """The tasks of the results, each with the score that its iterations are compared by; of the paper's pair the
    paper's."""
    metrics: dict[str, dict[str, None]] = {}
    for record in records:
        for name in record["metrics"]:
            task, _, metric = name.partition(".")
            metrics.setdefault(task, {})[metric] = None
    papers = [part for part in PARTS if part.task in metrics]
    if len(papers) == len(metrics):
        return papers
    own = {task: section.get("metric") for record in records for task, section in _tasks(record).items()}
    return [Part(task, task, f"{task}.{main_metric(names, own.get(task))}") for task, names in metrics.items()]


def _tasks(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = record.get("config", {}).get("tasks", {})
    return found


def _side_by_side(records: Sequence[Record]) -> list[Panel]:
    """A panel for each variant and task: the methods in the order of tables."""
    variants = dict.fromkeys(record.get("variant", {}).get("name", "") for record in records)
    found = []
    for variant in variants:
        here = [record for record in records if record.get("variant", {}).get("name", "") == variant]
        for part in _parts(here):
            values = {
                method: scores
                for method in METHODS
                if (scores := tuple(r["metrics"][part.metric] for r in here if _has(r, method, part)))
            }
            points = tuple(Point(place, scores) for place, scores in enumerate(values.values()))
            title = f"{part.name[0].upper()}{part.name[1:]}" + (f", {variant.replace('-', ' ')}" if variant else "")
            spec = metric_spec(part.metric)
            names = tuple(METHODS[method].title for method in values)
            found.append(Panel(title, "", spec.title_and_direction, (Curve("", points),), names=names))
    return [panel for panel in found if panel.names]


def _has(record: Record, method: str, part: Part) -> bool:
    return record["method"] == method and part.metric in record["metrics"]


def _panel(kind: Kind, part: Part, records: Sequence[Record], folder: Path) -> Panel:
    here = [record for record in records if part.task in record["variant"]["at"]]
    lines = kind.lines if part in PARTS else {name: spec.title for name, spec in METHODS.items()}
    curves = [
        Curve(label, points, quiet=method in kind.quiet)
        for method, label in lines.items()
        if (points := _points(here, method, part, folder))
    ]
    elsewhere = [record for record in records if not record["variant"]["at"] and _has(record, str(kind.level), part)]
    levels = {record["variant"]["name"]: record["method"] for record in elsewhere}
    friend = _friends_threshold(here, part, folder) if "{friend}" in kind.x_label else ""
    return Panel(
        title=kind.title.format(part=part.name[0].upper() + part.name[1:]),
        x_label=kind.x_label.format(part=part.name, friend=friend),
        y_label=metric_spec(part.metric).title_and_direction,
        curves=tuple(curves),
        levels=tuple(
            Level(f"{METHODS[method].title}, {name.replace('-', ' ')}", _values(elsewhere, name, part))
            for name, method in levels.items()
        ),
    )


def _points(records: Sequence[Record], method: str, part: Part, folder: Path) -> tuple[Point, ...]:
    found: dict[float, dict[int, float]] = {}
    for record in records:
        if record["method"] == method and part.metric in record["metrics"]:
            seeds = found.setdefault(record["variant"]["at"][part.task], {})
            if record["seed"] in seeds:
                raise DataError(f"{folder}: two results of {method}, seed {record['seed']}, stand at one place")
            seeds[record["seed"]] = record["metrics"][part.metric]
    return tuple(Point(x, tuple(seeds.values())) for x, seeds in sorted(found.items()))


def _values(records: Sequence[Record], variant: str, part: Part) -> tuple[float, ...]:
    return tuple(record["metrics"][part.metric] for record in records if record["variant"]["name"] == variant)


def _friends_threshold(records: Sequence[Record], part: Part, folder: Path) -> str:
    """The friends' thresholds, which must not change along the axis (section 5.4, 'Pick Thresholds')."""
    told: dict[str, set[str]] = {}
    for record in records:
        for friend in _friends(record, part.task):
            told.setdefault(friend, set()).add(in_words(_tasks(record)[friend]["pick_threshold"]))
    for friend, found in told.items():
        if len(found) > 1:
            raise DataError(
                f"{folder}: the threshold of {friend} changes where that of {part.task} is drawn: {sorted(found)}"
            )
    return ", ".join(next(iter(found)) for found in told.values())


def _friends(record: Record, task: str) -> list[str]:
    """The friends of a task, by the config; in the paper's pair it is the other one."""
    listed = record["config"].get("friendships")
    if listed is None:
        return [name for name in _tasks(record) if name != task]
    pairs = [(one["first"], one["second"]) for one in listed]
    friends = [name for pair in pairs if task in pair for name in pair if name != task]
    return [name for name in friends if "pick_threshold" in _tasks(record).get(name, {})]
