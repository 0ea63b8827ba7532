"""Polarity and emotion as friends, with 100 labels each: MELD (English) and CPED (Chinese).

python experiments/emotions/run.py tune DATA_DIR RUNS     the dev trials, appended to trials.jsonl (dev scores only)
python experiments/emotions/run.py run DATA_DIR RUNS      every method and seed that results.jsonl lacks
python experiments/emotions/run.py table                  the tables of results.jsonl
python experiments/emotions/run.py table meld test        one of them: test, differences, dev, chosen, triangle

RUNS is a folder for the run folders; nothing in it is needed afterwards. A record is added to a file by writing the
file anew under another name and renaming it, so a file is never half a file.
"""

import io
import json
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from tables import print_tables

from friend_training.analysis.three_friends import triangle_of_predictions
from friend_training.core.counts import group_counts
from friend_training.core.task import Prediction
from friend_training.data.summary import fingerprint
from friend_training.runs.files import atomic_file, write_text
from friend_training.runs.run import Run
from friend_training.tasks.class_metrics import class_counts
from study import METHODS, TASKS, Corpus, Study, corpus, what_was_chosen

HERE = Path(__file__).parent
TRIALS, RESULTS = HERE / "trials.jsonl", HERE / "results.jsonl"
COUNTS = (500, 1000, 1500, 3000)
TUNING_SEEDS, SEEDS = (1, 2, 3), (1, 2, 3, 4, 5)
TRIED: dict[str, list[dict[str, Any]]] = {
    "sst": [{"count": count} for count in COUNTS],
    "fdt": [{"count": count} for count in COUNTS],
    "fdt-three": [{"count": count, "undecided": said} for count in (1500, 3000) for said in ("neutral", None)],
}
"""Four trials for each method that has something to choose; the controls take the setting of FDT."""


def tune(data: Corpus, runs: Path) -> None:
    for seed in TUNING_SEEDS:
        done = [(one["method"], one["setting"], one["seed"]) for one in records(TRIALS) if one["corpus"] == data.name]
        todo = [(m, s) for m, settings in TRIED.items() for s in settings if (m, s, seed) not in done]
        if todo:
            study = Study(data, seed, runs / f"tune-{data.name}-{seed}")
            for method, setting in todo:
                _, outcomes = study.run(method, **setting)
                dev = {name: [dict(metrics) for metrics in outcomes[name].dev] for name in TASKS}
                record = {"corpus": data.name, "seed": seed, "method": method, "setting": setting, "dev": dev}
                append(TRIALS, record)


def best_setting(name: str, method: str) -> dict[str, Any]:
    """The trial with the best mean dev macro-F1 of both tasks, each at its best iteration, over the tuning seeds."""
    method = {"sst": "sst", "fdt-three": "fdt-three"}.get(method, "fdt")
    scores: dict[str, list[float]] = {}
    for one in records(TRIALS):
        if one["corpus"] == name and one["method"] == method:
            best = [max(metrics["macro_f1"] for metrics in one["dev"][task]) for task in TASKS]
            scores.setdefault(json.dumps(one["setting"]), []).append(sum(best) / len(best))
    assert all(len(values) == len(TUNING_SEEDS) for values in scores.values()), "tune first"
    found: dict[str, Any] = json.loads(max(scores, key=lambda setting: sum(scores[setting])))
    return found


def run(data: Corpus, runs: Path) -> None:
    prints = {part: fingerprint(getattr(data, part)) for part in ("train", "dev", "test")}
    for seed in SEEDS:
        done = {one["method"] for one in records(RESULTS) if one["corpus"] == data.name and one["seed"] == seed}
        if done >= set(METHODS):
            continue
        study = Study(data, seed, runs / f"{data.name}-{seed}")
        for method in METHODS:
            setting = {} if method.startswith("base") else best_setting(data.name, method)
            finished, outcomes = study.run(method, **setting)
            if method in done:
                continue  # run again only because a control counts what it chose
            record: dict[str, Any] = {"corpus": data.name, "seed": seed, "method": method, "setting": setting}
            record["fingerprints"] = prints
            for name in TASKS:
                outcome = outcomes[name]
                record[name] = {
                    "best_iteration": outcome.best_iteration,
                    "test": outcome.test["test"],
                    "dev": outcome.dev,
                }
                save_counts(study, finished, method, name, outcome.best_iteration)
            record["chosen"] = what_was_chosen(finished)
            record["triangles"] = triangles(study, finished) if method == "fdt-three" else []
            append(RESULTS, record)
            print(data.name, seed, method, {name: record[name]["test"] for name in TASKS}, flush=True)


def triangles(study: Study, finished: Run) -> list[dict[str, Any]]:
    """What the three friends' agreement says of their accuracy in Σ, iteration by iteration, and what it is.

    Once for a lexicon that calls whatever it cannot decide neutral, on the whole pool, and once for one that is silent
    there, on the texts that it decides.
    """
    names, friendships = (*TASKS, "lexicon"), study.friendships(lexicon=True)
    found = []
    for iteration in finished.store.iterations():
        rows = finished.store.read(iteration, ["task", "input", "label"]).to_pylist()
        said = {(row["task"], row["input"]): json.loads(row["label"]) for row in rows}
        labels = {name: [[Prediction(x.id, said[name, x.id], 1.0)] for x in study.pool] for name in TASKS}
        for undecided in ("neutral", None):
            labels["lexicon"] = study.lexicon(undecided).predict(study.pool)
            estimate = triangle_of_predictions(
                names, friendships, study.pool, labels, right=study.right_in_sigma, seed=study.seed
            )
            answered = [i for i, units in enumerate(labels["lexicon"]) if units]
            truth = {
                name: fmean(study.right_in_sigma(name, study.pool[i].id, labels[name][i][0].label) for i in answered)
                for name in names
            }
            found.append({"iteration": iteration, "undecided": undecided, "truth": truth, **asdict(estimate)})
    return found


def save_counts(study: Study, finished: Run, method: str, name: str, iteration: int) -> None:
    """What a method got right in each test dialogue, for the paired bootstrap."""
    gold = [label for _, label in study.plans[name].test["test"]]
    counts = class_counts(study.answers(finished, name, iteration), gold, sorted(set(gold)))
    by_dialogue = group_counts(counts, [one.dialogue for one in study.data.test])
    path = HERE / "counts" / f"{study.data.name}-{method}-{name}-{study.seed}.npz"
    buffer = io.BytesIO()
    np.savez_compressed(buffer, counts=by_dialogue.astype(np.int16))
    with atomic_file(path) as temporary:
        temporary.write_bytes(buffer.getvalue())


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def append(path: Path, record: dict[str, Any]) -> None:
    lines = [json.dumps(one, ensure_ascii=False, sort_keys=True) for one in [*records(path), record]]
    write_text(path, "\n".join(lines) + "\n")


def main(what: str, *folders: str) -> None:
    if what == "table":
        print_tables(records(RESULTS), HERE / "counts", *folders)
    else:
        data_dir, runs = map(Path, folders)
        for name in ("meld", "cped"):
            {"tune": tune, "run": run}[what](corpus(name, data_dir), runs)


if __name__ == "__main__":
    main(*sys.argv[1:])
