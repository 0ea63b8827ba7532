"""The figures of one task: where its scores lie, what they are worth, and how they lie to each other."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from friend_training.evaluation.calibration import expected_calibration_error, reliability
from friend_training.report.plots import Cloud, Group, histogram, reliability_diagram, scatter
from friend_training.report.units import Bools, Floats, Units

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
