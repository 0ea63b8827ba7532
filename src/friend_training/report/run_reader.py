"""What a run folder has to tell: its settings, the methods in it, every evaluation, every finished phase.

Two kinds of folder are read alike: a study, with one run per method below methods/, and a single run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from friend_training import __version__
from friend_training.analysis.metrics import main_metric, metric_spec
from friend_training.core.limits import read_yaml
from friend_training.errors import ConfigError, RunError
from friend_training.methods.registry import METHODS as KNOWN
from friend_training.report.names import method_in_words
from friend_training.runs.files import read_json_lines
from friend_training.runs.run import Run, check_file
from friend_training.runs.steps import Select
from friend_training.study.folders import check_config

METHODS, RESULTS = "methods", "results.jsonl"
_EVALUATION = ("task", "iteration", "split", "metrics")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One line of metrics.jsonl. The split is 'dev', or 'test:' and the name of a test set."""

    task: str
    iteration: int | None
    split: str
    metrics: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class MethodRun:
    """A method: its run, and what it was scored. A method that trains nothing has no run."""

    name: str
    run: Run | None
    evaluations: tuple[Evaluation, ...]

    @property
    def words(self) -> str:
        return method_in_words(self.name)

    @property
    def is_friends(self) -> bool:
        return self.name in KNOWN and KNOWN[self.name].learns_from_friend

    @property
    def tested(self) -> list[str]:
        """The tasks that test was scored for."""
        return list(dict.fromkeys(one.task for one in self.evaluations if one.split != "dev"))

    def on_test(self, task: str, metric: str) -> float | None:
        found = [one.metrics.get(metric) for one in self.evaluations if one.task == task and one.split != "dev"]
        return found[0] if found else None

    def best_on_dev(self, own: Mapping[str, str]) -> dict[str, float]:
        """Each task's main score on dev in its best iteration, more being better; `own` are the config's metrics."""
        found: dict[str, float] = {}
        for task in dict.fromkeys(one.task for one in self.evaluations if one.split == "dev"):
            rows = [one.metrics for one in self.evaluations if one.task == task and one.split == "dev"]
            metric = main_metric([name for row in rows for name in row], own.get(task))
            sign = 1.0 if metric_spec(metric).higher_is_better else -1.0
            known = [sign * value for row in rows if (value := row.get(metric)) is not None]
            if known:
                found[task] = max(known)
        return found

    @property
    def iterations(self) -> list[int]:
        """Those whose selection is done, and on record: it is not while `verify` has it made again."""
        return [] if self.run is None else [one for one in self.run.store.iterations() if self.selected(one)]

    def selected(self, iteration: int) -> dict[str, dict[str, Any]]:
        """What selection counted, by task."""
        result = None if self.run is None else self.run.result(Select(iteration))
        found: dict[str, dict[str, Any]] = {} if result is None else result["tasks"]
        return found


@dataclass(frozen=True, slots=True)
class Study:
    folder: Path
    name: str
    config: dict[str, Any]
    version: str
    finished: bool
    methods: tuple[MethodRun, ...]

    @property
    def is_ours(self) -> bool:
        """Whether this is a study of ours or one of its methods, and no run that somebody made with the library."""
        return "methods" in self.config

    @property
    def own_metrics(self) -> dict[str, str]:
        """The metric that the config names for a task, where it names one."""
        return own_metrics(self.config)

    @property
    def data_folder(self) -> Path:
        """Where texts and gold are kept: a method of a study finds them in the study."""
        return _outer(self.folder) or self.folder

    @property
    def focus(self) -> MethodRun | None:
        """The method whose pseudo-labels are shown: friend-training, of its variants the best on dev; without one the
        last that has pseudo-labels."""
        having = [method for method in self.methods if method.iterations]
        friends = [method for method in having if method.is_friends]
        if friends:
            return max(friends, key=lambda method: fmean(method.best_on_dev(self.own_metrics).values() or [0.0]))
        return next(iter(having[-1:]), None)


def own_metrics(config: Mapping[str, Any]) -> dict[str, str]:
    """The metric that iterations of a task are compared by, where the settings of a run name one."""
    tasks = config.get("tasks")
    sections = tasks.items() if isinstance(tasks, dict) else ()
    found = {name: one["metric"] for name, one in sections if isinstance(one, dict) and one.get("metric")}
    rewriting = config.get("rewriting_metric")  # the paper's pair has it beside its tasks
    return found | ({"rewriting": rewriting} if isinstance(rewriting, str) else {})


def read_study(folder: str | Path) -> Study:
    folder = Path(folder)
    run = Run.open(folder)
    config = _config(run)
    records = _records(folder / RESULTS, needed=("method", "metrics", "version"))
    inside = _outer(folder) is not None
    is_study = not inside and "methods" in config
    methods = _methods(folder, records) if is_study else (_method(folder.resolve().name, folder),)
    name = str(config.get("name", folder.resolve().name))
    tested = [any(e.split != "dev" for e in method.evaluations) for method in methods]
    return Study(
        folder=folder,
        name=f"{name}: {methods[0].words}" if inside else name,
        config=config,
        version=records[0]["version"] if records else __version__,
        finished={record["method"] for record in records} >= set(config["methods"]) if is_study else any(tested),
        methods=methods,
    )


def _methods(folder: Path, records: list[dict[str, Any]]) -> tuple[MethodRun, ...]:
    """All that have been begun, whatever the config asks for now, in the order of tables."""
    begun = {path.parent.name for path in folder.glob(f"{METHODS}/*/run.json")}
    scores = {record["method"]: record["metrics"] for record in records}
    found = []
    for name in [*KNOWN, *sorted((begun | set(scores)) - set(KNOWN))]:
        if name in begun:
            found.append(_method(name, folder / METHODS / name))
        elif name in scores:
            found.append(MethodRun(name, None, _evaluations(scores[name])))
    return tuple(found)


def _method(name: str, folder: Path) -> MethodRun:
    rows = _records(folder / "metrics.jsonl", needed=_EVALUATION)
    return MethodRun(
        name, Run.open(folder), tuple(Evaluation(**{name: row[name] for name in _EVALUATION}) for row in rows)
    )


def _evaluations(metrics: dict[str, float]) -> tuple[Evaluation, ...]:
    """A method without a run stands in the results alone, its metrics called 'task.metric'."""
    by_task: dict[str, dict[str, float | None]] = {}
    for name, value in metrics.items():
        task, _, metric = name.partition(".")
        by_task.setdefault(task, {})[metric] = value
    return tuple(Evaluation(task, None, "test:test", of_task) for task, of_task in by_task.items())


def _outer(folder: Path) -> Path | None:
    """The study that this folder is a method of, if it is one."""
    above = folder.resolve().parent
    return above.parent if above.name == METHODS and (above.parent / "run.json").is_file() else None


def _config(run: Run) -> dict[str, Any]:
    """A run that somebody made with the library may have any text here, or none."""
    path = run.folder / "config.yaml"
    try:
        check_config(run)
        given = read_yaml(run.config_text, str(path))
    except ConfigError as error:
        raise RunError(f"{path}: expected YAML; it is damaged: {error}") from None
    return given if isinstance(given, dict) else {}


def _records(path: Path, *, needed: tuple[str, ...]) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    records = read_json_lines(path, "a record", needed=needed)
    check_file(path)
    return records
