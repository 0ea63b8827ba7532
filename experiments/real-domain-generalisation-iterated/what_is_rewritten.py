"""What rewriters do where something is missing and where nothing is, from the counts that are kept of every test.

Exact match over all utterances is highest for whoever rewrites nothing, so this looks at the two kinds apart: those
whose gold rewrite adds something to u_t, and the others. Means over seeds, at the iteration that each method reports.

    python experiments/real-domain-generalisation-iterated/what_is_rewritten.py
"""

from pathlib import Path

import numpy as np

from friend_training.core.task import Counts
from friend_training.methods.registry import METHODS
from friend_training.runs.inputs import load_counts
from friend_training.tasks.rewriting.metrics import exact_match_of, restored_f1_of

FOLDER = Path(__file__).parent / "counts"
RESTORED, ADDED, MISSING = 14, 15, 16
"""Columns of the counts (tasks/rewriting/metrics.py)."""
TITLES = (
    *("something added", "right where something is missing", "right where nothing is"),
    *("of what was added, right", "of what was missing, restored", "restored F1"),
)


def main() -> None:
    print(f"| of 100, on test | {' | '.join(TITLES)} |\n|---|{'--:|' * len(TITLES)}")
    for method, known in METHODS.items():
        # A file is named by config, method and seed; the names of some methods end as others are called.
        paths = [path for path in sorted(FOLDER.glob("*.npz")) if path.stem.split("-", 1)[1][:-2] == method]
        kept = [load_counts(path) for path in paths]
        seeds = [looked_at(counts["rewriting"]) for counts in kept if "rewriting" in counts]
        if seeds:
            cells = [f"{value:.1f}" for value in np.mean(seeds, axis=0)]
            print(f"| {known.title} ({len(seeds)} seed{'s' if len(seeds) > 1 else ''}) | {' | '.join(cells)} |")


def looked_at(counts: Counts) -> list[float]:
    """The columns of the table for one method and seed; `counts` has a row for every utterance of test."""
    is_missing, total = counts[:, MISSING] > 0, counts.sum(0)
    return [
        100 * float((counts[:, ADDED] > 0).mean()),
        float(exact_match_of(counts[is_missing].sum(0))),
        float(exact_match_of(counts[~is_missing].sum(0))),
        100 * float(total[RESTORED] / total[ADDED]),
        100 * float(total[RESTORED] / total[MISSING]),
        float(restored_f1_of(total)),
    ]


if __name__ == "__main__":
    main()
