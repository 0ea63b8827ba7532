"""report.html: one file that shows a whole run, made from its folder alone; no script, no outside address."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.experiments.warnings import dashes, run_warnings
from friend_training.methods.registry import METHODS
from friend_training.report.answer import Answer, answers_of, compared, gains_of, headline_of, lessons_of, verdict
from friend_training.report.label_text import Confusion, Share, beside_gold, confusion, role_class, shares
from friend_training.report.names import duration, megabytes, percent, score
from friend_training.report.plots import Curve, Figure, figures_of, lessons_figure, lines
from friend_training.report.pseudo_labels import Example, Kind, Units, examples_of, kinds_of, labels_by_input, units_of
from friend_training.report.run_reader import MethodRun, Study, read_study
from friend_training.report.scores import (
    ByIteration,
    Cost,
    DevScores,
    Drift,
    ThresholdTable,
    costs_of,
    drift_figure,
    drifts,
    friends_of,
    most,
    names_of,
    printed,
    scores_on_dev,
    scores_on_test,
    threshold_figure,
    threshold_table,
)
from friend_training.runs.files import read_json_object, write_text
from friend_training.runs.inputs import hidden_labels, saved_gold, saved_inputs
from friend_training.runs.run import Run, check_file
from friend_training.runs.steps import KINDS_OF_WORK

# What was run, with what, where: the config in short, and the machine.


PACKAGES = ("torch", "transformers", "numpy", "pyarrow", "scikit-learn")
"""Those that decide what comes out; the others are in environment.json."""


def settings(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The config in short, two levels deep; all of it stands below, as it was given."""
    found = []
    for name, value in config.items():
        if isinstance(value, dict):
            plain = {key: one for key, one in value.items() if not isinstance(one, dict) or _is_aim(one)}
            if plain:
                found.append((prefix + name, " · ".join(f"{key} {_words(one)}" for key, one in plain.items())))
            if not prefix:
                nested = {key: one for key, one in value.items() if isinstance(one, dict) and not _is_aim(one)}
                found += settings(nested, f"{name}.")
        else:
            found.append((prefix + name, _words(value)))
    return found


def machine(folder: Path) -> list[tuple[str, str]]:
    path = folder / "environment.json"
    if not path.is_file():
        return []
    environment = read_json_object(path, "what the run was made with")
    check_file(path)
    there = environment.get("packages")
    there = there if isinstance(there, dict) else {}
    packages = " · ".join(f"{name} {there[name]}" for name in PACKAGES if name in there)
    plain = [(name, _words(value)) for name, value in environment.items() if name != "packages"]
    return [*plain, *([("packages", packages)] if packages else [])]


def _is_aim(value: dict[str, Any]) -> bool:
    """What a threshold is found by ({precision: 0.8}) is one setting, not a section of them."""
    return value.keys() in ({"precision"}, {"share"})


def _words(value: Any) -> str:
    match value:
        case dict():
            return " ".join(f"{name} {_words(one)}" for name, one in value.items())
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_words(one) for one in value)
        case _:
            return str(value)


# The report in a few sentences: what a reader with one minute should know.


BASELINES = ("base", "base-same-steps", "sst")
"""What friend-training is measured against first."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What it is about, and what is to be said."""

    about: str
    text: str


def summary(study: Study, answers: Sequence[Answer], costs: Sequence[Cost]) -> list[Sentence]:
    """What stands below the answer; where there is none, because no friends were tested, the scores stand here."""
    found = []
    focus = study.focus
    leading = focus or next(iter(study.methods), None)
    if leading is not None and not answers:
        found += [Sentence(task, _scores(study, leading, task)) for task in leading.tested]
    found += [Sentence(answer.task, verdict(answer) + _only_base(study, answer.task)) for answer in answers]
    found += _warnings(study)
    if costs:
        peak = most(cost.peak_memory_mb for cost in costs)
        memory = "" if peak is None else f"; at most {peak / 1024:.1f} GB of memory"
        total = sum(cost.total for cost in costs)
        found.append(Sentence("cost", f"{duration(total)} in all{memory}."))
    return found


def _only_base(study: Study, task: str) -> str:
    focus = study.focus
    if focus is None or _best_iteration(focus, task) != 0:
        return ""
    return f" No iteration of {focus.words} was better on dev than Base, so this is Base."


def _warnings(study: Study) -> list[Sentence]:
    """What to know before believing the scores; of one method's report what is about the data or that method."""
    if not study.is_ours:
        return []
    shown = {"", *(method.name for method in study.methods)}
    without = [Sentence("no score", f"{one}.") for one in dashes(study.data_folder) if one.method in shown]
    return without + [
        Sentence("warning" if one.method else "data", f"{one}.")
        for one in run_warnings(study.data_folder)
        if one.method in shown
    ]


def _scores(study: Study, method: MethodRun, task: str) -> str:
    """'FDT has 47.5 F1 on test; Base 47.5, SST 48.1. The best is SST, as many as FDT, with 49.2.'"""
    metric = main_metric(names_of(study.methods, task), study.own_metrics.get(task))
    values = {m.name: value for m in study.methods if (value := m.on_test(task, metric)) is not None}
    if method.name not in values:
        return "not scored on test yet."
    texts = {name: printed(value, values.values()) for name, value in values.items()}
    words = {m.name: m.words for m in study.methods}
    text = f"{words[method.name]} has {texts[method.name]} {metric_spec(metric).title} on test"
    others = [f"{words[name]} {texts[name]}" for name in BASELINES if name in values and name != method.name]
    if _best_iteration(method, task) == 0 and method.iterations:
        text += " (no iteration was better on dev than its Base, so this is Base)"
    text += f"; {'; '.join(others)}." if others else "."
    best = (max if metric_spec(metric).higher_is_better else min)(values, key=lambda name: values[name])
    if len(values) > 1:
        text += f" The best of {len(values)} is {words[best]}" + (
            f" with {texts[best]}." if best != method.name else "."
        )
    return text


def _best_iteration(method: MethodRun, task: str) -> int | None:
    return next((one.iteration for one in method.evaluations if one.task == task and one.split != "dev"), None)


def _chosen(method: MethodRun, iteration: int, counted: dict[str, object]) -> str:
    units, chosen = counted["units"], counted["chosen"]
    assert isinstance(units, int)
    assert isinstance(chosen, int)
    share = f" ({percent(chosen / units)})" if units else ""
    text = f"{method.words} chose {chosen:,} of {units:,}{share} in iteration {iteration}."
    precision, accuracy = counted["precision"], counted["accuracy"]
    if isinstance(precision, float) and isinstance(accuracy, float):
        return f"{text} {percent(precision)} of the chosen labels are right, {percent(accuracy)} of all."
    return f"{text} Whether they are right is not known: the pool has no gold labels."


def promised(on_dev: Mapping[str, Any]) -> str:
    """What a threshold that was found on dev promises of the chosen labels, and on how many units that rests."""
    if "rests_on" not in on_dev:
        return ""
    units, target = f"{on_dev['units']:,} units of dev", on_dev.get("target")
    match on_dev["rests_on"]:
        case "estimate" if on_dev["precision"] is not None:
            return (
                f"Nothing is promised: by {units} {percent(on_dev['precision'])} are expected to be right, an estimate"
                " that misses its target in up to half of all runs."
            )
        case "bound" if on_dev["reached"]:
            sure = percent(on_dev["confidence"])
            return f"Promised: at least {percent(target)} of them are right, with confidence {sure}, by {units}."
        case "false discovery" if on_dev["reached"]:
            return f"Promised: at most {percent(target)} of them are wrong on average over runs, by {units}."
    return f"What was asked for could not be promised by {units}, so nothing is chosen."


NAME = "report.html"


@dataclass(frozen=True, slots=True)
class TaskSection:
    """All about the pseudo-labels of one task, in the last iteration unless it says otherwise."""

    task: str
    chosen: str
    units: Units
    threshold: Figure
    figures: list[Figure]
    drifts: list[Drift]
    drift: Figure
    thresholds: ThresholdTable
    shares: list[Share]
    gold: int
    kinds: list[tuple[Kind, list[Example]]]
    confusion: Confusion | None


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


def write_comparison(folders: Sequence[Path], out: Path) -> Path:
    """Write one page that compares several runs: by config, the answer over seeds, then every run beside the others."""
    studies = [read_study(folder) for folder in folders]
    contents = {"groups": compared(studies), "runs": len(studies), "version": studies[0].version}
    write_text(out, _environment().get_template("comparison.html").render(contents))
    return out


def render(study: Study) -> str:
    return _environment().get_template("report.html").render(_contents(study))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("friend_training.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "score": score, "duration": duration, "role_class": role_class}
    environment.filters |= {"megabytes": megabytes, "most": most, "verdict": verdict}
    return environment


def _contents(study: Study) -> Mapping[str, Any]:
    costs = costs_of(study)
    run = Run(study.folder)
    answers = answers_of([study])
    dev = scores_on_dev(study.methods, study.own_metrics)
    return {
        "study": study,
        "headline": headline_of(answers) if answers else "",
        "answers": answers,
        "summary": summary(study, answers, costs),
        "by_parts": _by_parts(study.focus),
        "lessons": _lessons(study, dev),
        "gains": gains_of([study], study.focus),
        "scores": scores_on_test(study.methods),
        "all_scores": scores_on_test(study.methods, everything=True),
        "dev": [(table, _dev_figure(table), _dev_cells(table)) for table in dev],
        "chosen": [(m, i, m.selected(i)) for m in study.methods for i in m.iterations],
        "sections": [] if study.focus is None else _sections(study, study.focus),
        "kinds": KINDS_OF_WORK,
        "costs": costs,
        "settings": settings(study.config),
        "config_text": run.config_text,
        "fingerprints": run.fingerprints,
        "machine": machine(run.folder),
    }


def _by_parts(method: MethodRun | None) -> bool:
    spec = None if method is None else METHODS.get(method.name)
    return spec is not None and spec.part_by_part


def _sections(study: Study, method: MethodRun) -> list[TaskSection]:
    assert method.run is not None, "a method with iterations has a store"
    last = method.iterations[-1]
    found = {i: units_of(method.run.store, i, whole=i == last) for i in method.iterations}
    return [_section(study, method, task, found) for task in found[last]]


def _section(study: Study, method: MethodRun, task: str, found: ByIteration) -> TaskSection:
    last = max(found)
    units = found[last][task]
    rows = drifts(method, task, found)
    # Second models and strong friends (csrl.second) have the gold of their task.
    gold = saved_gold(study.data_folder, task) or saved_gold(study.data_folder, task.partition(".")[0])
    hidden = hidden_labels(study.data_folder, task) or hidden_labels(study.data_folder, task.partition(".")[0])
    labels = units.rows["label"].to_pylist()
    thresholds, counted = threshold_table(task, found), method.selected(last)[task]
    kinds = kinds_of(units)
    shown = {row["input"] for kind in kinds for row in kind.rows}
    inputs = saved_inputs(study.data_folder, shown)
    friends = {friend: labels_by_input(found[last][friend], shown) for friend in friends_of(task, found)}
    return TaskSection(
        task=task,
        chosen=" ".join(filter(None, (_chosen(method, last, counted), promised(counted.get("on_dev", {}))))),
        units=units,
        threshold=threshold_figure(thresholds, units),
        figures=figures_of(units),
        drifts=rows,
        drift=drift_figure(rows),
        thresholds=thresholds,
        shares=shares(gold, labels, units.rows["label"].filter(pa.array(units.chosen)).to_pylist()),
        gold=len(gold),
        kinds=[(kind, examples_of(kind, inputs, hidden, friends)) for kind in kinds],
        confusion=confusion(_beside_gold(study, units, hidden)),
    )


def _beside_gold(study: Study, units: Units, hidden: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The labels of units whose gold is known, each with its gold."""
    rows = [row for row in units.rows.select(["unit", "input", "label"]).to_pylist() if row["unit"] in hidden]
    given = saved_inputs(study.data_folder, {row["input"] for row in rows})
    for row in rows:
        pair = beside_gold(hidden[row["unit"]], row["label"], given.get(row["input"]))
        if pair is not None:
            yield pair


def _lessons(study: Study, dev: Sequence[DevScores]) -> list[Figure]:
    """Base, self-training and friends while they were trained; more curves would hide each other."""
    focus = study.focus
    names = ["base", "sst", *([focus.name] if focus else [])]
    methods = [method for method in study.methods if method.name in names] or list(study.methods)
    words = {method.name: method.words for method in methods}
    figures = [
        lessons_figure(
            lessons_of(methods, table.task), task=table.task, words=words, y_label=metric_spec(table.metric).title
        )
        for table in dev
    ]
    return [figure for figure in figures if figure is not None]


def _dev_figure(table: DevScores) -> Figure:
    curves = [
        Curve(method.words, "focus" if method.name == "fdt" else f"series-{number % 8}", values)
        for number, (method, values, _) in enumerate(table.rows)
    ]
    legend = tuple((curve.name, curve.looks) for curve in curves)
    plot = lines(curves, first=0, y_label=f"{metric_spec(table.metric).title} on dev")
    return Figure(f"{table.task}: {metric_spec(table.metric).title} on dev", plot, legend)


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
