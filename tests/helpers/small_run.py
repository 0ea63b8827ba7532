"""A run folder made by hand, in a moment: the case study's two tasks, one iteration, and all that a page can meet."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from friend_training.core.selector import Selector, Threshold
from friend_training.loop.selection import select_iteration
from friend_training.runs.inputs import save_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Select
from friend_training.runs.store import LABELLED
from friend_training.types import Dialogue, Predicate, Turn

MARKUP = "<img src=x onerror=\"document.title='broken in'\"><script>document.title='broken in'</script>"

DIALOGUES = [
    Dialogue("d1", (Turn("A", "你喜欢红茶吗"), Turn("B", "我很喜欢")), (Predicate(2, 4),)),
    Dialogue("d2", (Turn("A", "😀小林去了海边"), Turn("B", "他🎈什么时候去的")), (Predicate(6, 7),)),
    Dialogue("d3", (Turn("A", "今天下雨"), Turn("B", "带伞出门")), (Predicate(0, 1), Predicate(2, 4))),
    Dialogue("d4", (Turn("A", "嗯"), Turn("B", "哈哈")), ()),
    Dialogue("<b>d5</b>", (Turn("<i>A</i>", MARKUP), Turn("B", "看见了")), (Predicate(0, 2),)),
]

CSRL = [  # input, predicate, arguments (role, turn, start, end), confidence, match, right
    ("d1", (2, 4), [("ARG0", 1, 0, 1), ("ARG1", 0, 3, 5)], 0.9, 0.5, True),
    ("d2", (6, 7), [("ARG0", 0, 1, 3), ("TMP", 1, 2, 6)], 0.6, 1.0, False),
    ("d3", (0, 1), [("ARG0", 1, -1, 0), ("ARG1", 1, 1, 2)], 0.7, 0.8, None),
    ("d3", (2, 4), [], 0.99, 1.0, None),
    ("<b>d5</b>", (0, 2), [("ARG0", -1, -1, 0), ("ARG1", 0, 0, 4)], 0.2, 0.1, False),
]
REWRITING = [  # input, text, deleted, insertions (before, turn, start, end), confidence, match, right
    ("d1", "我很喜欢红茶", [], [(4, 0, 3, 5)], 0.8, 0.9, True),
    ("d2", "小林🎈什么时候去的", [0], [(0, 0, 1, 3)], 0.5, 0.4, True),
    ("d3", "带伞出门", [], [], 0.95, 0.6, None),
    ("d4", "哈哈", [], [], 0.9, None, None),
    ("<b>d5</b>", "看见了<img", [], [(3, 0, 0, 4)], 0.3, 0.2, False),
]
SELECTORS = {
    "csrl": Selector(Threshold(0.75), 0.2, content="only"),
    "rewriting": Selector(Threshold(0.6), 0.4),
}
CONFIG = {"name": "small", "methods": ["fdt"], "iterations": 2, "span_source": "dialogue"}


def csrl_row(one: Sequence[Any]) -> dict[str, Any]:
    name, (start, end), found, *scores = one
    arguments = [dict(zip(("role", "turn", "start", "end"), argument, strict=True)) for argument in found]
    label = {"predicate": {"start": start, "end": end}, "arguments": arguments}
    return _row("csrl", f"{name}|{start}-{end}", name, label, bool(found), *scores)


def rewriting_row(one: Sequence[Any]) -> dict[str, Any]:
    name, text, deleted, found, *scores = one
    insertions = [dict(zip(("before", "turn", "start", "end"), insertion, strict=True)) for insertion in found]
    label = {"text": text, "deleted": deleted, "insertions": insertions}
    return _row("rewriting", name, name, label, bool(found), *scores)


def _row(task: str, unit: str, name: str, label: Any, content: bool, confidence: float, match: Any, right: Any) -> Any:
    return {
        "unit": unit,
        "input": name,
        "task": task,
        "label": json.dumps(label, ensure_ascii=False),
        "confidence": confidence,
        "content": content,
        "match": match,
        "matches": [("csrl-rewriting", match)],
        "correct": right,
    }


def write_run(folder: Path, rows: pa.Table, selectors: dict[str, Selector], inputs: Sequence[Any]) -> Path:
    """A study with one method, fdt, whose first iteration has been selected by the core's own code."""
    Run.create(folder, json.dumps(CONFIG) + "\n", {})
    run = Run.create(folder / "methods" / "fdt", json.dumps(CONFIG) + "\n", {})
    run.store.write_labelled(1, 0, rows)
    run.do(Select(1), lambda: {"tasks": select_iteration(run.store, 1, 1, selectors)})
    run.store.discard_labelled(1)
    save_inputs(folder, inputs)
    return folder


def small_study(folder: Path) -> Path:
    rows = [*map(csrl_row, CSRL), *map(rewriting_row, REWRITING)]
    return write_run(folder, pa.Table.from_pylist(rows, schema=LABELLED), SELECTORS, DIALOGUES)


def large_study(folder: Path, units: int) -> Path:
    """So many units of CSRL, two in each dialogue, with scores drawn at random."""
    inputs = [
        Dialogue(
            f"d{n}",
            (Turn("A", f"第{n}号今天去了哪里"), Turn("B", "他去海边看日出了")),
            (Predicate(1, 2), Predicate(4, 5)),
        )
        for n in range(units // 2)
    ]
    label = '{"predicate":{"start":%d,"end":%d},"arguments":[{"role":"ARG0","turn":1,"start":0,"end":1}]}'
    labels = [label % (1, 2), label % (4, 5)]
    names = [given.id for given in inputs for _ in range(2)]
    random = np.random.default_rng(1)
    match = random.random(units)
    columns = {
        "unit": [f"{name}|{place}" for name, place in zip(names, ["1-2", "4-5"] * len(inputs), strict=True)],
        "input": names,
        "task": ["csrl"] * units,
        "label": labels * len(inputs),
        "confidence": random.random(units),
        "content": random.random(units) < 0.9,
        "kind": [None] * units,
        "match": pa.array(match, mask=random.random(units) < 0.02),
        "matches": [[("csrl-rewriting", float(value))] for value in match],
        "correct": random.random(units) < match,
    }
    rows = pa.table(columns, schema=LABELLED)
    return write_run(folder, rows, {"csrl": Selector(Threshold(0.7), 0.2, content="only")}, inputs)
