"""The plots of the report: histogram, lines, reliability diagram, scatter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup, escape

from friend_training.analysis.agreement import Bin, expected_calibration_error, reliability
from friend_training.analysis.metrics import metric_spec
from friend_training.report.pseudo_labels import Bools, Floats, Units

# The ground that plots are drawn on: a frame with two axes, as inline SVG.
#
# Colours are classes, so that the page's style sheet decides them, light, dark or printed. Text is escaped.


WIDTH, HEIGHT = 360, 220

LEFT, RIGHT, TOP, BOTTOM = 46, 10, 12, 40


UNIT_TICKS = ((0.0, "0"), (0.25, ".25"), (0.5, ".5"), (0.75, ".75"), (1.0, "1"))
"""The ticks of a score."""


MOST_TICKS = 6


Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Frame:
    """Turns values into places. `x_range` and `y_range` are what the axes show."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def line(self, start: tuple[float, float], end: tuple[float, float], looks: str) -> Markup:
        (x1, y1), (x2, y2) = start, end
        places = f'x1="{self.x(x1):.1f}" y1="{self.y(y1):.1f}" x2="{self.x(x2):.1f}" y2="{self.y(y2):.1f}"'
        return Markup('<line class="{}" {}/>').format(looks, Markup(places))


def picture(
    frame: Frame, inside: Sequence[Markup], *, says: str, x_label: str, y_label: str, x_ticks: Ticks, y_ticks: Ticks
) -> Markup:
    """The axes and what is drawn between them. `says` is for those who cannot see it."""
    low_x, low_y = frame.x_range[0], frame.y_range[0]
    parts = [frame.line((low_x, value), (frame.x_range[1], value), "grid") for value, _ in y_ticks]
    parts += [_text(LEFT - 6, frame.y(value) + 3.5, text, "tick end") for value, text in y_ticks]
    parts += [_text(frame.x(value), HEIGHT - BOTTOM + 14, text, "tick middle") for value, text in x_ticks]
    parts += [frame.line((low_x, low_y), (frame.x_range[1], low_y), "axis")]
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_label, "label middle")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = Markup('<text class="label middle" transform="translate(10 {:.1f}) rotate(-90)">{}</text>')
    parts += [turned.format(middle, y_label), *inside]
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, says, Markup("").join(parts)
    )


def round_ticks(low: float, high: float, *, whole: bool = False) -> Ticks:
    """A few round numbers between two values; `whole` where only whole numbers make sense."""
    exponent = math.floor(math.log10((high - low) / MOST_TICKS))
    steps = [factor * 10.0**power for power in (exponent, exponent + 1) for factor in (1, 2, 5)]
    step = next(step for step in steps if (high - low) / step <= MOST_TICKS and (step >= 1 or not whole))
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((number * step, f"{number * step:,.{digits}f}") for number in range(first, last + 1))


def _text(x: float, y: float, text: str, looks: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(looks, x, y, escape(text))


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


# The figures of one task: where its scores lie, what they are worth, and how they lie to each other.


MOST_POINTS = 2000

JITTER = 0.012
"""Points are moved by so much at most: many units have exactly the same match, and would hide each other."""


Legend = tuple[tuple[str, str], ...]
"""(name, looks) of everything that a plot shows."""


@dataclass(frozen=True, slots=True)
class Figure:
    title: str
    plot: Markup
    legend: Legend
    caption: str = ""


def figures_of(units: Units) -> list[Figure]:
    """Histograms, then what the scores are worth (where gold is known), then confidence against match."""
    matched = bool(np.isfinite(units.match).any())
    found = [_histogram(units, "confidence", units.confidence, "How sure the model is of its own label.")]
    if matched:
        without = int(np.isnan(units.match).sum())
        caption = "How far the friend agrees." + (f" {without:,} had nothing to match." if without else "")
        found.append(_histogram(units, "match", units.match, caption))
    found.append(_histogram(units, "overall score", units.overall, "What is held against the threshold."))
    if units.audited:
        found.append(_reliability(units, matched))
    if matched:
        found.append(_scatter(units))
    return found


def _parts(units: Units) -> list[tuple[str, str, Bools]]:
    """The units by what became of them and whether they are right, as (name, looks, which); empty parts left out."""
    right, wrong = units.correct == 1, units.correct == 0
    parts = [
        ("chosen, right", "chosen-right", units.chosen & right),
        ("chosen, wrong", "chosen-wrong", units.chosen & wrong),
        ("chosen", "chosen", units.chosen & ~right & ~wrong),
        ("rejected, right", "rejected-right", ~units.chosen & right),
        ("rejected, wrong", "rejected", ~units.chosen & wrong),
        ("rejected", "rejected-unknown", ~units.chosen & ~right & ~wrong),
    ]
    return [part for part in parts if part[2].any()]


def _histogram(units: Units, name: str, scores: Floats, caption: str) -> Figure:
    known = np.isfinite(scores)
    groups = [Group(words, looks, scores[among & known]) for words, looks, among in _parts(units)]
    on_this = name == "overall score" or (name == "match" and np.array_equal(units.chosen, units.match == 1.0))
    threshold = units.threshold if on_this else None
    if threshold is not None:
        caption += f" The dashed line is the threshold, {threshold:.2f}."
    legend = tuple((group.name, group.looks) for group in groups)
    return Figure(name.capitalize(), histogram(groups, x_label=name, threshold=threshold), legend, caption)


def _reliability(units: Units, matched: bool) -> Figure:
    scores = [("confidence", "score-confidence", units.confidence)]
    if matched:
        scores += [("match", "score-match", units.match), ("overall score", "score-overall", units.overall)]
    drawn, legend = [], []
    for name, looks, values in scores:
        known = np.isfinite(values) & np.isfinite(units.correct)
        if known.any():
            bins = reliability(values[known], units.correct[known] == 1)
            drawn.append((name, looks, bins))
            legend.append((f"{name}, off by {expected_calibration_error(bins):.2f}", looks))
    caption = (
        "How often a label with such a score is right. A curve that rises orders labels well; on the diagonal the "
        "score is also the share that is right; 'off by' is the mean distance from it. Larger points: more units."
    )
    return Figure("What the scores are worth", reliability_diagram(drawn), tuple(legend), caption)


def _scatter(units: Units) -> Figure:
    random = np.random.default_rng(0)
    places = np.flatnonzero(np.isfinite(units.match))
    total = places.size
    if total > MOST_POINTS:
        places = np.sort(random.choice(places, MOST_POINTS, replace=False))
    shift = random.uniform(-JITTER, JITTER, (2, places.size))
    x, y = units.confidence[places] + shift[0], units.match[places] + shift[1]
    clouds = []
    for name, looks, among in reversed(_parts(units)):  # the chosen ones on top
        here = among[places]
        clouds.append(Cloud(name, looks, x[here], y[here]))
    weight, threshold = units.confidence_weight, units.threshold
    border = None if weight is None or threshold is None else (weight, threshold)
    some = f"{places.size:,} of {total:,} units, drawn at random. " if places.size < total else ""
    above = "" if border is None else "Above the dashed line the overall score reaches the threshold. "
    caption = f"{some}{above}Points are moved a little so that equal ones do not hide each other."
    legend = tuple((cloud.name, cloud.looks) for cloud in reversed(clouds))
    return Figure("Confidence against match", scatter(clouds, border=border), legend, caption)


# The answer in one picture: a row for Base, self-training, friends and the strongest control of one task.


ROW = 36

Part = Literal["before", "self-training", "friends", "control"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A method's score on test, the mean over seeds. `low` and `high` are Base's score moved by the 95 % interval of
    the difference from Base; None where no counts of single examples tell it."""

    part: Part
    words: str
    value: float
    low: float | None
    high: float | None
    each: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One training as it was watched on dev: (step, score)."""

    method: str
    iteration: int
    points: tuple[tuple[int, float], ...]


def answer_figure(task: str, metric: str, rows: Sequence[Standing]) -> Figure:
    """Dots are scores on test, an arrow leads from Base to friends; bars are where a difference from Base may lie."""
    spec = metric_spec(metric)
    values = [value for row in rows for value in (row.value, row.low, row.high, *row.each) if value is not None]
    low, high = _range(min(values), max(values))
    height = TOP + ROW * len(rows) + 40
    across = Frame((low, high), (0, 1))
    base = rows[0].value

    def x(value: float) -> float:
        return 12 + (WIDTH - 24) * (value - low) / (high - low)

    bottom = TOP + ROW * len(rows) + 4
    parts: list[Markup] = []
    for value, text in round_ticks(*across.x_range):
        parts.append(_stroke(x(value), TOP, x(value), bottom, "grid"))
        parts.append(_text(x(value), bottom + 14, text, "tick middle"))
    parts.append(_stroke(x(base), TOP, x(base), bottom, "diagonal"))
    for number, row in enumerate(rows):
        y = TOP + ROW * number + 26
        parts.append(_text(12, y - 11, row.words, "label clear"))
        parts.append(_text(WIDTH - 12, y - 11, spec.text(row.value), "label end clear"))
        if row.low is not None and row.high is not None:
            parts.append(_stroke(x(row.low), y, x(row.high), y, f"whisker {row.part}"))
        elif row.part != "before":
            parts.append(_stroke(x(base), y, x(row.value), y, f"grid {row.part}"))
        for one in row.each if len(row.each) > 1 else ():
            parts.append(_stroke(x(one), y - 4, x(one), y + 4, f"seed {row.part}"))
        if row.part == "friends" and row.value != base:
            parts.append(_stroke(x(base), y, x(row.value), y, "gain"))
        parts.append(
            Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>').format(
                row.part, x(row.value), y, 6 if row.part == "friends" else 4.5, f"{row.words}: {spec.text(row.value)}"
            )
        )
    says = f"{task}: " + ", ".join(f"{row.words} {spec.text(row.value)}" for row in rows)
    parts.append(_text(WIDTH / 2, height - 2, f"{spec.title_and_direction} on test", "label middle"))
    plot = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, height, says, Markup("").join(parts)
    )
    return Figure(task, plot, ())


def _stroke(x1: float, y1: float, x2: float, y2: float, looks: str) -> Markup:
    places = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return Markup('<line class="{}" {}/>').format(looks, Markup(places))


def lessons_figure(lessons: Sequence[Lesson], *, task: str, words: Mapping[str, str], y_label: str) -> Figure | None:
    """Scores on dev inside training, method by method; every method's updates go on where Base ended."""
    shown = [one for one in lessons if one.method in words]
    if not shown or max(len(one.points) for one in shown) + len(shown) < 3:
        return None
    values = [value for one in shown for _, value in one.points]
    steps = [step for one in shown for step, _ in one.points]
    low, high = _range(min(values), max(values))
    frame = Frame((0, max(steps)), (low, high))
    inside: list[Markup] = []
    looks = {name: f"series-{number % 8}" for number, name in enumerate(words)}
    ends = {one.method: one.points[-1] for one in shown if one.iteration == 0}
    last = dict.fromkeys(words, ends.get("base"))
    for one in shown:
        before = last[one.method] if one.iteration else None
        points = [*([before] if before else []), *one.points]
        inside.append(_path(frame, points, looks[one.method]))
        for step, value in one.points:
            says = f"{words[one.method]}, {_when(one.iteration)}, step {step}: {value:.1f}"
            inside.append(_dot(frame, step, value, looks[one.method], says, 2.6))
        last[one.method] = one.points[-1]
    plot = picture(
        frame,
        inside,
        says=f"{task}: {y_label} on dev inside training",
        x_label="training steps",
        y_label=f"{y_label} on dev",
        x_ticks=round_ticks(0, max(steps), whole=True),
        y_ticks=round_ticks(low, high),
    )
    drawn = {one.method for one in shown}
    legend = tuple((name, looks[method]) for method, name in words.items() if method in drawn)
    return Figure(task, plot, legend, "Base first; then each method's updates, iteration by iteration.")
