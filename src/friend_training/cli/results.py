"""The tables of a run, read from its folder, finished or not."""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.errors import RunError
from friend_training.experiments.tables import Column, Sheet, build_table, columns_of, to_rich
from friend_training.methods.registry import METHODS, leading
from friend_training.report.label_text import readable
from friend_training.report.names import method_in_words
from friend_training.report.progress import counting
from friend_training.runs.inputs import has_inputs, saved_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Select, Test, Train, kind_of_work
from friend_training.study.config import CaseStudyConfig
from friend_training.study.folders import method_folder, methods_there, read_records, run_config
from friend_training.study.sections import Config

# A few chosen and rejected pseudo-labels of a run: texts from its pool, everything else from its store.


NAMES = {"csrl": "CSRL"}
"""Tasks that are called otherwise in sentences."""


TITLES = {True: "Chosen for {task}, best overall scores first", False: "Rejected for {task}, most confident first"}


def show_examples(
    folder: Path,
    *,
    count: int,
    data_dir: Path | None,
    console: Console,
    method: str | None = None,
    iteration: int | None = None,
) -> None:
    """Print `count` pseudo-labels of each task and decision.

    Labels that say something come first, and those that had something to be compared with. The rejected ones are those
    that self-training would have believed: the model is sure of them.
    """
    name, run = labelled_method(folder, method)
    number = iteration or max(run.store.iterations())
    rows = run.store.read(number)
    ensure_inputs_of(folder, data_dir, console)
    console.print(f"[bold]Pseudo-labels of {method_in_words(name)}, iteration {number}[/bold]\n")
    for task, (chosen, title) in product(run_config(folder).sections, TITLES.items()):
        some = _some(rows, task, chosen, count)
        if some:
            told = title.format(task=NAMES.get(task, task))
            console.print(told, style="bold green" if chosen else "bold red", markup=False)
        inputs = saved_inputs(folder, (row["input"] for row in some))
        for row in some:
            console.print(readable(row, json.loads(inputs[row["input"]])), end="\n\n")


def ensure_inputs_of(folder: Path, data_dir: Path | None, console: Console) -> None:
    """Runs of earlier versions did not keep their texts: they are made or read again."""
    if not has_inputs(folder):
        with counting(console, "reading the data of the run") as progress:
            from friend_training.study.open import ensure_inputs

            ensure_inputs(folder, data_dir, progress)


def labelled_method(folder: Path, method: str | None) -> tuple[str, Run]:
    """The method whose pseudo-labels are shown: the one named, else friend-training's, else the last that has some."""
    runs = {name: Run.open(method_folder(folder, name)) for name in methods_there(folder)}
    having = [name for name, run in runs.items() if run.store.iterations()]
    if not having:
        raise RunError(f"{folder}: no pseudo-labels have been selected in this run yet")
    wanted = method or leading(having)
    if wanted not in having:
        raise RunError(f"{folder}: method {wanted!r} has no pseudo-labels, only {', '.join(having)}")
    return wanted, runs[wanted]


def _some(rows: pa.Table, task: str, chosen: bool, count: int) -> list[dict[str, Any]]:
    of_task = rows.filter(pc.and_(pc.equal(rows["task"], task), pc.equal(rows["chosen"], chosen)))
    score = "overall" if chosen else "confidence"
    compared = of_task.append_column("compared", pc.is_valid(of_task["overall"]))
    ordered = compared.sort_by(
        [("content", "descending"), ("compared", "descending"), (score, "descending"), ("unit", "ascending")]
    )
    found: list[dict[str, Any]] = ordered.slice(0, count).to_pylist()
    return found


COLUMNS = (
    Column("csrl.precision"),
    Column("csrl.recall"),
    Column("csrl.f1"),
    Column("rewriting.rouge_l"),
    Column("rewriting.em"),
    Column("rewriting.wer"),
)
"""As the paper prints them: CSRL, then rewriting."""

PAPERS_WORDS = {"csrl.f1": "CSRL F1", "rewriting.em": "EM"}


def test_table(folder: Path) -> Sheet:
    """A row per method that has been tested."""
    config = run_config(folder)
    records = list(_tested(folder))
    papers = isinstance(config, CaseStudyConfig)
    metrics = dict.fromkeys(name for record in records for name in record["metrics"])
    columns = columns_of(metrics, COLUMNS if papers else ())
    caption = ["CSRL: P R F1. Rewriting: ROUGE-L EM WER."] if papers else []
    caption += _nothing_chosen(folder, config)
    table = to_rich(build_table(records, columns, scenario=config.name, caption=" ".join(caption)))
    part = "test" if config.test_units is None else f"the first {config.test_units} units of test"
    table.title = f"{config.name}, seed {config.seed}: scores on {part}" if records else "Nothing has been tested yet"
    return table


def _nothing_chosen(folder: Path, config: Config) -> list[str]:
    """What a reader of the scores must know: methods that had labels to choose from for a task, and chose none."""
    found = []
    for method, run in _runs(folder):
        counted = [(run.result(Select(number)) or {}).get("tasks", {}) for number in range(1, config.iterations + 1)]
        empty = [
            task
            for task in config.sections
            if run.result(Train(task, 1)) is not None
            and any(of_task[task]["units"] for of_task in counted if task in of_task)
            and not any(of_task[task]["chosen"] for of_task in counted if task in of_task)
        ]
        if not empty:
            continue
        tasks = " and ".join(empty)
        if METHODS[method].labels == "friend":
            found.append(f"{method_in_words(method)}: nothing that a friend predicts is a label of {tasks}.")
        else:
            found.append(f"{method_in_words(method)} chose no pseudo-label of {tasks}.")
    return found


def dev_table(folder: Path) -> Sheet:
    """The main metrics on dev, by iteration; the one that test was scored with is marked."""
    config = run_config(folder)
    iterations = range(config.iterations + 1)
    heads = ["Base", *(f"it. {number}" for number in iterations[1:])]
    table = _sheet("Scores on dev (*: best)", "Method", "Metric", *heads, keys=2)
    for method, run in _runs(folder):
        for task in config.sections:
            results = [run.result(Evaluate(task, number)) for number in iterations]
            best = (run.result(Test(task)) or {}).get("best_iteration")
            metrics = [None if result is None else result["metrics"][0]["metrics"] for result in results]
            own = getattr(config.sections[task], "metric", None)
            metric = main_metric((name for one in metrics for name in one or ()), own)
            words = PAPERS_WORDS.get(f"{task}.{metric}") or f"{task} {metric_spec(metric).title}"
            cells = [
                "" if one is None else f"{one[metric]:.1f}{'*' if n == best else ' '}" for n, one in enumerate(metrics)
            ]
            if any(cells):
                _add(table, method_in_words(method), words, *cells)
    return table


def chosen_table(folder: Path) -> Sheet:
    """How many pseudo-labels each iteration chose, and how many of them are right where hidden gold can tell."""
    config = run_config(folder)
    rows = [
        (method, task, iteration, counts)
        for method, run in _runs(folder)
        for task in config.sections
        for iteration in range(1, config.iterations + 1)
        if (counts := (run.result(Select(iteration)) or {}).get("tasks", {}).get(task)) is not None
    ]
    found = any("threshold" in counts for *_, counts in rows)  # where it is set by hand the config says it
    heads = ("Method", "Task", "it.", "units", "chosen", "not empty", "all right", "chosen right")
    table = _sheet("Pseudo-labels", *heads, *(["threshold"] if found else []), keys=3)
    for method, task, iteration, counts in rows:
        numbers = [f"{counts[name]:,}" for name in ("units", "chosen", "chosen_with_content")]
        shares = [_percent(counts[name]) for name in ("accuracy", "precision")]
        cells = [method_in_words(method), task, str(iteration), *numbers, *shares]
        _add(table, *cells, *([_threshold(counts)] if found else []))
    if any(not counts.get("on_dev", {}).get("reached", True) for *_, counts in rows):
        table.caption = "*: not reached on dev. An estimate takes the best there was, a promise chooses nothing."
    return table


def time_table(folder: Path) -> Sheet:
    """Seconds of each method by kind of phase, shards and iterations together."""
    kinds = ("training", "labelling", "selecting", "scoring", "all")
    table = _sheet("Seconds", "", *kinds)
    runs = [("encoder and bridge", Run.open(folder)), *((method_in_words(name), run) for name, run in _runs(folder))]
    total = dict.fromkeys(kinds, 0.0)
    for words, run in runs:
        seconds = _seconds(run, kinds)
        total = {kind: total[kind] + seconds[kind] for kind in kinds}
        _add(table, words, *(f"{seconds[kind]:,.1f}" for kind in kinds))
    _add(table, "all", *(f"{total[kind]:,.1f}" for kind in kinds))
    return table


def _tested(folder: Path) -> Iterator[dict[str, Any]]:
    config = run_config(folder)
    common = {"seed": config.seed, "scenario": config.name}
    for method, run in _runs(folder):
        tested = {task: result for task in config.sections if (result := run.result(Test(task))) is not None}
        metrics = {
            f"{task}.{metric}": value
            for task, result in tested.items()
            for row in result["metrics"]
            if row["split"] == "test:test"
            for metric, value in row["metrics"].items()
        }
        if metrics:
            yield common | {"method": method_in_words(method), "metrics": metrics}
    # A method that trains nothing has no folder: it stands in the results alone.
    for record in read_records(folder):
        if not method_folder(folder, record["method"]).is_dir():
            yield common | {"method": method_in_words(record["method"]), "metrics": record["metrics"]}


def _runs(folder: Path) -> Iterator[tuple[str, Run]]:
    """The methods that have been begun, asked for in whichever call."""
    for method in methods_there(folder):
        yield method, Run.open(method_folder(folder, method))


def _seconds(run: Run, kinds: Sequence[str]) -> dict[str, float]:
    seconds = dict.fromkeys(kinds, 0.0)
    for done in run.finished():
        seconds[kind_of_work(done.step)] += done.seconds
    return seconds | {"all": sum(seconds.values())}


def _threshold(counts: dict[str, Any]) -> str:
    """The threshold that was found in this iteration."""
    if "threshold" not in counts:
        return ""
    value = "none" if counts["threshold"] is None else f"{counts['threshold']:.3f}"
    return value + ("" if counts.get("on_dev", {}).get("reached", True) else "*")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _sheet(title: str, *heads: str, keys: int = 1) -> Sheet:
    right = [number > 0 and name not in ("Metric", "Task") for number, name in enumerate(heads)]
    return Sheet(heads, right, [], title, keys=keys)


def _add(sheet: Sheet, *cells: str) -> None:
    sheet.rows.append([Text(cell) for cell in cells])
