"""Runs whose every number is known: written into their folders by hand, nothing is trained."""

import json
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from friend_training.core.selector import Pick, Selector, Threshold
from friend_training.loop.selection import select_iteration
from friend_training.runs.inputs import save_gold, save_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Label, Prepare, Select, Test
from friend_training.runs.store import LABELLED
from friend_training.types import Argument, Dialogue, Insertion, Predicate, Rewrite, Roles, Text, Turn

EVIL = '<script>alert("x")</script><img src=x onerror=y>&amp;'
THRESHOLDS = {"csrl": 0.6, "rewriting": 0.5}
CONFIG = """
name: made <b>up</b>
seed: 7
methods: [base, fdt, sst, bridge-alone]
tasks: {csrl: {pick_threshold: 0.6, training: {batch_size: 4}}, rewriting: {pick_threshold: 0.5}}
"""


def dialogue(number: int) -> Dialogue:
    turns = (Turn("A", f"昨天{EVIL}来了"), Turn("<i>B</i>", f"他买了书{number}。"))
    return Dialogue(f"d{number}", turns, (Predicate(1, 2),))


def roles(number: int) -> Roles:
    arguments = (Argument("ARG0", 0, 2, 2 + len(EVIL)), Argument("ARG1", 1, 3, 4), Argument("TMP", 0, 0, 2))
    return Roles(Predicate(1, 2), arguments[: number % 4])


def rewrite(number: int) -> Rewrite:
    if number % 3 == 0:
        return Rewrite(f"他买了书{number}。")
    return Rewrite(f"{EVIL}买了书{number}。", (0,), (Insertion(0, 0, 2, 2 + len(EVIL)),))


def write_iteration(
    run: Run,
    iteration: int,
    labels: Mapping[str, Sequence[str]],
    *,
    picks: Mapping[str, Pick],
    seed: int,
    matched: bool = True,
    audited: bool = True,
) -> None:
    """Units d0, d1, … of each task with scores drawn at random, and what a real selector makes of them."""
    draw, tables = np.random.default_rng(seed), []
    for task, of_task in labels.items():
        size = len(of_task)
        match = draw.choice([0.0, 0.25, 0.8, 1.0, np.nan], size).round(3) if matched else np.full(size, np.nan)
        scores = [None if np.isnan(score) else float(score) for score in match]
        columns: dict[str, Any] = {
            "unit": [f"d{number}|{task}" for number in range(size)],
            "input": [f"d{number}" for number in range(size)],
            "task": [task] * size,
            "label": list(of_task),
            "confidence": draw.random(size).round(3),
            "content": [number % 5 != 0 for number in range(size)],
            "kind": [None] * size,
            "match": scores,
            "matches": [[("friends", score)] if matched else [] for score in scores],
            "correct": [bool(right) for right in draw.random(size) < 0.4] if audited else [None] * size,
        }
        tables.append(pa.table(columns, schema=LABELLED))
    run.store.write_labelled(iteration, 0, pa.concat_tables(tables))
    weight = 0.3 if matched else 1.0
    selectors = {task: Selector(pick, weight, content="only") for task, pick in picks.items()}
    run.do(Label(iteration, 0), lambda: {"units": sum(map(len, labels.values()))})
    run.do(Select(iteration), lambda: {"tasks": select_iteration(run.store, iteration, 1, selectors)})
    run.store.discard_labelled(iteration)


def evaluate(run: Run, task: str, dev: Sequence[float], test: float) -> None:
    """F1 on dev by iteration, and on test of the best of them."""
    for number, value in enumerate(dev):
        metrics = {"f1": value, "precision": value + 1}
        row = {"task": task, "iteration": number, "split": "dev", "metrics": metrics}
        run.do(Evaluate(task, number), lambda row=row: {"metrics": [row]})
    best = max(range(len(dev)), key=lambda number: dev[number])
    row = {"task": task, "iteration": best, "split": "test:test", "metrics": {"f1": test, "precision": test + 1}}
    run.do(Test(task), lambda: {"best_iteration": best, "metrics": [row]})
    run.write_metrics()


def made_study(folder: Path, *, units: int = 60) -> Path:
    """A finished study of four methods, two iterations, two dialogue tasks."""
    study = Run.create(folder, CONFIG, {"pool <x>": "ab" * 32})
    study.do(Prepare("encoder"), dict)
    labels = {
        "csrl": [_json(roles(number)) for number in range(units)],
        "rewriting": [_json(rewrite(number)) for number in range(units)],
    }
    scores = {"base": (40.0, 41.5), "sst": (42.0, 42.5), "fdt": (45.0, 44.25)}
    records = []
    for method, (dev, test) in scores.items():
        run = Run.create(folder / "methods" / method, CONFIG, {})
        for task in labels:
            evaluate(run, task, [40.0, dev, dev - 1] if method != "base" else [40.0], test)
        if method != "base":
            for iteration in (1, 2):
                picks = {task: Threshold(value) for task, value in THRESHOLDS.items()}
                matched = method == "fdt"
                write_iteration(run, iteration, labels, picks=picks, seed=iteration, matched=matched)
        records.append({"method": method, "version": "0.1.0", "metrics": {"csrl.f1": test}})
    records.append({"method": "bridge-alone", "version": "0.1.0", "metrics": {"csrl.f1": 12.5, "csrl.precision": 13.0}})
    (folder / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    save_inputs(folder, [dialogue(number) for number in range(units)])
    gold = {"csrl": [roles(n) for n in (1, 2, 3, 3)], "rewriting": [rewrite(n) for n in (0, 1)]}
    save_gold(folder, gold)
    return folder


def made_classifiers(folder: Path, *, pick: Pick, audited: bool = False, kept: bool = True) -> Run:
    """A single run of plain labels, made with the library alone: no config, no methods."""
    run = Run.create(folder, "", {})
    labels = {"mood": [json.dumps(("happy", "sad", EVIL)[number % 3]) for number in range(30)]}
    write_iteration(run, 1, labels, picks={"mood": pick}, seed=3, audited=audited)
    row = {"task": "mood", "iteration": 1, "split": "test:near", "metrics": {"accuracy": 0.875}}
    run.do(Test("mood"), lambda: {"best_iteration": 1, "metrics": [row]})
    run.write_metrics()
    if kept:
        save_inputs(folder, [Text(f"d{number}", f"review {number} {EVIL}") for number in range(30)])
    return run


def _json(label: Roles | Rewrite) -> str:
    from pydantic import TypeAdapter

    return TypeAdapter(type(label)).dump_json(label).decode()


class Page(HTMLParser):
    """A page as a reader of its source sees it: tags, and the tables as rows of texts."""

    VOID = ("meta", "br", "img", "link")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text += data
        if self.rows and self.open[-1:] and any(tag in ("td", "th") for tag in self.open):
            self.rows[-1][-1] += data.strip()
