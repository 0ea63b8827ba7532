"""report.html: one file that shows a whole run, made from its folder alone; no script, no outside address."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined

from friend_training.core.files import write_text
from friend_training.core.run import Run
from friend_training.report.costs import costs_of, most
from friend_training.report.drawn import role_class
from friend_training.report.examples import Example, Kind, examples_of, kinds_of
from friend_training.report.figures import Figure, figures_of
from friend_training.report.iterations import (
    ByIteration,
    Drift,
    ThresholdTable,
    drift_figure,
    drifts,
    threshold_figure,
    threshold_table,
)
from friend_training.report.kept import kept_gold, kept_inputs
from friend_training.report.labels import Share, shares
from friend_training.report.plots import Curve, lines
from friend_training.report.reading import MethodRun, Study, read_study
from friend_training.report.scores import DevScores, printed, scores_on_dev, scores_on_test
from friend_training.report.settings import machine, settings
from friend_training.report.summary import summary
from friend_training.report.units import Units, units_of
from friend_training.report.words import duration, megabytes, metric_in_words, percent, score
from friend_training.runs.steps import KINDS_OF_WORK

NAME = "report.html"


@dataclass(frozen=True, slots=True)
class TaskSection:
    """All about the pseudo-labels of one task, in the last iteration unless it says otherwise."""

    task: str
    units: Units
    figures: list[Figure]
    drifts: list[Drift]
    drift: Figure
    thresholds: ThresholdTable
    shares: list[Share]
    gold: int
    kinds: list[tuple[Kind, list[Example]]]


def write_report(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the report of a run, finished or not, into its folder or to `out`; return where it is.

    The folder is that of a study, of one of its methods, or of any run. Texts and gold labels are shown where the run
    has kept them (see kept.py).
    """
    folder = Path(folder)
    out = None if out is None else Path(out)
    path = out or folder / NAME
    write_text(path, render(read_study(folder)))
    return path


def render(study: Study) -> str:
    environment = Environment(
        loader=PackageLoader("friend_training.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "score": score, "duration": duration, "role_class": role_class}
    environment.filters |= {"megabytes": megabytes, "most": most}
    return environment.get_template("report.html").render(_contents(study))


def _contents(study: Study) -> Mapping[str, Any]:
    costs = costs_of(study)
    run = Run(study.folder)
    return {
        "study": study,
        "summary": summary(study, costs),
        "scores": scores_on_test(study.methods),
        "all_scores": scores_on_test(study.methods, everything=True),
        "dev": [(table, _dev_figure(table), _dev_cells(table)) for table in scores_on_dev(study.methods)],
        "chosen": [(m, i, m.selected(i)) for m in study.methods for i in m.iterations],
        "sections": [] if study.focus is None else _sections(study, study.focus),
        "kinds": KINDS_OF_WORK,
        "costs": costs,
        "settings": settings(study.config),
        "config_text": run.config_text,
        "fingerprints": run.fingerprints,
        "machine": machine(run.folder),
    }


def _sections(study: Study, method: MethodRun) -> list[TaskSection]:
    assert method.run is not None, "a method with iterations has a store"
    last = method.iterations[-1]
    found = {i: units_of(method.run.store, i, whole=i == last) for i in method.iterations}
    return [_section(study, method, task, found) for task in found[last]]


def _section(study: Study, method: MethodRun, task: str, found: ByIteration) -> TaskSection:
    units = found[max(found)][task]
    rows = drifts(method, task, found)
    # Second models and strong friends (csrl.second) have the gold of their task.
    gold = kept_gold(study.data_folder, task) or kept_gold(study.data_folder, task.partition(".")[0])
    labels = units.rows["label"]
    thresholds = threshold_table(task, found)
    kinds = kinds_of(units)
    inputs = kept_inputs(study.data_folder, [row["input"] for kind in kinds for row in kind.rows])
    return TaskSection(
        task=task,
        units=units,
        figures=[*figures_of(units), threshold_figure(thresholds, units)],
        drifts=rows,
        drift=drift_figure(rows),
        thresholds=thresholds,
        shares=shares(gold, labels.to_pylist(), labels.filter(pa.array(units.chosen)).to_pylist()),
        gold=len(gold),
        kinds=[(kind, examples_of(kind, inputs)) for kind in kinds],
    )


def _dev_figure(table: DevScores) -> Figure:
    curves = [
        Curve(method.words, "focus" if method.name == "fdt" else f"series-{number % 8}", values)
        for number, (method, values, _) in enumerate(table.rows)
    ]
    legend = tuple((curve.name, curve.looks) for curve in curves)
    plot = lines(curves, first=0, y_label=f"{metric_in_words(table.metric)} on dev")
    return Figure(f"{table.task}: {metric_in_words(table.metric)} on dev", plot, legend)


def _dev_cells(table: DevScores) -> list[tuple[str, list[tuple[str, bool]]]]:
    every = [value for _, values, _ in table.rows for value in values]
    return [
        (
            method.words,
            [
                (printed(values[i], every) if i < len(values) else "", i == best and i < len(values))
                for i in table.iterations
            ],
        )
        for method, values, best in table.rows
    ]
