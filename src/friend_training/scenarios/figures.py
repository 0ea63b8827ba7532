"""The paper's figures 3a, 3b and 3c, and 4, as lines through the results of an experiment with variants."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.errors import ConfigError, DataError
from friend_training.evaluation.curves import Curve, Level, Panel, Point
from friend_training.methods.registry import METHODS
from friend_training.scenarios.experiment import FigureKind, load_experiment
from friend_training.scenarios.pick_thresholds import in_words
from friend_training.scenarios.results import read_results


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a figure that is about one task, with the metric that the paper draws."""

    task: str
    name: str
    metric: str
    y_label: str


PARTS = (Part("csrl", "CSRL", "csrl.f1", "F1"), Part("rewriting", "rewriting", "rewriting.wer", "WER (less is better)"))


@dataclass(frozen=True, slots=True)
class Kind:
    """What a figure shows: its methods as they are called there, the quiet ones last.

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
    kind = load_experiment(folder).figure
    if kind is None:
        drawn = ", ".join(KINDS)
        raise ConfigError(f"{folder / 'experiment.yaml'}: `figure` does not say what is drawn; expected one of {drawn}")
    records = [record for record in read_results(folder) if "variant" in record]
    made = [_panel(KINDS[kind], part, records, folder) for part in PARTS]
    found = [panel for panel in made if panel.curves]
    if not found:
        raise DataError(f"{folder} has no results to draw yet; `friend-train experiment {folder}`")
    return found


def _panel(kind: Kind, part: Part, records: Sequence[dict[str, Any]], folder: Path) -> Panel:
    here = [record for record in records if part.task in record["variant"]["at"]]
    curves = [
        Curve(label, points, quiet=method in kind.quiet)
        for method, label in kind.lines.items()
        if (points := _points(here, method, part, folder))
    ]
    elsewhere = [record for record in records if not record["variant"]["at"] and record["method"] == kind.level]
    levels = {record["variant"]["name"]: record["method"] for record in elsewhere}
    friend = _friend_threshold(here, part, folder) if "{friend}" in kind.x_label else ""
    return Panel(
        title=kind.title.format(part=part.name[0].upper() + part.name[1:]),
        x_label=kind.x_label.format(part=part.name, friend=friend),
        y_label=part.y_label,
        curves=tuple(curves),
        levels=tuple(
            Level(f"{METHODS[method].title}, {name.replace('-', ' ')}", _values(elsewhere, name, part))
            for name, method in levels.items()
        ),
    )


def _points(records: Sequence[dict[str, Any]], method: str, part: Part, folder: Path) -> tuple[Point, ...]:
    found: dict[float, dict[int, float]] = {}
    for record in records:
        if record["method"] == method and part.metric in record["metrics"]:
            seeds = found.setdefault(record["variant"]["at"][part.task], {})
            if record["seed"] in seeds:
                raise DataError(f"{folder}: two results of {method}, seed {record['seed']}, stand at one place")
            seeds[record["seed"]] = record["metrics"][part.metric]
    return tuple(Point(x, tuple(seeds.values())) for x, seeds in sorted(found.items()))


def _values(records: Sequence[dict[str, Any]], variant: str, part: Part) -> tuple[float, ...]:
    return tuple(record["metrics"][part.metric] for record in records if record["variant"]["name"] == variant)


def _friend_threshold(records: Sequence[dict[str, Any]], part: Part, folder: Path) -> str:
    """The friend's threshold, which must not change along the axis (DESIGN 5b)."""
    [friend] = [other.task for other in PARTS if other != part]
    found = {in_words(record["config"]["tasks"][friend]["pick_threshold"]) for record in records}
    if len(found) > 1:
        raise DataError(f"{folder}: the threshold of {friend} changes where that of {part.task} is drawn: {found}")
    return found.pop() if found else ""
