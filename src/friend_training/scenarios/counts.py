"""What a method got right in each test dialogue: the material of significance tests, kept beside its results."""

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.core.counts import Counts
from friend_training.core.files import atomic_file
from friend_training.core.task import Prediction
from friend_training.corpora.csrl import dialogue_group
from friend_training.errors import RunError
from friend_training.evaluation.significance import group_counts
from friend_training.examples import CsrlExample, RewritingExample
from friend_training.nn.torch_task import TorchTask
from friend_training.tasks.csrl import metrics as csrl
from friend_training.tasks.rewriting import metrics as rewriting

_DAMAGED = (
    *(ValueError, EOFError, KeyError, AttributeError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What NumPy and the archive under it say of a file that is not what was written."""


def csrl_counts(gold: Sequence[CsrlExample], predictions: Sequence[Sequence[Prediction]]) -> Counts:
    """[dialogues, 12]: all predicates of a source dialogue together, whichever of its turns they stand in."""
    units = csrl.unit_counts(
        [prediction.label for units in predictions for prediction in units],
        [label for example in gold for label in example.roles],
        [example.dialogue for example in gold for _ in example.roles],
    )
    return group_counts(units, [dialogue_group(example.dialogue.id) for example in gold for _ in example.roles])


def rewriting_counts(gold: Sequence[RewritingExample], predictions: Sequence[Sequence[Prediction]]) -> Counts:
    """[examples, 17]."""
    return rewriting.unit_counts(
        [units[0].label.text for units in predictions],
        [example.rewrite for example in gold],
        [example.dialogue.utterance.text for example in gold],
    )


def counts_of(task: str, gold: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> Counts:
    return csrl_counts(gold, predictions) if task == "csrl" else rewriting_counts(gold, predictions)


@dataclass(frozen=True, slots=True)
class CountingTest:
    """Scores a test set as the task does, and leaves in `kept` what each dialogue got right: predicted once."""

    name: str
    task: TorchTask
    kept: dict[str, Counts]

    def __call__(self, gold: Sequence[Any]) -> Mapping[str, float]:
        predictions = self.task.predict(self.task.definition.inputs_of(gold))
        self.kept[self.name] = counts_of(self.name, gold, predictions)
        return self.task.definition.score(gold, predictions)


def save_counts(path: Path, counts: dict[str, Counts]) -> None:
    with atomic_file(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **{task: values.astype(np.float32) for task, values in counts.items()})  # type: ignore[arg-type]


def load_counts(path: Path) -> dict[str, Counts]:
    try:
        with np.load(path, allow_pickle=False) as found:
            return {task: found[task].astype(np.float64) for task in found.files}
    except (OSError, *_DAMAGED) as error:
        raise RunError(f"{path}: expected the counts of a result; it is damaged ({error})") from error
