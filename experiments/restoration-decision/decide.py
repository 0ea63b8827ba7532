"""Rewrite or leave it, in Chinese: a rewriter trained on REWRITE, asked on RESTORATION, where four of ten need none.

python experiments/restoration-decision/decide.py OUT [--labels 1000] [--steps 400] [--seed 1]   adds to results.jsonl
python experiments/restoration-decision/decide.py --show                                                    the tables

A rewrite is made where its score reaches a threshold; RESTORATION's dev sets the threshold, its test is scored once.
Two scores: the rewrite's probability, and what it has of the probability of the two answers together, itself and
leaving the utterance as it is. Settings are those of configs/domain-generalisation-iterated.yaml.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from friend_training.core.task import FitPlan
from friend_training.data.benchmarks import restoration, rewrite
from friend_training.data.catalogue import model_source
from friend_training.nn.task import TorchTask
from friend_training.study.config import case_study, load_config
from friend_training.study.kinds import Given, make_task
from friend_training.study.run_data import draw_examples
from friend_training.types import Rewrite, RewritingExample

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
CONFIG = HERE.parents[1] / "configs" / "domain-generalisation-iterated.yaml"
PRECISIONS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
FEWEST = 10
"""A threshold stands on so many changed utterances of dev at least."""
LEAST_CHANGED = 0.05
SCORES = ("probability", "odds")

Answers = NDArray[np.float64]
"""A row for each utterance: probability, odds, whether the rewrite changes it, is exact, and is needed."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--dev", type=int, default=2000, help="so many utterances of dev set the threshold")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        print(table())
        return
    torch.set_num_threads(1)
    data_dir = Path(os.environ["FRIEND_TRAINING_DATA"])
    dev, test = restoration(data_dir)
    task = trained(data_dir, dev, given)
    found = {name: answers(task, part) for name, part in (("dev", dev[: given.dev]), ("test", test))}
    np.savez_compressed(given.out / f"answers-{given.seed}.npz", **found)
    with RESULTS.open("a", encoding="utf-8") as stream:
        for score in SCORES:
            found_here = decided(found["dev"], found["test"], SCORES.index(score))
            made = {"labels": given.labels, "steps": given.steps, "seed": given.seed, "dev": given.dev}
            stream.write(json.dumps({"score": score} | made | found_here) + "\n")
    print(table())


def trained(data_dir: Path, dev: Sequence[RewritingExample], given: argparse.Namespace) -> TorchTask:
    config = case_study(load_config(CONFIG, [f"seed={given.seed}"]))
    task: Any = make_task(config, "rewriting", Given(encoder=model_source("ernie-3.0-nano-zh-uie")))
    folder = given.out / f"rewriter-{given.seed}"
    if folder.is_dir():
        task.load(folder)
    else:
        gold = draw_examples(rewrite(data_dir)[0], given.labels, seed=f"rewriting {given.seed}")
        task.fit(gold, (), dev=dev, plan=FitPlan(seed=given.seed, steps=given.steps, restart=True))
        folder.mkdir(parents=True)
        task.save(folder)
    assert isinstance(task, TorchTask)
    return task


def answers(task: TorchTask, gold: Sequence[RewritingExample]) -> Answers:
    inputs = [example.dialogue for example in gold]
    own = [units[0] for units in task.predict(inputs)]
    left = [[[Rewrite(one.utterance.text)]] for one in inputs]
    stay = [logs[0][0] for logs in task.log_likelihood(inputs, left)]
    rows = []
    for one, example, leaving in zip(own, gold, stay, strict=True):
        text = example.dialogue.utterance.text
        odds = 1 / (1 + np.exp(np.clip(leaving - np.log(max(one.confidence, 1e-300)), -700, 700)))
        rows.append(
            (one.confidence, odds, one.label.text != text, one.label.text == example.rewrite, example.rewrite != text)
        )
    return np.array(rows, dtype=np.float64)


def decided(dev: Answers, test: Answers, score: int) -> dict[str, Any]:
    nothing = scored(test, np.inf, score)
    best = max(thresholds(dev, score, LEAST_CHANGED), key=lambda value: scored(dev, value, score)["em"])
    curve = []
    for precision in PRECISIONS:
        fits = [one for one in thresholds(dev, score) if scored(dev, one, score)["precision"] >= 100 * precision]
        curve.append({"asked": precision} | ({} if not fits else scored(test, min(fits), score)))
    return {
        "nothing": nothing,
        "everything": scored(test, -np.inf, score),
        "best_of_dev": scored(test, best, score) | {"em_of_dev": scored(dev, best, score)["em"]},
        "least_difference": interval(test, best, score),
        "curve": curve,
    }


def thresholds(dev: Answers, score: int, least: float = 0.0) -> list[float]:
    """Those at which enough utterances of dev change."""
    values = np.sort(dev[dev[:, 2] == 1, score])[::-1]
    fewest = max(FEWEST, int(np.ceil(least * len(dev))))
    return [float(value) for value in np.unique(values[fewest - 1 :])]


def scored(rows: Answers, threshold: float, score: int) -> dict[str, Any]:
    made = (rows[:, 2] == 1) & (rows[:, score] >= threshold)
    right = made & (rows[:, 3] == 1)
    exact = np.where(made, rows[:, 3], 1 - rows[:, 4])
    return {
        "threshold": round(float(threshold), 4) if np.isfinite(threshold) else None,
        "em": round(100 * float(exact.mean()), 2),
        "changed": round(100 * float(made.mean()), 2),
        "precision": round(100 * float(right.sum() / max(1, made.sum())), 1),
        "needed_made": round(100 * float(right.sum() / max(1, rows[:, 4].sum())), 2),
        "spoilt": round(100 * float((made & (rows[:, 4] == 0)).sum() / max(1, made.sum())), 1),
    }


def interval(rows: Answers, threshold: float, score: int) -> list[float]:
    """Of EM over rewriting nothing, by drawing utterances anew (95 %)."""
    made = (rows[:, 2] == 1) & (rows[:, score] >= threshold)
    gain = np.where(made, rows[:, 3] - (1 - rows[:, 4]), 0.0)
    draws = np.random.default_rng(0).integers(len(gain), size=(2000, len(gain)))
    return [
        round(100 * float(value), 2) for value in (gain.mean(), *np.percentile(gain[draws].mean(axis=1), [2.5, 97.5]))
    ]


def table() -> str:
    lines = [
        "| score | asked of dev | EM | − nothing rewritten | changed | right of these | needed none | of needed made |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        difference, low, high = one["least_difference"]
        rows = [("nothing", one["nothing"], ""), ("everything", one["everything"], "")]
        rows.append(
            (
                f"best EM, {100 * LEAST_CHANGED:.0f} % changed",
                one["best_of_dev"],
                f"{difference:+.1f} [{low:+.1f}, {high:+.1f}]",
            )
        )
        rows += [(f"{100 * point['asked']:.0f} % right", point, "") for point in one["curve"]]
        for title, found, against in rows:
            names = ("em", "changed", "precision", "spoilt", "needed_made")
            cells = [f"{found[name]:.1f}" for name in names] if "em" in found else ["no threshold", "", "", "", ""]
            lines.append(f"| {one['score']} | {title} | {cells[0]} | {against} | {' | '.join(cells[1:])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
