"""Runs the methods of the few-shot study for some seeds and appends a record of each to results.jsonl.

python experiments/english-few-shot/run.py --seeds 1 2 3 --encoder MODELS/all-minilm-l6-v2 --out FOLDER [--methods …]
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.runs.checkpoints import load_checkpoint
from study import METHODS, TASKS, Study, mudoco

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--update", type=int, default=150)
    parser.add_argument("--record", type=Path, default=HERE / "results.jsonl")
    given = parser.parse_args()
    data = mudoco(Path(os.environ["FRIEND_TRAINING_DATA"]))
    for seed in given.seeds:
        began = time.monotonic()
        study = Study(data, seed, given.out / f"seed-{seed}", given.encoder, steps=given.steps, update=given.update)
        for method in given.methods:
            chosen: dict[str, Any] = {}
            if method == "friends-labels":
                chosen = {"rewriting": study.friends_labels()}
                names: tuple[str, ...] = ("rewriting",)
            else:
                run, outcomes = study.run(method)
                names = TASKS
                for name in names:
                    load_checkpoint(study.tasks[name], run.checkpoint(name, outcomes[name].best_iteration))
                chosen = what_was_chosen(run)
            record: dict[str, Any] = {"method": method, "seed": seed, "chosen": chosen, "tasks": {}}
            counts: dict[str, Any] = {}
            for name in names:
                record["tasks"][name] = scored(study, name, counts)
            (given.record.parent / "counts").mkdir(exist_ok=True)
            np.savez_compressed(given.record.parent / "counts" / f"{method}.{seed}.npz", **counts)
            record["seconds"] = round(time.monotonic() - began)
            began = time.monotonic()
            with given.record.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")


def scored(study: Study, name: str, counts: dict[str, Any]) -> dict[str, Any]:
    """The scores of the present weights on dev and on both tests; `counts` gets those of each dialogue of the tests."""
    found = {}
    for part in ("dev", "half", "test"):
        evaluation = study.tasks[name].evaluate(study.examples(name, getattr(study.data, part)))
        found[part] = {key: round(value, 2) for key, value in evaluation.items()}
        if part != "dev":
            counts[f"{name}.{part}"] = evaluation.counts
    return found


def what_was_chosen(run: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for iteration in run.store.iterations():
        rows = run.store.read(iteration, ["task", "kind", "chosen", "correct", "match"]).to_pylist()
        for task in TASKS:
            chosen = [row for row in rows if row["task"] == task and row["chosen"]]
            known = [row["correct"] for row in chosen if row["correct"] is not None]
            found[task] = {
                "units": sum(row["task"] == task for row in rows),
                "matched": sum(row["task"] == task and row["match"] is not None for row in rows),
                "chosen": len(chosen),
                "changed_or_linked": sum(row["kind"] in ("changed", "linked") for row in chosen),
                "right": round(sum(known) / len(known), 3) if known else None,
            }
    return found


if __name__ == "__main__":
    main()
