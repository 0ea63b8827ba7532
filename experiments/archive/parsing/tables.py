"""The tables of results.jsonl, as Markdown, from the program that was here before experiments/parsing.

python experiments/archive/parsing/tables.py test
python experiments/archive/parsing/tables.py differences
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.analysis.significance import Comparison, Metric, paired_bootstrap
from friend_training.core.task import Counts
from friend_training.experiments.results import counts_path, read_results
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


TABLES: dict[str, Callable[[Sequence[Record], Path], str]] = {
    "test": lambda records, folder: test_table(ordered(records)),
    "differences": lambda records, folder: difference_table(ordered(records), folder),
}


if __name__ == "__main__":
    HERE = Path(__file__).parent
    print(TABLES[sys.argv[1]](read_results(HERE), HERE))
