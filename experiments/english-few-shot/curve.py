"""Rewrite or leave it: the share of needed rewrites that is made at a precision, with thresholds from dev.

python experiments/english-few-shot/curve.py RUNS/seed-1 RUNS/seed-2 [--methods base fdt-merged]    adds to curve.jsonl
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from friend_training.core.task import Prediction, Task
from friend_training.data.benchmarks import mudoco_few_shot
from friend_training.study.folders import run_config
from friend_training.study.open import open_task
from friend_training.tasks.rewriting.metrics import WordScore
from friend_training.tasks.rewriting.word_task import score_words
from friend_training.types import RewritingExample

HERE = Path(__file__).parent
PRECISIONS = (0.9, 0.8, 0.7, 0.6, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path, nargs="+", help="run folders, one for each seed")
    parser.add_argument("--methods", nargs="+", default=["base", "fdt-merged"])
    given = parser.parse_args()
    parts = mudoco_few_shot(Path(os.environ["FRIEND_TRAINING_DATA"]))
    with (HERE / "curve.jsonl").open("a", encoding="utf-8") as record:
        for run in given.runs:
            for method in given.methods:
                task = open_task(run, "rewriting", method).task
                dev, test = answers(task, parts["rewrites-dev"]), answers(task, parts["rewrites-test"])
                points = [point(precision, dev, test) for precision in PRECISIONS]
                seed = run_config(run).seed
                record.write(json.dumps({"method": method, "seed": seed, "points": points}) + "\n")


Answers = Sequence[tuple[Prediction, WordScore]]


def answers(task: Task, gold: Sequence[RewritingExample]) -> Answers:
    units = [units[0] for units in task.predict([example.dialogue for example in gold])]
    return list(zip(units, score_words([unit.label.text for unit in units], gold), strict=True))


def point(precision: float, dev: Answers, test: Answers) -> dict[str, float | None]:
    """The lowest threshold at which dev has this precision of at least five changed utterances; test at it."""
    sure = sorted((unit.confidence for unit, score in dev if score.changed), reverse=True)
    fits = [value for value in sure if _changed(dev, value)[1] >= 5 and _precision(dev, value) >= precision]
    if not fits:
        return {"precision": precision, "threshold": None}
    threshold = min(fits)
    made, changed, needed = _changed(test, threshold)
    return {
        "precision": precision,
        "threshold": round(threshold, 3),
        "test_precision": round(100 * made / max(1, changed), 1),
        "test_changed": changed,
        "test_needed_made": round(100 * made / needed, 1),
    }


def _changed(answers: Answers, threshold: float) -> tuple[int, int, int]:
    """(right of the changed, changed, needed) where what is less sure than the threshold is left."""
    kept = [score for unit, score in answers if score.changed and unit.confidence >= threshold]
    return sum(score.made for score in kept), len(kept), sum(score.needed for _, score in answers)


def _precision(answers: Answers, threshold: float) -> float:
    made, changed, _ = _changed(answers, threshold)
    return made / max(1, changed)


if __name__ == "__main__":
    main()
