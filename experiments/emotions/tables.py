"""The tables of results.jsonl, as Markdown."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from friend_training.analysis.significance import Comparison, Metric, paired_bootstrap
from friend_training.experiments.tables import Column, build_table, to_markdown
from friend_training.tasks.class_metrics import accuracy_of, macro_f1_of

TITLES = {
    "base": "Base",
    "base-same-steps": "Base, same steps",
    "sst": "SST",
    "sst-as-many": "SST, as many as FDT",
    "random-as-many": "random, as many as FDT",
    "fdt-shuffled": "FDT, shuffled friend",
    "fdt": "FDT",
    "fdt-three": "FDT, three friends",
}
TASKS = ("polarity", "emotion")
METRICS: dict[str, Metric] = {"accuracy": accuracy_of, "macro_f1": macro_f1_of}
COLUMNS = tuple(
    Column(f"{task}.{metric}", f"{task} {'acc.' if metric == 'accuracy' else 'macro-F1'}")
    for task in TASKS
    for metric in METRICS
)


def print_tables(records: Sequence[dict[str, Any]], counts: Path, only: str = "", kind: str = "") -> None:
    """Those of one corpus, or one table of it, where they are named."""
    for corpus in [only] if only else dict.fromkeys(one["corpus"] for one in records):
        own = [one for one in records if one["corpus"] == corpus]
        made = {
            "test": lambda own=own, corpus=corpus: test_table(own, corpus, counts),
            "differences": lambda own=own, corpus=corpus: difference_table(own, corpus, counts),
            "dev": lambda own=own: dev_table(own),
            "chosen": lambda own=own: chosen_table(own),
            "triangle": lambda own=own: triangle_table(own),
        }
        if kind:
            print(made[kind]())
            continue
        print(f"\n## {corpus}, {len({one['seed'] for one in own})} seeds\n")
        print("\n".join(make() for make in made.values()))


def test_table(records: Sequence[dict[str, Any]], corpus: str, counts: Path) -> str:
    order = list(TITLES)
    rows = [
        {
            "scenario": corpus,
            "method": TITLES[one["method"]],
            "seed": one["seed"],
            "metrics": {f"{task}.{metric}": one[task]["test"][metric] for task in TASKS for metric in METRICS},
        }
        for one in sorted(records, key=lambda one: (order.index(one["method"]), one["seed"]))
    ]
    marks = {
        (TITLES[method], f"{task}.{metric}"): "*"
        for method in order
        for task in TASKS
        for metric in METRICS
        if method != "fdt" and compare(records, counts, corpus, "fdt", method, task, metric).significant
    }
    caption = "* differs from FDT: paired bootstrap over seeds and test texts, p < 0.05, at least five seeds"
    return to_markdown(build_table(rows, COLUMNS, scenario=corpus, marks=marks, caption=caption))


def difference_table(records: Sequence[dict[str, Any]], corpus: str, counts: Path) -> str:
    """FDT against the others: difference in points, 95 % interval, p-value."""
    lines = ["| | " + " | ".join(column.title for column in COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    pairs = [("fdt", other) for other in ("base", "sst", "sst-as-many", "random-as-many", "fdt-shuffled")]
    for better, worse in [*pairs, ("fdt-three", "fdt"), ("fdt-three", "sst")]:
        cells = []
        for task in TASKS:
            for metric in METRICS:
                found = compare(records, counts, corpus, better, worse, task, metric)
                low, high = 100 * found.low, 100 * found.high
                p = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.3f}"
                cells.append(f"{100 * found.difference:+.1f} [{low:+.1f}, {high:+.1f}] {p}")
        lines.append(f"| {TITLES[better]} − {TITLES[worse]} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def compare(
    records: Sequence[dict[str, Any]], folder: Path, corpus: str, a: str, b: str, task: str, metric: str
) -> Comparison:
    def counts(method: str) -> np.ndarray:
        seeds = sorted(one["seed"] for one in records if one["method"] == method)
        files = [folder / f"{corpus}-{method}-{task}-{seed}.npz" for seed in seeds]
        return np.stack([np.load(path)["counts"].astype(float) for path in files])

    return paired_bootstrap(counts(a), counts(b), METRICS[metric], samples=5000)


def dev_table(records: Sequence[dict[str, Any]]) -> str:
    """Dev macro-F1 (accuracy) by iteration; 0 is Base."""
    lines = ["| dev, by iteration | iteration | polarity F1 (acc.) | emotion F1 (acc.) |", "|---|--:|--:|--:|"]
    for method, title in TITLES.items():
        own = [one for one in records if one["method"] == method]
        for iteration in range(max((len(one["polarity"]["dev"]) for one in own), default=0)):
            cells = []
            for task in TASKS:
                dev = [one[task]["dev"][iteration] for one in own]
                mean = {metric: fmean(scores[metric] for scores in dev) for metric in METRICS}
                cells.append(f"{mean['macro_f1']:.1f} ({mean['accuracy']:.1f})")
            lines.append(f"| {title} | {iteration} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def chosen_table(records: Sequence[dict[str, Any]]) -> str:
    """How many were chosen, the share of right ones beside that of all labels on the pool, and the labels chosen."""
    lines = [
        "| chosen | task | iteration | how many | right | right on the whole pool | labels |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for method, title in TITLES.items():
        rows = [row for one in records if one["method"] == method for row in one["chosen"]]
        for task in TASKS:
            for iteration in sorted({row["iteration"] for row in rows}):
                own = [row for row in rows if (row["task"], row["iteration"]) == (task, iteration)]
                names = sorted({name for row in own for name in row["labels"]})
                total = sum(row["chosen"] for row in own)
                shares = {name: sum(row["labels"].get(name, 0) for row in own) / max(1, total) for name in names}
                said = ", ".join(f"{name} {100 * share:.0f}" for name, share in shares.items())
                lines.append(
                    f"| {title} | {task} | {iteration} | {fmean(row['chosen'] for row in own):.0f} | "
                    f"{100 * fmean(row['precision'] for row in own):.1f} | "
                    f"{100 * fmean(row['accuracy_on_pool'] for row in own):.1f} | {said} |"
                )
    return "\n".join(lines) + "\n"


def triangle_table(records: Sequence[dict[str, Any]]) -> str:
    """The estimate of three friends' accuracy in Σ beside the truth, by iteration; means over the seeds."""
    rows = [row for one in records for row in one["triangles"]]
    lines = [
        "| triangle | undecided | iteration | inputs | estimated | true | mean error | warned, no gold | with gold |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for undecided in ("neutral", None):
        for iteration in sorted({row["iteration"] for row in rows}):
            own = [row for row in rows if (row["iteration"], row["undecided"]) == (iteration, undecided)]
            for corner, name in enumerate((*TASKS, "lexicon")):
                pairs = [(row["friends"][corner]["accuracy"], row["truth"][name]) for row in own]
                known = [(estimate, truth) for estimate, truth in pairs if estimate is not None]
                estimate = f"{fmean(e for e, _ in known):.3f}" if known else "none"
                error = f"{fmean(abs(e - t) for e, t in known):.3f}" if known else ""
                lines.append(
                    f"| {name} | {undecided or 'silent'} | {iteration} | {fmean(row['inputs'] for row in own):.0f} | "
                    f"{estimate} | {fmean(t for _, t in pairs):.3f} | {error} | "
                    f"{sum(bool(without_gold(row)) for row in own)} of {len(own)} | "
                    f"{sum(bool(row['warnings']) for row in own)} of {len(own)} |"
                )
    return "\n".join(lines) + "\n"


def without_gold(row: dict[str, Any]) -> list[str]:
    """The warnings that agreement alone gives rise to."""
    return [text for text in row["warnings"] if not text.startswith("the errors of") and "on gold" not in text]
