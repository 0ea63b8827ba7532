"""What came of friend-training: the table over seeds, differences with intervals, warnings, and the best models."""

import io
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from friend_training import __version__
from friend_training.analysis.metrics import metric_spec
from friend_training.analysis.significance import Comparison
from friend_training.core.task import Prediction, Task
from friend_training.errors import RunError, naming_missing_packages
from friend_training.experiments.comparison import comparison_table, difference_rows
from friend_training.experiments.results import Result, gather
from friend_training.experiments.tables import to_rich
from friend_training.experiments.warnings import run_warnings
from friend_training.methods.registry import METHODS
from friend_training.report.page import write_report
from friend_training.runs.files import atomic_folder, write_text
from friend_training.runs.run import Run
from friend_training.runs.steps import Test
from friend_training.study.folders import method_folder, read_records, run_config
from friend_training.study.kinds import is_trained
from friend_training.study.open import open_task
from friend_training.study.run_data import NO_OBJECTS, Objects
from friend_training.types import Text

FRIENDS = "fdt"
"""The method that all others are compared with."""

_WIDTH = 110


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
            for warned in dict.fromkeys(map(str, run_warnings(run))):
                seeds.setdefault(warned, []).append(seed)
        return [
            text if len(own) == len(self.runs) else f"{text} (seed {', '.join(map(str, own))})"
            for text, own in seeds.items()
        ]

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, highlight=False)
        with console.capture() as shown:
            console.print(to_rich(comparison_table(self.results)))
            for name, reason in self.left_out.items():
                console.print(f"{METHODS[name].title}: –, {reason}", markup=False, soft_wrap=True)
            if FRIENDS in self.methods and len(self.methods) > 1:
                seeds = "1 seed" if len(self.runs) == 1 else f"{len(self.runs)} seeds"
                console.print(f"FDT minus each, with 95 % intervals over {seeds} and test examples:", soft_wrap=True)
                console.print(self._differences())
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

    def _differences(self) -> RichTable:
        titles, rows = difference_rows(self.results, against=FRIENDS)
        table = RichTable(box=box.SIMPLE_HEAD)
        table.add_column("Method")
        for title in titles[1:]:
            table.add_column(title, justify="right")
        for method, cells in rows:
            table.add_row(RichText(method), *(RichText(_in_words(one)) for one in cells))
        return table

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
        config = run_config(next(iter(self.runs.values())))
        own: str | None = getattr(config.sections[task], "metric", None)
        names = [name.partition(".")[2] for name in self.results[0].record["metrics"] if name.startswith(f"{task}.")]
        return own or next(name for name in ("span_f1", "accuracy", *names) if name in names)

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
        return self.task.predict(given)

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write the model and its card; `transformers.pipeline` loads text and token classifiers from there."""
        folder = Path(folder)
        checkpoint = Run.open(method_folder(self.run, self.method)).checkpoint(self.task.name, self.iteration)
        with atomic_folder(folder) as new:
            shutil.copytree(checkpoint, new, dirs_exist_ok=True)
            write_text(new / "README.md", self._card())
        return folder

    def _card(self) -> str:
        config = run_config(self.run)
        section = config.sections[self.task.name]
        tested = Run.open(method_folder(self.run, self.method)).require(Test(self.task.name))["metrics"]
        scores = [(metric, value) for row in tested for metric, value in row["metrics"].items()]
        encoder = getattr(section, "encoder", None)
        base = [f"base_model: {encoder}"] if encoder and not Path(encoder).is_absolute() else []
        kind = config.kinds[self.task.name]
        results = [f"    - {{type: {metric}, value: {value:.2f}}}" for metric, value in scores]
        lines = [
            "---",
            "library_name: transformers" if encoder else "library_name: friend-training",
            f"tags: [friend-training, {kind}]",
            *base,
            "model-index:",
            f"- name: {config.name}-{self.task.name}",
            "  results:",
            f"  - task: {{type: {kind}}}",
            "    dataset: {name: the test examples of the run, type: own}",
            "    metrics:",
            *results,
            "---",
            f"# {self.task.name}, {config.name}",
            "",
            f"Trained by {METHODS[self.method].title} with friend-training {__version__}: seed {self.seed}, iteration"
            f" {self.iteration}, the best of its seeds and iterations on dev.",
            "",
            "| metric | dev | test |",
            "|---|---:|---:|",
            *(
                f"| {metric_spec(metric).title} | {self.dev.get(metric, float('nan')):.1f} | {value:.1f} |"
                for metric, value in scores
            ),
            "",
        ]
        return "\n".join(lines)
