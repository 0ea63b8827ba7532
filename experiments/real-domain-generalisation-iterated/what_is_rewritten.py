"""What rewriters do where something is missing and where nothing is, from the counts that are kept of every test.

Exact match over all utterances is highest for whoever rewrites nothing, so this looks at the two kinds apart: those
whose gold rewrite adds something to u_t, and the others. Means over seeds, at the iteration that each method reports.

    python experiments/real-domain-generalisation-iterated/what_is_rewritten.py
"""

from pathlib import Path

import numpy as np

from friend_training.core.counts import Counts
from friend_training.methods.known import METHODS
from friend_training.scenarios.counts import load_counts
from friend_training.tasks.rewriting.metrics import exact_match_of, restored_f1_of

FOLDER = Path(__file__).parent / "counts"
RESTORED, ADDED, MISSING = 14, 15, 16
"""Columns of the counts (tasks/rewriting/metrics.py)."""
COLUMNS = {
    "rewritten": lambda all_, missing, complete: _share(all_[:, ADDED] > 0),
    "right where something is missing": lambda all_, missing, complete: exact_match_of(missing.sum(0)),
    "right where nothing is": lambda all_, missing, complete: exact_match_of(complete.sum(0)),
    "of what was added, right": lambda all_, missing, complete: _percent(all_[:, RESTORED], all_[:, ADDED]),
    "of what was missing, restored": lambda all_, missing, complete: _percent(all_[:, RESTORED], all_[:, MISSING]),
    "restored F1": lambda all_, missing, complete: restored_f1_of(all_.sum(0)),
}


def main() -> None:
    print(f"| of 100, on test | {' | '.join(COLUMNS)} |\n|---|{'--:|' * len(COLUMNS)}")
    for method, known in METHODS.items():
        tables = [load_counts(path) for path in sorted(FOLDER.glob(f"*-{method}-[0-9].npz"))]
        rows = [_row(table["rewriting"]) for table in tables if "rewriting" in table]
        if rows:
            print(f"| {known.title} ({len(rows)}) | {' | '.join(f'{value:.1f}' for value in np.mean(rows, axis=0))} |")


def _row(counts: Counts) -> list[float]:
    missing = counts[:, MISSING] > 0
    return [float(column(counts, counts[missing], counts[~missing])) for column in COLUMNS.values()]


def _share(of: Counts) -> float:
    return 100 * float(of.mean())


def _percent(part: Counts, whole: Counts) -> float:
    return 100 * float(part.sum() / whole.sum())


if __name__ == "__main__":
    main()
