"""Rewrite or leave it: the share of needed rewrites that is made at a precision, with thresholds from dev; and latency.

python experiments/english-few-shot/curve.py --runs FOLDER/seed-1 --encoder ENCODER [--method fdt] [--iteration 1]
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from friend_training.core.task import Prediction
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.run import Run
from friend_training.tasks.rewriting.metrics import WordScore
from friend_training.tasks.rewriting.word_task import score_words, word_rewriting_task
from study import MAX_LENGTH, Data, mudoco

PRECISIONS = (0.9, 0.8, 0.7, 0.6, 0.5)
ONE_BY_ONE = 100


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--method", default="base")
    parser.add_argument("--iteration", type=int, default=0)
    given = parser.parse_args()
    data = mudoco(Path(os.environ["FRIEND_TRAINING_DATA"]))
    task = word_rewriting_task(given.encoder, TrainingSettings(precision="bf16"), max_length=MAX_LENGTH)
    load_checkpoint(task, Run.open(given.runs / given.method).checkpoint("rewriting", given.iteration))
    dev, test = answers(task, data, data.dev), answers(task, data, [*data.half, *data.test])
    found = {"method": given.method, "points": [point(precision, dev, test) for precision in PRECISIONS]}
    print(json.dumps({**found, "latency": latency(task, data)}, indent=1))


Answers = Sequence[tuple[Prediction, WordScore]]


def answers(task: TorchTask, data: Data, ids: Sequence[str]) -> Answers:
    gold = [data.rewrites[id] for id in ids]
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


def latency(task: TorchTask, data: Data) -> dict[str, float]:
    """Milliseconds of one rewrite at a time, by the clock and of the processor."""
    wall, processor = [], []
    for id in data.test[: ONE_BY_ONE + 5]:
        began, worked = time.perf_counter(), time.process_time()
        task.predict([data.rewrites[id].dialogue])
        wall.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - worked))
    wall, processor = wall[5:], processor[5:]
    return {
        f"{name}_p{share}": round(float(np.percentile(values, share)), 1)
        for name, values in (("wall", wall), ("processor", processor))
        for share in (50, 99)
    }


if __name__ == "__main__":
    main()
