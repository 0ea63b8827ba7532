"""What a person should know before believing a run: warnings by what its records, its store and its data say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from friend_training.core.limits import read_yaml
from friend_training.core.selector import Reason
from friend_training.methods.registry import METHODS, MethodSpec
from friend_training.runs.inputs import saved_gold
from friend_training.runs.run import Run
from friend_training.runs.steps import Select, Train
from friend_training.runs.store import Store
from friend_training.study.folders import method_folder, methods_there, read_notes, read_records

NEARLY_ALL = 0.95
"""From this share of the pool on one label is called collapse, unless gold has it nearly as often."""

_GAP, _ERRORS = 0.02, 2.0
"""Agreement is above chance where the mean match is above that of shuffled friends by so much, and by so many of its
standard errors."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, and what it is about; data have no method."""

    text: str
    method: str = ""
    task: str = ""

    @property
    def about(self) -> str:
        return ", ".join(part for part in (METHODS[self.method].title if self.method else "", self.task) if part)

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" if self.about else self.text


def told(warnings: Sequence[Warned]) -> list[str]:
    """Warnings in lines; what is the same of several methods and tasks is told once."""
    about: dict[str, list[str]] = {}
    for warned in warnings:
        about.setdefault(warned.text, []).append(warned.about)
    return [f"{'; '.join(names)}: {text}" if any(names) else text for text, names in about.items()]


def run_warnings(folder: str | Path) -> list[Warned]:
    """All warnings about a run."""
    folder = Path(folder)
    found = [Warned(note) for note in read_notes(folder)]
    for method in methods_there(folder):
        run = Run.open(method_folder(folder, method))
        if iterations := _selected(run):
            found += _of_method(folder, run, method, iterations)
    if {"fdt", "fdt-shuffled"} <= set(methods_there(folder)):
        found += _near_chance(folder)
    if {"fdt", "sst"} <= set(methods_there(folder)):
        found += _same_as_self_training(folder)
    return found


def dashes(folder: str | Path) -> list[Warned]:
    """Which methods of a finished run have no score of a task that is trained, and why."""
    folder = Path(folder)
    if "base" not in methods_there(folder):
        return []
    base = Run.open(method_folder(folder, "base"))
    tasks = read_yaml(Run.open(folder).config_text, str(folder / "config.yaml")).get("tasks", {})
    trained = [name for name in tasks if base.result(Train(name, 0)) is not None]
    return [
        Warned(f"–, {reason}", record["method"], task)
        for record in read_records(folder)
        if (reason := _without_score(METHODS[record["method"]]))
        for task in trained
        if not any(name.startswith(f"{task}.") for name in record["metrics"])
    ]


def _without_score(spec: MethodSpec) -> str:
    if spec.procedure == "same-steps":
        return "it takes no steps, each update trains it anew"
    return "no label of a friend says which of its own it would be" if spec.labels == "friend" else ""


def _selected(run: Run) -> list[int]:
    """The iterations whose selection is done: a run may be looked at while it goes on."""
    return [number for number in run.store.iterations() if run.result(Select(number)) is not None]


def _trained(run: Run) -> list[str]:
    """The tasks that were updated: a friend who only answers is not, nor is a task before its first update."""
    tasks = [name for number in _selected(run)[:1] for name in run.require(Select(number))["tasks"]]
    return [name for name in tasks if run.result(Train(name, 1)) is not None]


def _of_method(folder: Path, run: Run, method: str, iterations: list[int]) -> Iterator[Warned]:
    records: list[Mapping[str, Any]] = [run.require(Select(number))["tasks"] for number in iterations]
    last = run.store.read(iterations[-1], ["task", "label", "content", "chosen", "match", "reason"])
    for task in dict.fromkeys(name for one in records for name in one) if method == "fdt" else ():
        if not any(one.get(task, {}).get("units") for one in records):
            yield Warned("no unit was found in the pool", method, task)
    silent = {one.task for one in dashes(folder) if one.method == method}
    for task in _trained(run):
        if task in silent:
            continue
        of_task = [one[task] for one in records if one.get(task, {}).get("units")]
        if not of_task:
            continue
        if not any(one["chosen"] for one in of_task):
            yield Warned("no pseudo-label was chosen in any iteration: it was trained on gold alone", method, task)
        rows = last.filter(pc.equal(last["task"], task))
        if METHODS[method].labels == "own":
            yield from _collapsed(folder, rows, method, task)
        yield from _without_agreement(rows, method, task)
        told = dict.fromkeys(warning for one in of_task for warning in one.get("warnings", ()))
        yield from (Warned(warning, method, task) for warning in told)
        if any("threshold" in one and one["threshold"] is None for one in of_task):
            yield Warned("dev is too small, or too little of it is right, for the threshold asked for", method, task)


def _collapsed(folder: Path, rows: pa.Table, method: str, task: str) -> Iterator[Warned]:
    gold = saved_gold(folder, task)
    if not len(rows) or not gold:
        return
    label, share = _commonest(rows["label"])
    in_gold = sum(one == label for one in gold) / len(gold)
    if share >= NEARLY_ALL > in_gold:
        yield Warned(
            f"{100 * share:.0f} % of the pool has the label {_shown(label)} (in gold {100 * in_gold:.0f} %)",
            method,
            task,
        )
    empty = 1 - (pc.sum(rows["content"]).as_py() or 0) / len(rows)
    if empty >= NEARLY_ALL > share:
        yield Warned(f"{100 * empty:.0f} % of its labels for the pool say nothing", method, task)


def _commonest(labels: pa.ChunkedArray) -> tuple[str, float]:
    counted = labels.value_counts().to_pylist()
    best = max(counted, key=lambda one: one["counts"])
    return str(best["values"]), best["counts"] / len(labels)


def _shown(label: str) -> str:
    return label if len(label) <= 40 else f"{label[:40]}…"


_FILLS = Reason.FILLS_QUOTA.value


def _without_agreement(rows: pa.Table, method: str, task: str) -> Iterator[Warned]:
    """Of friend-training alone: other methods choose without a friend, and say so."""
    spec = METHODS[method]
    if spec.choice != "by-match" or spec.part_by_part:  # parts that are disputed are left open
        return
    chosen = rows.filter(rows["chosen"])
    disputed = pc.sum(pc.equal(chosen["match"], 0.0)).as_py() or 0
    if disputed:
        filling = pc.sum(pc.and_(pc.equal(chosen["match"], 0.0), pc.equal(chosen["reason"], _FILLS))).as_py() or 0
        why = f", {filling} of them to fill the quotas of their labels" if filling else ""
        yield Warned(
            f"{disputed} of {len(chosen)} chosen labels have a match of 0: the friend disputes them{why}", method, task
        )


def _near_chance(folder: Path) -> Iterator[Warned]:
    """In the first iteration the models are Base's in both runs: what differs is whose predictions are compared."""
    rows = {name: _first(folder, name, ["task", "match"]) for name in ("fdt", "fdt-shuffled")}
    for task in _trained(Run.open(method_folder(folder, "fdt"))):
        matches = {
            name: [one for one in table.filter(pc.equal(table["task"], task))["match"].to_pylist() if one is not None]
            for name, table in rows.items()
        }
        own, null = matches["fdt"], matches["fdt-shuffled"]
        if len(own) < 2 or len(null) < 2:
            continue
        error = (pstdev(own) ** 2 / len(own) + pstdev(null) ** 2 / len(null)) ** 0.5
        if fmean(own) - fmean(null) < max(_GAP, _ERRORS * error):
            yield Warned(
                f"its friends agree hardly more than by chance: mean match {fmean(own):.2f}, with the friend's answers"
                f" shuffled {fmean(null):.2f}",
                "fdt",
                task,
            )


def _first(folder: Path, method: str, columns: list[str]) -> pa.Table:
    run = Run.open(method_folder(folder, method))
    iterations = _selected(run)
    nothing = pa.table({name: pa.array([], pa.string()) for name in columns})
    return run.store.read(iterations[0], columns) if iterations else nothing


def _same_as_self_training(folder: Path) -> Iterator[Warned]:
    records = {record["method"]: record for record in read_records(folder)}
    runs = {name: Run.open(method_folder(folder, name)) for name in ("fdt", "sst")}
    stores, iterations = {name: run.store for name, run in runs.items()}, _selected(runs["fdt"])
    if not iterations or iterations != _selected(runs["sst"]) or not {"fdt", "sst"} <= records.keys():
        return
    for task in _trained(runs["fdt"]):
        chosen = {name: [_chosen(store, number, task) for number in iterations] for name, store in stores.items()}
        if chosen["fdt"] == chosen["sst"] and any(chosen["fdt"]):
            yield Warned("it chose exactly what self-training chose: the friend made no difference", "fdt", task)


def _chosen(store: Store, iteration: int, task: str) -> list[str]:
    rows = store.read(iteration, ["task", "unit", "chosen"])
    kept = rows.filter(pc.and_(rows["chosen"], pc.equal(rows["task"], task)))
    return sorted(kept["unit"].to_pylist())
