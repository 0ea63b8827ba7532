"""The report in a few sentences: what a reader with one minute should know."""

from collections.abc import Sequence
from dataclasses import dataclass

from friend_training.report.costs import Cost, most
from friend_training.report.reading import MethodRun, Study
from friend_training.report.scores import LOWER_IS_BETTER, main_metric, printed
from friend_training.report.words import duration, metric_in_words, percent

BASELINES = ("base", "base-same-steps", "sst")
"""What friend-training is measured against first."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What it is about, and what is to be said."""

    about: str
    text: str


def summary(study: Study, costs: Sequence[Cost]) -> list[Sentence]:
    found = []
    focus = study.focus
    leading = focus or next(iter(study.methods), None)
    if leading is not None:
        found += [Sentence(task, _scores(study, leading, task)) for task in _tested(leading)]
    if focus is not None:
        last = focus.iterations[-1]
        found += [
            Sentence(f"{task}, pseudo-labels", _chosen(focus, last, counted))
            for task, counted in focus.selected(last).items()
        ]
    if costs:
        peak = most(cost.peak_memory_mb for cost in costs)
        memory = "" if peak is None else f"; at most {peak / 1024:.1f} GB of memory"
        total = sum(cost.total for cost in costs)
        found.append(Sentence("cost", f"{duration(total)} in all{memory}."))
    return found


def _tested(method: MethodRun) -> list[str]:
    return list(dict.fromkeys(one.task for one in method.evaluations if one.split != "dev"))


def _scores(study: Study, method: MethodRun, task: str) -> str:
    """'FDT has 47.5 F1 on test; Base 47.5, SST 48.1. The best is SST, as many as FDT, with 49.2.'"""
    metric = main_metric(one.metrics for m in study.methods for one in m.evaluations if one.task == task)
    values = {m.name: value for m in study.methods if (value := _test_value(m, task, metric)) is not None}
    if method.name not in values:
        return "not scored on test yet."
    texts = {name: printed(value, values.values()) for name, value in values.items()}
    words = {m.name: m.words for m in study.methods}
    text = f"{words[method.name]} has {texts[method.name]} {metric_in_words(metric)} on test"
    others = [f"{words[name]} {texts[name]}" for name in BASELINES if name in values and name != method.name]
    if _best_iteration(method, task) == 0 and method.iterations:
        text += " (no iteration was better on dev than its Base, so this is Base)"
    text += f"; {'; '.join(others)}." if others else "."
    best = (min if metric in LOWER_IS_BETTER else max)(values, key=lambda name: values[name])
    if len(values) > 1:
        text += f" The best of {len(values)} is {words[best]}" + (
            f" with {texts[best]}." if best != method.name else "."
        )
    return text


def _best_iteration(method: MethodRun, task: str) -> int | None:
    return next((one.iteration for one in method.evaluations if one.task == task and one.split != "dev"), None)


def _test_value(method: MethodRun, task: str, metric: str) -> float | None:
    found = [one.metrics.get(metric) for one in method.evaluations if one.task == task and one.split != "dev"]
    return found[0] if found else None


def _chosen(method: MethodRun, iteration: int, counted: dict[str, object]) -> str:
    units, chosen = counted["units"], counted["chosen"]
    assert isinstance(units, int)
    assert isinstance(chosen, int)
    share = f" ({percent(chosen / units)})" if units else ""
    text = f"{method.words} chose {chosen:,} of {units:,}{share} in iteration {iteration}."
    precision, accuracy = counted["precision"], counted["accuracy"]
    if isinstance(precision, float) and isinstance(accuracy, float):
        return f"{text} Right are {percent(precision)} of the chosen and {percent(accuracy)} of all."
    return f"{text} Whether they are right is not known: the pool has no gold labels."
