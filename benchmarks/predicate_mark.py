"""Where to tell CSRL of its predicate: after the encoder (one pass for all of a dialogue) or in its input.

python benchmarks/predicate_mark.py CONFIG --seeds 1,2     Base of that config with either mark; dev scores and rates
python benchmarks/predicate_mark.py --show                 the table of results/predicate_mark.jsonl

Processor seconds, because the machine is shared. Dev only: this is for choosing.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from record_lines import append_line, read_lines
from stopwatch import Stopwatch

from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.study.config import load_config
from friend_training.study.data import load_data
from friend_training.study.kinds import training_settings
from friend_training.study.sections import Config
from friend_training.tasks.csrl.model import PredicateMark
from friend_training.tasks.csrl.task import csrl_task
from friend_training.types import CsrlExample

RESULTS = Path(__file__).parent / "results" / "predicate_mark.jsonl"
MARKS: tuple[PredicateMark, ...] = ("after", "input")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="the predicate marked after the encoder or in its input")
    parser.add_argument("config", type=Path, nargs="?")
    parser.add_argument("--set", action="append", default=[], help="settings of the config, as in friend-train run")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args(arguments)
    if not asked.show:
        if asked.config is None:
            parser.error("expected a config, or --show")
        for seed in asked.seeds.split(","):
            config = load_config(asked.config, [*asked.set, f"seed={seed}"])
            torch.set_num_threads(config.threads)
            data = load_data(config, None)
            for mark in MARKS:
                record = measure(config, mark, data.tasks["csrl"].gold, data.tasks["csrl"].dev)
                append_line(asked.results, record)
    print(table(asked.results))


def measure(
    config: Config, mark: PredicateMark, gold: Sequence[CsrlExample], dev: Sequence[CsrlExample]
) -> dict[str, Any]:
    plan = config.tasks.csrl
    encoder = model_source(getattr(config.encoder, "source", ""))
    task = csrl_task(encoder, training_settings(plan.training), max_length=config.max_length, mark=mark)
    training, labelling = Stopwatch(), Stopwatch()
    training.start()
    fit = FitPlan(seed=config.seed, steps=plan.base_steps, patience=plan.base_patience, restart=True)
    summary = task.fit(gold, (), dev=dev, plan=fit)
    training.stop()
    labelling.start()
    scores = task.evaluate(dev)
    labelling.stop()
    return {
        "config": config.name,
        "mark": mark,
        "seed": config.seed,
        "encoder": Path(encoder).name,
        "gold_predicates": sum(len(example.roles) for example in gold),
        "gold_dialogues": len(gold),
        "steps": summary.steps,
        "training_cpu_seconds_per_step": round(training.cpu_seconds / summary.steps, 4),
        "labelled_predicates_per_cpu_second": round(
            sum(len(example.roles) for example in dev) / labelling.cpu_seconds, 1
        ),
        "dev": {name: round(scores[name], 2) for name in ("f1", "within_f1", "cross_f1")},
    }


def table(path: Path) -> str:
    records = read_lines(path)
    rows = [
        "| gold predicates | mark | seeds | dev F1 | within | across | CPU s per step | predicates per CPU s |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for size in sorted({one["gold_predicates"] for one in records}):
        for mark in MARKS:
            same = [one for one in records if one["gold_predicates"] == size and one["mark"] == mark]
            if same:
                means = [fmean(one["dev"][name] for one in same) for name in ("f1", "within_f1", "cross_f1")]
                step = fmean(one["training_cpu_seconds_per_step"] for one in same)
                rate = fmean(one["labelled_predicates_per_cpu_second"] for one in same)
                scores = " | ".join(f"{mean:.1f}" for mean in means)
                rows.append(f"| {size} | {mark} | {len(same)} | {scores} | {step:.2f} | {rate:.0f} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
