"""What a method got right in each test example: the material of significance tests, saved in its run folder."""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from friend_training.core.counts import Counts
from friend_training.errors import RunError
from friend_training.runs.manifest import check_file, recorded_file

COUNTS = "counts.npz"

_DAMAGED = (
    *(ValueError, EOFError, KeyError, AttributeError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""The errors of NumPy, and of the archive under it, for a file that is not what was written."""


def add_counts(run: Path, task: str, counts: Counts) -> None:
    """Save the counts of one task beside those of the others."""
    before = load_counts(run / COUNTS) if (run / COUNTS).is_file() else {}
    save_counts(run / COUNTS, before | {task: counts})


def save_counts(path: Path, counts: dict[str, Counts]) -> None:
    with recorded_file(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **{task: values.astype(np.float32) for task, values in counts.items()})  # type: ignore[arg-type]


def load_counts(path: Path) -> dict[str, Counts]:
    try:
        with np.load(path, allow_pickle=False) as found:
            counts = {task: found[task].astype(np.float64) for task in found.files}
    except (OSError, *_DAMAGED) as error:
        raise RunError(f"{path}: expected the counts of a result; it is damaged ({error})") from error
    check_file(path)
    return counts
