"""What came of friend-training: the table over seeds, differences with intervals, warnings, and the best models."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.analysis.significance import Comparison
from friend_training.core.task import Prediction, Task
from friend_training.errors import RunError, naming_missing_packages
from friend_training.experiments.comparison import comparison_table, difference_rows, metric_title
from friend_training.experiments.results import Result, gather
from friend_training.experiments.tables import to_rich
from friend_training.experiments.warnings import dashes, run_warnings, told
from friend_training.inference.export import export_model, push_folder
from friend_training.methods.registry import METHODS
from friend_training.nn.training import computing_in
from friend_training.report.page import write_report
from friend_training.report.run_reader import own_metrics
from friend_training.runs.files import atomic_folder
from friend_training.study.folders import read_records, run_config
from friend_training.study.kinds import is_trained
from friend_training.study.open import open_task
from friend_training.study.run_data import NO_OBJECTS, Objects
from friend_training.types import Text

FRIENDS = "fdt"
"""The method that all others are compared with."""

_WIDTH = 110

_MOST_DIFFERENCES = 4
"""Scores whose differences are told; of more, one for each task."""

_DIFFERENCES_IN_A_LINE = 2
"""So many stand beside each other, with their intervals, in a terminal of 80 columns."""


class FriendTrainingResult:
    """The finished runs of all seeds. `print` it for the table; `left_out` are methods that could not be run, and why.

    Numbers are of test, which nothing was chosen by.
    """

    def __init__(
        self,
        folder: Path,
        runs: Mapping[int, Path],
        methods: Sequence[str],
        left_out: Mapping[str, str] | None = None,
        objects: Objects = NO_OBJECTS,
    ) -> None:
        self.folder, self.runs, self.methods = folder, dict(runs), tuple(methods)
        self.left_out = dict(left_out or {})
        self._objects = objects

    @cached_property
    def warnings(self) -> list[str]:
        """What to know before believing the table; a warning that only some seeds have names them."""
        seeds: dict[str, list[int]] = {}
        for seed, run in self.runs.items():
            for warned in told(run_warnings(run)):
                seeds.setdefault(warned, []).append(seed)
        return [
            text if len(own) == len(self.runs) else f"{text} (seed {', '.join(map(str, own))})"
            for text, own in seeds.items()
        ] + self._without_chance()

    def _without_chance(self) -> list[str]:
        """Seeds of which nothing depends are no evidence, and their deviation of 0 is none."""
        base = [one.record for one in self.results if one.method == "base"]
        if len(base) < 2:
            return []
        seen: dict[str, set[tuple[Any, ...]]] = {}
        for record in base:
            for task in self._tasks:
                scores = [value for name, value in record["metrics"].items() if name.startswith(f"{task}.")]
                if scores:
                    seen.setdefault(task, set()).add((record["fingerprints"].get(f"{task}_gold"), *scores))
        return [
            f"Base, {task}: the same with every seed, for nothing of it is drawn: ±0.0 tells nothing of other gold."
            f" Give more gold, and settings={{'draw': N}}: every seed then draws N examples"
            for task, different in seen.items()
            if len(different) == 1
        ]

    def __str__(self) -> str:
        # Kernels of notebooks ask for colours, and rich would take this for a notebook's own output.
        console = Console(file=io.StringIO(), width=_WIDTH, highlight=False, force_terminal=False, force_jupyter=False)
        with console.capture() as shown:
            console.print(to_rich(comparison_table(self.results)))
            reasons = [f"{METHODS[name].title}: –, {reason}" for name, reason in self.left_out.items()]
            for run in list(self.runs.values())[:1]:
                reasons += told(dashes(run))
            for reason in reasons:
                console.print(reason, markup=False, soft_wrap=True)
            if FRIENDS in self.methods and self.differences():
                seeds = "1 seed" if len(self.runs) == 1 else f"{len(self.runs)} seeds"
                console.print(f"FDT minus each, with 95 % intervals over {seeds} and test examples:", soft_wrap=True)
                console.print(*self._differences())
            for warning in self.warnings:
                console.print(f"Warning: {warning}", markup=False, soft_wrap=True)
        return shown.get().rstrip() + "\n"

    @cached_property
    def results(self) -> list[Result]:
        """One per method and seed."""
        groups = gather(list(self.runs.values()))
        return [one for results in groups.values() for one in results if one.method in self.methods]

    def differences(self) -> dict[tuple[str, str], Comparison]:
        """(method in words, metric) → how much better friend-training is, with its interval over seeds and units."""
        titles, rows = difference_rows(self.results, against=FRIENDS)
        return {
            (method, title): one
            for method, cells in rows
            for title, one in zip(titles[1:], cells, strict=True)
            if one is not None
        }

    def _differences(self) -> list[RichTable]:
        """Of all scores, or where these are too many to read, of the one by which each task's iterations compare."""
        titles, rows = difference_rows(self.results, against=FRIENDS)
        mains = {metric_title(f"{task}.{self.main_metric(task)}", self.results) for task in self._tasks}
        few = len(titles) - 1 <= _MOST_DIFFERENCES
        told = [place for place, title in enumerate(titles[1:]) if few or title in mains]
        tables = []
        for start in range(0, len(told), _DIFFERENCES_IN_A_LINE):
            shown = told[start : start + _DIFFERENCES_IN_A_LINE]
            table = RichTable(box=box.SIMPLE_HEAD)
            table.add_column("Method")
            for place in shown:
                table.add_column(titles[1:][place], justify="right")
            for method, cells in rows:
                table.add_row(RichText(method), *(RichText(_in_words(cells[place])) for place in shown))
            tables.append(table)
        return tables

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each seed, method, task and metric of test."""
        with naming_missing_packages():
            import pandas
        return pandas.DataFrame(list(self.rows()))

    def rows(self) -> list[dict[str, Any]]:
        """What `to_pandas` has, as dicts."""
        found = []
        for one in self.results:
            for name, value in one.record["metrics"].items():
                task, _, metric = name.partition(".")
                found.append({"seed": one.seed, "method": one.method, "task": task, "metric": metric, "value": value})
        return found

    def report(self) -> list[Path]:
        """Write the report of each seed's run, one HTML page; where they are."""
        return [write_report(run) for run in self.runs.values()]

    def plot(self) -> Any:
        """A figure of matplotlib: for each task the methods, with a dot for each seed."""
        with naming_missing_packages():
            from matplotlib.figure import Figure
        tasks = [task for task in self._tasks if any(f"{task}." in name for name in self.results[0].record["metrics"])]
        figure = Figure(figsize=(5 * len(tasks), 0.4 * len(self.methods) + 1.2), layout="constrained")
        for number, task in enumerate(tasks, start=1):
            axes = figure.add_subplot(1, len(tasks), number)
            metric = f"{task}.{self.main_metric(task)}"
            shown = [m for m in reversed(self.methods) if self._values(m, metric)]
            for place, method in enumerate(shown):
                values = self._values(method, metric)
                axes.barh(place, sum(values) / len(values), color="#9ecae1" if method != FRIENDS else "#3182bd")
                axes.plot(values, [place] * len(values), "k.", markersize=4)
            axes.set_yticks(range(len(shown)), [METHODS[method].title for method in shown])
            axes.set_title(f"{task}, {metric_spec(metric).title_and_direction}")
        return figure

    def _values(self, method: str, metric: str) -> list[float]:
        records = [one.record["metrics"] for one in self.results if one.method == method]
        return [metrics[metric] for metrics in records if metric in metrics]

    @property
    def _tasks(self) -> list[str]:
        return list(run_config(next(iter(self.runs.values()))).sections)

    def main_metric(self, task: str) -> str:
        """What iterations and seeds of a task are compared by on dev."""
        if task in self._objects.tasks:
            return self._objects.tasks[task].main_metric
        names = [name.partition(".")[2] for name in self.results[0].record["metrics"] if name.startswith(f"{task}.")]
        return main_metric(names, own_metrics(self.results[0].record["config"]).get(task))

    def best(self, task: str, method: str = FRIENDS) -> "BestModel":
        """The model of the seed that is best on dev, friend-trained unless another method is named."""
        config = run_config(next(iter(self.runs.values())))
        if task not in config.sections:
            raise RunError(f"there is no task {task!r}; there are {', '.join(config.sections)}")
        if not is_trained(config, task):
            raise RunError(f"task {task} is never trained: there is no best model of it")
        if method not in self.methods:
            raise RunError(f"{method} was not run; there are {', '.join(self.methods)}")
        metric = self.main_metric(task)
        scores = {}
        for seed, run in self.runs.items():
            [record] = [one for one in read_records(run) if one["method"] == method]
            scores[seed] = record["dev"][task][record["best_iteration"][task]]
        seed = max(scores, key=lambda one: scores[one][metric])
        with computing_in(config.threads):
            opened = open_task(self.runs[seed], task, method, objects=self._objects)
        return BestModel(opened.task, method, opened.iteration, seed, self.runs[seed], metric, scores[seed])


def _in_words(one: Comparison | None) -> str:
    return "–" if one is None else f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]"


@dataclass(frozen=True, slots=True)
class BestModel:
    """A trained task, ready to predict, and where it comes from."""

    task: Task
    method: str
    iteration: int
    seed: int
    run: Path
    metric: str
    dev: Mapping[str, float] = field(default_factory=dict)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        """The labels and confidences of texts, or of inputs of the task's own."""
        given = [Text(str(number), one) if isinstance(one, str) else one for number, one in enumerate(inputs, start=1)]
        with computing_in(run_config(self.run).threads):
            return self.task.predict(given)

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write the model and its card, as `friend-train export` does; an object of your own writes what it saves."""
        folder = Path(folder)
        if run_config(self.run).kinds[self.task.name] == "python":
            with atomic_folder(folder) as new:
                self.task.save(new)
        else:
            export_model(self.run, self.task.name, folder, method=self.method)
        return folder

    def push(self, name: str, folder: str | Path) -> str:
        """Write the model into `folder` and upload it to the hub as a private repository; its address there."""
        return push_folder(self.save_pretrained(folder), name, "model")
