"""The plots of the report: histogram, lines, reliability diagram, scatter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from friend_training.evaluation.calibration import Bin
from friend_training.report.svg import UNIT_TICKS, Frame, picture, round_ticks
from friend_training.report.units import Floats

BINS = 20


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the units: what they are called, how they look, and their values."""

    name: str
    looks: str
    values: Floats


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points of one kind."""

    name: str
    looks: str
    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class Curve:
    """A value by iteration or threshold, None where it is not known."""

    name: str
    looks: str
    values: Sequence[float | None]


def histogram(groups: Sequence[Group], *, x_label: str, threshold: float | None = None) -> Markup:
    """Scores in bins of 0.05, the groups one upon another; a line where the threshold is."""
    edges = np.linspace(0, 1, BINS + 1)
    counts = [np.histogram(group.values, edges)[0] for group in groups]
    ceiling = max(1, int(np.sum(counts, axis=0).max()))
    frame = Frame((0, 1), (0, ceiling * 1.06))
    bars: list[Markup] = []
    base = np.zeros(BINS, dtype=int)
    for group, heights in zip(groups, counts, strict=True):
        for place in np.flatnonzero(heights):
            low, high = int(base[place]), int(base[place] + heights[place])
            says = f"{edges[place]:.2f} to {edges[place + 1]:.2f}: {heights[place]:,} {group.name}"
            bars.append(_bar(frame, (edges[place], edges[place + 1]), (low, high), group.looks, says))
        base = base + heights
    if threshold is not None and 0 <= threshold <= 1:
        bars.append(frame.line((threshold, 0), (threshold, ceiling * 1.06), "threshold"))
    total = sum(group.values.size for group in groups)
    says = f"histogram of {x_label} over {total:,} units" + ("" if threshold is None else f", threshold {threshold:g}")
    return picture(
        frame,
        bars,
        says=says,
        x_label=x_label,
        y_label="units",
        x_ticks=UNIT_TICKS,
        y_ticks=round_ticks(0, ceiling, whole=True),
    )


def reliability_diagram(scores: Sequence[tuple[str, str, Sequence[Bin]]]) -> Markup:
    """For each score (name, looks, bins): how often units of that score are right. On the diagonal it is true."""
    frame = Frame((0, 1), (0, 1))
    inside = [frame.line((0, 0), (1, 1), "diagonal")]
    for name, looks, bins in scores:
        full = [one for one in bins if one.count]
        inside.append(_path(frame, [(one.confidence, one.accuracy) for one in full], looks))
        largest = max((one.count for one in full), default=1)
        for one in full:
            says = f"{name} {one.low:.1f} to {one.high:.1f}: {one.accuracy:.0%} of {one.count:,} right"
            inside.append(_dot(frame, one.confidence, one.accuracy, looks, says, 2 + 4 * (one.count / largest) ** 0.5))
    return picture(
        frame,
        inside,
        says="reliability diagram: " + ", ".join(name for name, _, _ in scores),
        x_label="score",
        y_label="share that is right",
        x_ticks=UNIT_TICKS,
        y_ticks=UNIT_TICKS,
    )


def scatter(clouds: Sequence[Cloud], *, border: tuple[float, float] | None) -> Markup:
    """Confidence against match. `border` is (w, t): the units with w·confidence + (1 − w)·match ≥ t were chosen."""
    frame = Frame((-0.03, 1.03), (-0.03, 1.03))
    inside = [_points(frame, cloud) for cloud in clouds if cloud.x.size]
    if border is not None:
        inside.append(_border(frame, *border))
    shown = ", ".join(f"{cloud.x.size:,} {cloud.name}" for cloud in clouds)
    return picture(
        frame,
        inside,
        says=f"confidence against match: {shown}",
        x_label="confidence",
        y_label="match",
        x_ticks=UNIT_TICKS,
        y_ticks=UNIT_TICKS,
    )


def threshold_curves(curves: Sequence[Curve], thresholds: Sequence[float], *, used: float | None) -> Markup:
    """Shares by threshold; a line at the threshold that was used."""
    frame = Frame((0, 1), (0, 1))
    inside: list[Markup] = []
    for curve in curves:
        places = [(x, y) for x, y in zip(thresholds, curve.values, strict=True) if y is not None]
        inside.append(_path(frame, places, curve.looks))
        inside += [_dot(frame, x, y, curve.looks, f"{curve.name} at {x:.2f}: {y:.1%}", 2.4) for x, y in places]
    if used is not None and 0 <= used <= 1:
        inside.append(frame.line((used, 0), (used, 1), "threshold"))
    return picture(
        frame,
        inside,
        says="by threshold: " + ", ".join(curve.name for curve in curves),
        x_label="threshold",
        y_label="share",
        x_ticks=UNIT_TICKS,
        y_ticks=UNIT_TICKS,
    )


def lines(curves: Sequence[Curve], *, first: int, y_label: str, unit_range: bool = False) -> Markup:
    """Values by iteration, from iteration `first` on."""
    known = [value for curve in curves for value in curve.values if value is not None]
    last = first + max((len(curve.values) for curve in curves), default=1) - 1
    low, high = (0.0, 1.0) if unit_range or not known else _range(min(known), max(known))
    room = 0.15 if last == first else 0.06 * (last - first)
    frame = Frame((first - room, last + room), (low, high))
    inside: list[Markup] = []
    for curve in curves:
        places = [(first + n, value) for n, value in enumerate(curve.values) if value is not None]
        inside.append(_path(frame, places, curve.looks))
        inside += [_dot(frame, x, y, curve.looks, f"{curve.name}, {_when(x)}: {y:.4g}") for x, y in places]
    every = -(-(last - first + 1) // 10)
    numbers = range(first, last + 1, every)
    return picture(
        frame,
        inside,
        says=f"{y_label} by iteration: " + ", ".join(curve.name for curve in curves),
        x_label="iteration",
        y_label=y_label,
        x_ticks=[(number, "Base" if number == 0 else str(number)) for number in numbers],
        y_ticks=UNIT_TICKS if unit_range else round_ticks(low, high),
    )


def _when(iteration: int) -> str:
    return "Base" if iteration == 0 else f"iteration {iteration}"


def _range(low: float, high: float) -> tuple[float, float]:
    room = max((high - low) * 0.1, abs(high) * 0.01, 1e-3)
    return low - room, high + room


def _bar(frame: Frame, x: tuple[float, float], y: tuple[float, float], looks: str, says: str) -> Markup:
    left, right, top, bottom = frame.x(x[0]) + 0.6, frame.x(x[1]) - 0.6, frame.y(y[1]), frame.y(y[0])
    places = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return Markup('<rect class="{}" {}><title>{}</title></rect>').format(looks, Markup(places), says)


def _dot(frame: Frame, x: float, y: float, looks: str, says: str, radius: float = 3.5) -> Markup:
    places = f'cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="{radius:.1f}"'
    return Markup('<circle class="dot {}" {}><title>{}</title></circle>').format(looks, Markup(places), says)


def _path(frame: Frame, places: Sequence[tuple[float, float]], looks: str) -> Markup:
    points = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in places)
    return Markup('<polyline class="curve {}" points="{}"/>').format(looks, points)


def _points(frame: Frame, cloud: Cloud) -> Markup:
    """All points of a cloud in one path of dots: a tenth of the size of as many circles."""
    places = zip(cloud.x.tolist(), cloud.y.tolist(), strict=True)
    moves = "".join(f"M{frame.x(x):.1f} {frame.y(y):.1f}h0" for x, y in places)
    return Markup('<path class="points {}" d="{}"/>').format(cloud.looks, moves)


def _border(frame: Frame, weight: float, threshold: float) -> Markup:
    """The line w·confidence + (1 − w)·match = t, as far as it lies within the square."""
    corners = []
    if weight < 1:
        corners += [(c, (threshold - weight * c) / (1 - weight)) for c in (0.0, 1.0)]
    if weight > 0:
        corners += [((threshold - (1 - weight) * m) / weight, m) for m in (0.0, 1.0)]
    ends = sorted((x, y) for x, y in corners if -1e-9 <= x <= 1 + 1e-9 and -1e-9 <= y <= 1 + 1e-9)
    return frame.line(ends[0], ends[-1], "threshold") if ends else Markup("")
