"""What a method got right in each test example: the material of significance tests, kept in its run folder."""

from pathlib import Path

import numpy as np

from friend_training.core.counts import Counts
from friend_training.core.files import atomic_file

COUNTS = "counts.npz"


def add_counts(run: Path, task: str, counts: Counts) -> None:
    """Keep the counts of one task beside those of the others."""
    before = load_counts(run / COUNTS) if (run / COUNTS).is_file() else {}
    save_counts(run / COUNTS, before | {task: counts})


def save_counts(path: Path, counts: dict[str, Counts]) -> None:
    with atomic_file(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **{task: values.astype(np.float32) for task, values in counts.items()})  # type: ignore[arg-type]


def load_counts(path: Path) -> dict[str, Counts]:
    with np.load(path) as found:
        return {task: found[task].astype(np.float64) for task in found.files}
