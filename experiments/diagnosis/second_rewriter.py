"""What a second rewriter knows of the first one's rewrites, measured on dev as if it had no labels.

The first is Base, the second Multitask-Base's, which has learnt with CSRL in one network. How many rewrites of each are
right, and of the surer of the two; how many of the surest half of those that insert something; and how well the first
one's rewrites are judged by its confidence, and by whether the second says the same. For diagnosis: nothing goes back
into training.

    python experiments/diagnosis/second_rewriter.py RUNS   # the experiment's runs: has seed-1, seed-2, …
    python experiments/diagnosis/second_rewriter.py        # only print the tables
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from seeds import ALL_OF_DEV, by_seed, config_and_data, measured_seeds
from sklearn.metrics import roc_auc_score

from friend_training.core.task import Prediction
from friend_training.methods.co_training import surer
from friend_training.study.open import open_task


def main() -> None:
    records = measured_seeds(measure, "real-few-shot-iterated/second_rewriter.jsonl", __doc__)
    print(by_seed("right of 100 rewrites: all · the surest half", records, "rewrites"), end="\n\n")
    print(by_seed("a right rewrite of the first stands before a wrong one, judged by", records, "judges"))


def measure(study: Path, data_dir: Path | None) -> dict[str, Any]:
    config, data = config_and_data(study, data_dir, dev=ALL_OF_DEV)
    gold = data.tasks["rewriting"].dev
    dialogues, right = [example.dialogue for example in gold], [example.rewrite for example in gold]
    first, second = (
        open_task(study, "rewriting", method).task.predict(dialogues) for method in ("base", "multitask-base")
    )
    sets = {"the first": first, "the second": second, "the surer of the two": surer(dialogues, first, second)}
    agree = np.array([one[0].label.text == other[0].label.text for one, other in zip(first, second, strict=True)])
    is_right, sure, says = _columns(first, right)
    judges = {
        "its confidence": sure,
        "whether the second says the same": agree.astype(float),
        "both": agree + sure / 2,
    }
    return {
        "seed": config.seed,
        "rewrites": {name: _right(made, right) for name, made in sets.items()},
        "judges": {name: [100 * roc_auc_score(is_right[says], by[says])] for name, by in judges.items()},
    }


def _right(made: Sequence[Sequence[Prediction]], right: Sequence[str]) -> list[float]:
    """Of all rewrites, and of the half that is surest among those that insert something."""
    is_right, sure, says = _columns(made, right)
    surest = np.flatnonzero(says)[np.argsort(-sure[says], kind="stable")][: says.sum() // 2]
    return [100 * float(is_right.mean()), 100 * float(is_right[surest].mean())]


def _columns(made: Sequence[Sequence[Prediction]], right: Sequence[str]) -> tuple[Any, Any, Any]:
    """Right or not, confidence, and whether anything is inserted."""
    rows = [(one.label.text == text, one.confidence, one.content) for [one], text in zip(made, right, strict=True)]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


if __name__ == "__main__":
    main()
