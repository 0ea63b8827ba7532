"""The students themselves on test, whether dev prefers them to Base or not.

The table of an experiment reports the iteration that is best on dev, and that is often Base, whose own training has
been stopped where dev was best, as no update is. So methods look more alike than their students are. This scores the
models of the last iteration; nothing is chosen by it.

    python experiments/students.py experiments/archive/real-few-shot RUNS   # the experiment's runs: seed-1, …
    friend-train compare experiments/archive/real-few-shot/students
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from friend_training.core.task import Counts
from friend_training.experiments.results import add_result, done, read_results, settings_id
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.inputs import load_counts, save_counts
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.data import load_data
from friend_training.study.folders import method_folder, run_config
from friend_training.study.kinds import Given, make_task
from friend_training.study.run_data import RunData

METHODS = (
    *("base-same-steps", "sst", "fdt", "fdt-merged", "fdt-shuffled", "random-as-many", "merged-random"),
    *("fdt-checked", "fdt-answers", "checked-shuffled", "unchecked"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path, help="its results are read, and EXPERIMENT/students is written")
    parser.add_argument("runs", type=Path, help="the folder with its runs: seed-1, seed-2, …")
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    students = given.experiment / "students"
    records = {(record["method"], record["seed"]): record for record in read_results(given.experiment)}
    for study in sorted(given.runs.glob("seed-*")):
        config = run_config(study)
        if config.seed not in {seed for _, seed in records}:
            continue
        small = config.model_copy(update={"data": config.data.model_copy(update={"pool": 1})})  # none is needed
        data = load_data(small, given.data_dir)
        identity = settings_id(config.model_dump(mode="json"))
        for method in METHODS:
            if (identity, method, config.seed) in done(students) or (method, config.seed) not in records:
                continue
            record, counts = student(study, method, records[method, config.seed], data)
            with tempfile.TemporaryDirectory() as folder:
                save_counts(Path(folder) / "counts.npz", counts)
                add_result(students, record | {"config_id": identity}, Path(folder) / "counts.npz")
            print(config.seed, method, {name: round(value, 1) for name, value in record["metrics"].items()}, flush=True)


def student(
    study: Path, method: str, reported: dict[str, Any], data: RunData
) -> tuple[dict[str, Any], dict[str, Counts]]:
    """The scores of a method's last models; what was reported is taken over where it is of the last iteration."""
    last = run_config(study).iterations
    metrics: dict[str, float] = {}
    counts = load_counts(method_folder(study, method) / "counts.npz")
    for task in TASKS:
        if reported["best_iteration"][task] == last:
            metrics |= {name: value for name, value in reported["metrics"].items() if name.startswith(f"{task}.")}
        else:
            metrics |= _scored(study, method, task, last, data, counts)
    record = {"method": method, "seed": reported["seed"], "config": reported["config"], "code": reported["code"]}
    return record | {"iteration": last, "metrics": metrics}, counts


def _scored(
    study: Path, method: str, task: str, iteration: int, data: RunData, counts: dict[str, Counts]
) -> dict[str, float]:
    run = Run.open(method_folder(study, method))
    checkpoint = run.checkpoint(task, iteration)
    model = make_task(run_config(study), task, Given(checkpoint))
    load_checkpoint(model, checkpoint, digest=run.require(Train(task, iteration))["digest"])
    gold = data.tasks["csrl"].test if task == "csrl" else data.tasks["rewriting"].test
    found = model.evaluate(gold)
    assert found.counts is not None
    counts[task] = found.counts
    return {f"{task}.{name}": value for name, value in found.items()}


if __name__ == "__main__":
    main()
