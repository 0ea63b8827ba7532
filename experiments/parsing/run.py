"""Few-shot parsing with friends on the Penn Treebank sample: 200 trees for each task, disjoint.

    python experiments/parsing/run.py DATA_DIR RUNS                      every method and seed that results.jsonl lacks
    python experiments/parsing/run.py DATA_DIR RUNS --seeds 1 --only sst,fdt
    python experiments/parsing/run.py DATA_DIR RUNS --tune --seeds 1     the dev trials, appended to trials.jsonl
    python experiments/parsing/run.py DATA_DIR RUNS --smoke              all of it in little, results go into RUNS
    python experiments/parsing/run.py --show                             the tables of results.jsonl
    python experiments/parsing/run.py --show test,differences            some of them: test, differences, dev, chosen

RUNS is a folder for the run folders; a run that was stopped goes on from there. Processes with different seeds may run
side by side. The settings stand in parsing_study.py.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from parsing_split import ParsingSplit, parsing_split, penn_sample
from parsing_study import METHODS, TASKS, Settings, Study, by_head_rules, gold_of
from parsing_tables import TABLES

from friend_training import __version__
from friend_training.core.task import Counts
from friend_training.experiments.results import add_result, done, read_results
from friend_training.nn.encoder import WordEncoderShape
from friend_training.runs.inputs import save_counts
from friend_training.runs.run import Run
from friend_training.tasks.parsing.constituency import metrics as constituency
from friend_training.tasks.parsing.dependency import metrics as dependency
from friend_training.tasks.parsing.tagging import metrics as tagging
from friend_training.types import TreeExample

HERE = Path(__file__).parent
SETTINGS = Settings()
THREADS = 1
SEEDS = "1,2,3"
TRIED = {"sst": (0.15, 0.6), "fdt": (0.15, 0.6), "fdt-three": (0.15, 0.6)}
"""Shares of the pool beside those of the settings; a better one on dev goes into the settings by hand."""

SMOKE_SENTENCES = 16
SMOKE = replace(
    SETTINGS,
    base_steps=3,
    update_steps=2,
    shares=dict.fromkeys(TRIED, 1.0),
    content="any",
    encoder=WordEncoderShape(word=8, affix=8, width=16, layers=1),
)


def run_methods(study: Study, methods: Sequence[str], results: Path) -> None:
    """Run what `results` lacks; a record is added as soon as its method is finished."""
    for method in methods:
        identity = (study.settings.id_of(method), method, study.seed)
        if identity not in done(results):
            record, counts = rules_alone(study) if method == "rules" else one_method(study, method)
            path = study.folder / f"counts-{method}-{identity[0]}.npz"
            save_counts(path, counts)
            settings = {"config": study.settings.of(method), "config_id": identity[0], "threads": THREADS}
            named = {"method": method, "seed": study.seed, "version": __version__, "fingerprints": study.fingerprints}
            add_result(results, named | settings | record, path)
            print(study.seed, method, {name: round(value, 2) for name, value in record["metrics"].items()}, flush=True)


def one_method(study: Study, method: str) -> tuple[dict[str, Any], dict[str, Counts]]:
    run, outcomes = study.run(method)
    counts: dict[str, Counts] = {}
    metrics = {f"{name}.{key}": value for name, one in outcomes.items() for key, value in one.test["test"].items()}
    for name, outcome in outcomes.items():
        labels = study.test_labels(run, name, outcome.best_iteration)
        counts[name] = test_counts(study, name, labels)
        if name == "constituency":
            metrics["constituency.uas_by_rules"] = uas(counts_by_rules(study, labels))
    record = {
        "metrics": metrics,
        "best_iteration": {name: outcome.best_iteration for name, outcome in outcomes.items()},
        "dev": {name: list(outcome.dev) for name, outcome in outcomes.items()},
        "chosen": study.chosen(run),
        "seconds": seconds(run),
    }
    return record, counts


def rules_alone(study: Study) -> tuple[dict[str, Any], dict[str, Counts]]:
    run, outcomes = study.run("base-same-steps")
    counts = counts_by_rules(study, study.test_labels(run, "constituency", outcomes["constituency"].best_iteration))
    record: dict[str, Any] = {"metrics": {"dependency.uas": uas(counts)}, "dev": {}, "chosen": [], "seconds": None}
    return record, {"dependency": counts}


def counts_by_rules(study: Study, trees: Sequence[Any]) -> Counts:
    sentences = [sentence.words for sentence in study.split.test]
    heads = [by_head_rules(TreeExample(words, tree)).heads for words, tree in zip(sentences, trees, strict=True)]
    return test_counts(study, "dependency", heads)


def test_counts(study: Study, name: str, labels: Sequence[Any]) -> Counts:
    """What is right in each test sentence."""
    gold = gold_of(name, study.split.test)
    match name:
        case "constituency":
            return constituency.unit_counts(labels, [example.tree for example in gold])
        case "dependency":
            words = [example.words for example in gold]
            truth = [example.heads for example in gold]
            return dependency.unit_counts(labels, truth, words, punctuation=study.settings.punctuation)
    return tagging.unit_counts(labels, [example.tags for example in gold])


def uas(counts: Counts) -> float:
    return float(dependency.uas_of(counts.sum(axis=0)))


def seconds(run: Run) -> float:
    """Of all phases, however often the run was stopped."""
    paths = run.folder.glob("phases/*.json")
    return round(sum(float(json.loads(path.read_text(encoding="utf-8"))["seconds"]) for path in paths), 1)


def tune(split: ParsingSplit, seed: int, folder: Path, trials: Path) -> None:
    """The same number of trials for each method that chooses: what a trial says of dev, and nothing of test."""
    written = trials.read_text(encoding="utf-8").splitlines() if trials.is_file() else []
    known = {(one["method"], one["config_id"], one["seed"]) for one in map(json.loads, written)}
    for method, values in TRIED.items():
        for value in values:
            settings = replace(SETTINGS, shares={**SETTINGS.shares, method: value})
            if (method, settings.id_of(method), seed) in known:
                continue
            study = Study(split, settings, seed, folder)
            run, outcomes = study.run(method)
            trial: dict[str, Any] = {
                "method": method,
                "share": value,
                "seed": seed,
                "config_id": settings.id_of(method),
                "config": settings.of(method),
                "dev": {name: list(outcome.dev) for name, outcome in outcomes.items()},
                "chosen": study.chosen(run),
            }
            with trials.open("a", encoding="utf-8") as file:  # one write of a whole line
                file.write(json.dumps(trial, ensure_ascii=False, sort_keys=True) + "\n")
            best = {
                name: round(max(one[study.tasks[name].main_metric] for one in outcome.dev), 2)
                for name, outcome in outcomes.items()
            }
            print(seed, method, value, best, [(row["task"], row["chosen"]) for row in trial["chosen"]], flush=True)


def small(split: ParsingSplit) -> ParsingSplit:
    parts = {name: getattr(split, name)[:SMOKE_SENTENCES] for name in (*TASKS, "pool", "dev", "test")}
    return ParsingSplit(**parts)


def show(results: Path, wanted: str) -> None:
    records = read_results(results)
    several = [method for method in METHODS if len({r["config_id"] for r in records if r["method"] == method}) > 1]
    if several:
        raise SystemExit(f"{results}: results of several settings cannot stand in one table: {', '.join(several)}")
    print("\n".join(TABLES[name](records, results) for name in wanted.split(",")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DATA_DIR RUNS")
    parser.add_argument("--seeds", default=SEEDS)
    parser.add_argument("--only", default=",".join(METHODS))
    parser.add_argument("--show", nargs="?", const=",".join(TABLES), metavar="TABLES")
    for flag in ("tune", "smoke"):
        parser.add_argument(f"--{flag}", action="store_true")
    asked = parser.parse_args()
    methods = [method for method in METHODS if method in asked.only.split(",")]
    if unknown := set(asked.only.split(",")) - set(METHODS):
        parser.error(f"--only {', '.join(sorted(unknown))}: expected some of {', '.join(METHODS)}")
    if not asked.show and len(asked.folders) != 2:
        parser.error("DATA_DIR and RUNS are needed, except with --show")
    if not asked.show or asked.smoke:
        torch.set_num_threads(THREADS)
        data_dir, runs = asked.folders
        sentences = penn_sample(data_dir)
        for seed in map(int, asked.seeds.split(",")):
            split = parsing_split(sentences, seed=seed)
            if asked.tune:
                tune(split, seed, runs / f"seed-{seed}", HERE / "trials.jsonl")
            elif asked.smoke:
                run_methods(Study(small(split), SMOKE, seed, runs / f"smoke-{seed}"), methods, runs)
            else:
                run_methods(Study(split, SETTINGS, seed, runs / f"seed-{seed}"), methods, HERE)
    if asked.show or asked.smoke:
        show(asked.folders[1] if asked.smoke else HERE, asked.show or ",".join(TABLES))


if __name__ == "__main__":
    main()
