"""An experiment's results as tables: the paper's, and how precise the chosen pseudo-labels were."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from friend_training.core.counts import Counts
from friend_training.errors import DataError
from friend_training.evaluation.significance import Comparison, Metric, paired_bootstrap
from friend_training.evaluation.tables import Column, Table, build_table
from friend_training.scenarios.counts import load_counts
from friend_training.scenarios.experiment import COUNTS, read_results
from friend_training.tasks.csrl.metrics import f1_overall_of
from friend_training.tasks.rewriting.metrics import exact_match_of, rouge_l_of, word_error_rate_of

COLUMNS = (
    Column("csrl.precision", "P"),
    Column("csrl.recall", "R"),
    Column("csrl.f1", "F1"),
    Column("csrl.cross_f1", "F1 across"),
    Column("rewriting.rouge_l", "ROUGE-L"),
    Column("rewriting.em", "EM"),
    Column("rewriting.wer", "WER", higher_is_better=False),
)
TESTED: tuple[tuple[str, str, Metric], ...] = (
    ("csrl.f1", "csrl", f1_overall_of),
    ("rewriting.rouge_l", "rewriting", rouge_l_of),
    ("rewriting.em", "rewriting", exact_match_of),
    ("rewriting.wer", "rewriting", word_error_rate_of),
)
SIGNIFICANT = 0.05


def results_of(folder: Path) -> list[dict[str, Any]]:
    """The results of an experiment, which must all be of one config."""
    results = read_results(folder)
    if not results:
        raise DataError(f"{folder} has no results yet; `friend-train experiment {folder}`")
    configs = {record["config_id"] for record in results}
    if len(configs) > 1:
        raise DataError(f"{folder}: results of {len(configs)} different configs cannot stand in one table")
    return results


def comparison_table(folder: Path, names: dict[str, str], *, against: str = "fdt") -> Table:
    """Mean and deviation over seeds; a star marks what differs from `against` (paired bootstrap, p < 0.05)."""
    results = results_of(folder)
    records = [
        {"method": names.get(r["method"], r["method"]), "seed": r["seed"], "scenario": "", "metrics": r["metrics"]}
        for r in sorted(results, key=lambda r: (list(names).index(r["method"]), r["seed"]))
    ]
    marks = {
        (names.get(method, method), metric): "*"
        for (method, metric), found in comparisons(folder, against=against).items()
        if found.p_value < SIGNIFICANT
    }
    caption = f"* differs from {names.get(against, against)}, paired bootstrap over test dialogues, p < {SIGNIFICANT}"
    return build_table(records, COLUMNS, scenario="", marks=marks, caption=caption)


def comparisons(folder: Path, *, against: str) -> dict[tuple[str, str], Comparison]:
    """(method, metric) → the difference `against` − method on the seeds that both have."""
    results = results_of(folder)
    counts = {
        (r["method"], r["seed"]): load_counts(path)
        for r in results
        if (path := folder / COUNTS / f"{r['config_id']}-{r['method']}-{r['seed']}.npz").is_file()
    }
    found: dict[tuple[str, str], Comparison] = {}
    for method in dict.fromkeys(method for method, _ in counts if method != against):
        seeds = [seed for name, seed in counts if name == method and (against, seed) in counts]
        for metric, task, function in TESTED:
            if seeds and all(task in counts[name, seed] for name in (method, against) for seed in seeds):
                ours, theirs = (_stack(counts, name, seeds, task) for name in (against, method))
                found[method, metric] = paired_bootstrap(ours, theirs, function)
    return found


def _stack(counts: dict[tuple[str, int], dict[str, Counts]], method: str, seeds: Sequence[int], task: str) -> Counts:
    return np.stack([counts[method, seed][task] for seed in seeds])


def dev_rows(folder: Path, names: dict[str, str]) -> list[tuple[str, int, list[float | None]]]:
    """(method, iteration, CSRL F1 · EM · WER on dev), means over seeds: what each iteration did, chosen or not."""
    results = results_of(folder)
    shown = (("csrl", "f1"), ("rewriting", "em"), ("rewriting", "wer"))
    rows: list[tuple[str, int, list[float | None]]] = []
    for method in [name for name in names if any(r["method"] == name and r.get("dev") for r in results)]:
        dev = [r["dev"] for r in results if r["method"] == method]
        for iteration in range(max(len(of_task) for one in dev for of_task in one.values())):
            found = [
                [one[task][iteration][metric] for one in dev if len(one.get(task, ())) > iteration]
                for task, metric in shown
            ]
            rows.append((names[method], iteration, [fmean(values) if values else None for values in found]))
    return rows


def chosen_rows(folder: Path, names: dict[str, str]) -> list[tuple[str, str, int, float, float, float | None]]:
    """(method, task, iteration, chosen, chosen with content, precision of the chosen), means over seeds."""
    results = results_of(folder)
    rows = []
    for method in [name for name in names if any(r["method"] == name and r.get("chosen") for r in results)]:
        of_method = [r for r in results if r["method"] == method]
        for task in ("csrl", "rewriting"):
            for iteration in range(max(len(r["chosen"]) for r in of_method)):
                found = [(r["chosen"][iteration] or {}).get(task) for r in of_method]
                told = [counts for counts in found if counts]
                if told and any(counts["chosen"] for counts in told):
                    precise = [counts["precision"] for counts in told if counts["precision"] is not None]
                    rows.append(
                        (
                            names[method],
                            task,
                            iteration + 1,
                            fmean(counts["chosen"] for counts in told),
                            fmean(counts["chosen_with_content"] for counts in told),
                            fmean(precise) if precise else None,
                        )
                    )
    return rows
