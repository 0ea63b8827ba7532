"""The tables of results.jsonl, as Markdown."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from friend_training.analysis.significance import Comparison, Metric, paired_bootstrap
from friend_training.core.task import Counts
from friend_training.experiments.results import counts_path
from friend_training.experiments.tables import Column, build_table, to_markdown
from friend_training.runs.inputs import load_counts
from friend_training.tasks.parsing.constituency.metrics import bracket_f1_of
from friend_training.tasks.parsing.dependency.metrics import uas_of
from friend_training.tasks.parsing.tagging.metrics import accuracy_of

TITLES = {
    "base": "Base",
    "base-same-steps": "Base, same steps",
    "sst": "SST",
    "sst-as-many": "SST, as many as FDT",
    "random-as-many": "random, as many as FDT",
    "fdt-shuffled": "FDT, shuffled friend",
    "fdt": "FDT, two friends",
    "fdt-three": "FDT, three friends",
    "converted": "dependency parser, gold of both by head rules",
    "rules": "constituency parser and head rules",
}
COLUMNS = (
    Column("constituency.f1", "bracket F1"),
    Column("constituency.tag_accuracy", "tags of trees"),
    Column("constituency.uas_by_rules", "UAS of trees by rules"),
    Column("dependency.uas", "UAS"),
    Column("tagging.accuracy", "tagger's accuracy"),
)
COMPARED: dict[str, tuple[str, Metric]] = {
    "constituency": ("constituency.f1", bracket_f1_of),
    "dependency": ("dependency.uas", uas_of),
    "tagging": ("tagging.accuracy", accuracy_of),
}
Record = Mapping[str, Any]


def ordered(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda one: (list(TITLES).index(one["method"]), one["seed"]))


def test_table(records: Sequence[Record]) -> str:
    rows = [{**one, "scenario": "parsing", "method": TITLES[one["method"]]} for one in records]
    seeds = sorted({one["seed"] for one in records})
    caption = f"Test, mean ± standard deviation over seeds {', '.join(map(str, seeds))}."
    return to_markdown(build_table(rows, COLUMNS, scenario="parsing", caption=caption))


def difference_table(records: Sequence[Record], folder: Path) -> str:
    """FDT against the others on the seeds that both have: points, 95 % interval, a star where one is due."""
    titles = {column.metric: column.title for column in COLUMNS}
    lines = [
        "| difference | " + " | ".join(titles[metric] for metric, _ in COMPARED.values()) + " |",
        "|---|--:|--:|--:|",
    ]
    for ours in ("fdt", "fdt-three"):
        for other in TITLES:
            found = {task: compare(records, folder, ours, other, task) for task in COMPARED if ours != other}
            if any(found.values()):
                cells = [_difference(one) if one else "–" for one in found.values()]
                lines.append(f"| {TITLES[ours]} − {TITLES[other]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def compare(records: Sequence[Record], folder: Path, ours: str, other: str, task: str) -> Comparison | None:
    """None where the two have no seed in common, or one of them is silent about the task."""
    a, b = (_counts(records, folder, method, task) for method in (ours, other))
    seeds = sorted(a.keys() & b.keys())
    if not seeds:
        return None
    counts_a, counts_b = (np.stack([counts[seed] for seed in seeds]) for counts in (a, b))
    return paired_bootstrap(counts_a, counts_b, COMPARED[task][1], samples=5000)


def _counts(records: Sequence[Record], folder: Path, method: str, task: str) -> dict[int, Counts]:
    found: dict[int, Counts] = {}
    for one in records:
        if one["method"] == method:
            counts = load_counts(counts_path(folder, (one["config_id"], method, one["seed"])))
            found |= {one["seed"]: counts[task]} if task in counts else {}
    return found


def _difference(found: Comparison) -> str:
    return f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}]" + "\\*" * found.significant


def dev_table(records: Sequence[Record]) -> str:
    """The main metric of each task by iteration, 0 is Base: means over the seeds."""
    lines = ["| dev | iteration | bracket F1 | UAS | tagger's accuracy |", "|---|--:|--:|--:|--:|"]
    for method, title in TITLES.items():
        own = [one["dev"] for one in records if one["method"] == method and one["dev"]]
        for iteration in range(len(next(iter(own[0].values()))) if own else 0):
            cells = []
            for task, (metric, _) in COMPARED.items():
                values = [dev[task][iteration][metric.split(".")[1]] for dev in own if task in dev]
                cells.append(f"{fmean(values):.1f}" if values else "–")
            lines.append(f"| {title} | {iteration} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def chosen_table(records: Sequence[Record]) -> str:
    """What was chosen, by the gold that was hidden, beside the whole pool: means over the seeds."""
    lines = [
        "| chosen | task | iteration | how many | whole sentences right, % | metric | of the pool | match | words |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for method, title in TITLES.items():
        rows = [row for one in records if one["method"] == method for row in one["chosen"]]
        for task, iteration in dict.fromkeys((row["task"], row["iteration"]) for row in rows):
            own = [row for row in rows if (row["task"], row["iteration"]) == (task, iteration)]
            metric = COMPARED[task][0].split(".")[1]
            cells = [
                f"{fmean(row['chosen'] for row in own):.0f}",
                _mean([row["precision"] for row in own], scale=100),
                _mean([row[metric] for row in own]),
                _mean([row["pool"][metric] for row in own]),
                _mean([row["match"] for row in own], digits=2),
                _mean([row["words"] for row in own]),
            ]
            lines.append(f"| {title} | {task} | {iteration} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(values: Sequence[float | None], *, scale: float = 1, digits: int = 1) -> str:
    known = [value for value in values if value is not None]
    return f"{scale * fmean(known):.{digits}f}" if known else "–"


TABLES: dict[str, Callable[[Sequence[Record], Path], str]] = {
    "test": lambda records, folder: test_table(ordered(records)),
    "differences": lambda records, folder: difference_table(ordered(records), folder),
    "dev": lambda records, folder: dev_table(ordered(records)),
    "chosen": lambda records, folder: chosen_table(ordered(records)),
}
"""From the records of one set of settings, and the folder where results.jsonl lies, with the counts."""
