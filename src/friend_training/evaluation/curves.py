"""Figures as the paper draws them: a metric over a setting, a line per method, bars of the deviation over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from friend_training.core.files import atomic_file
from friend_training.errors import ConfigError

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


def draw(panels: Sequence[Panel], path: str | Path) -> None:
    """Draw the panels side by side; the file's ending says as what."""
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
            linestyle=":" if curve.quiet else "-",
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
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.margins(x=0.08, y=0.12)
    names = [*(curve.label for curve in panel.curves), *(level.label for level in panel.levels)]
    handles, labels = axes.get_legend_handles_labels()
    axes.legend([handles[labels.index(name)] for name in names], names, fontsize=8)
