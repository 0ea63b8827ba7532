"""Do models come out as good as with the straightforward loop? Same gold, steps and schedule; scores on dev.

python benchmarks/same_scores.py --seeds 1,2,3     REWRITE with 100 labels and CSRL on synthetic dialogues with 300
python benchmarks/same_scores.py --show            the table of results/same_scores.jsonl

Both end with the weights of the last step. What differs is what speed.py compares: how batches are made and padded, one
pass per dialogue or per predicate, which embedding rows the optimizer moves, and how dropout is drawn.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import torch
from record_lines import append_line, read_lines
from stopwatch import Stopwatch
from straightforward_loop import train_steps
from workloads import each_predicate, each_utterance, synthetic_texts

from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.nn.encoder import EncoderShape, pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings, seed_everything, train
from friend_training.study.config import find_config, load_config
from friend_training.study.data import load_data
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task

CONFIGS = Path(__file__).parent.parent / "configs"
RESULTS = Path(__file__).parent / "results" / "same_scores.jsonl"
STEPS = 300
SHOWN = {"csrl": ("f1",), "rewriting": ("em", "wer")}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    asked = parser.parse_args(arguments)
    if not asked.show:
        torch.set_num_threads(1)
        for seed in map(int, asked.seeds.split(",")):
            with TemporaryDirectory() as scratch:
                for name, task, gold, dev in cases(Path(scratch), seed):
                    for loop in ("ours", "straightforward"):
                        record = measure(task, gold, dev, loop=loop, seed=seed, steps=asked.steps)
                        append_line(asked.results, {"data": name, **record})
    print(table(asked.results))


def cases(scratch: Path, seed: int) -> list[tuple[str, TorchTask, Sequence[Any], Sequence[Any]]]:
    real = load_config(CONFIGS / "few-shot.yaml", [f"seed={seed}", "data.pool=1"])
    data = load_data(real, None)
    rewriting = rewriting_task(model_source(getattr(real.encoder, "source", "")), TrainingSettings())
    small = find_config("synthetic-few-shot", [f"seed={seed}", "data.pool=1", "data.bridge_sentences=10"])
    made = load_data(small, None)
    pretrain_encoder(scratch, synthetic_texts(), EncoderShape(), seed=0)
    csrl = csrl_task(scratch, TrainingSettings(encoder_rate=1e-3))
    return [
        ("REWRITE, 100 labels", rewriting, data.tasks["rewriting"].gold, data.tasks["rewriting"].dev),
        ("synthetic, 300 predicates", csrl, made.tasks["csrl"].gold, made.tasks["csrl"].dev),
    ]


def measure(
    task: TorchTask, gold: Sequence[Any], dev: Sequence[Any], *, loop: str, seed: int, steps: int
) -> dict[str, Any]:
    """Train from the encoder by one of the loops and score on dev."""
    task.fit(gold, (), dev=dev[:1], plan=FitPlan(seed=seed, steps=1, restart=True))  # makes the network
    seed_everything(seed)
    watch = Stopwatch()
    watch.start()
    if loop == "ours":
        unwatched = replace(task.settings, look_every=steps)
        plan = FitPlan(seed=seed, steps=steps)
        train(
            task.network,
            task.definition.gold_items(gold),
            task.definition.collate,
            lambda: 0.0,
            plan=plan,
            settings=unwatched,
        )
    else:
        _straightforward(task, gold, seed=seed, steps=steps)
    watch.stop()
    scores = task.evaluate(dev)
    return {
        "task": task.name,
        "loop": loop,
        "seed": seed,
        "steps": steps,
        "cpu_seconds": round(watch.cpu_seconds, 1),
        "dev": {name: round(scores[name], 2) for name in SHOWN[task.name]},
    }


def _straightforward(task: TorchTask, gold: Sequence[Any], *, seed: int, steps: int) -> None:
    definition: Any = task.definition
    apart = each_predicate if task.name == "csrl" else each_utterance
    items = definition.gold_items([one for example in gold for one in apart(example)])
    train_steps(definition, task.network, items, task.settings, seed=seed, steps=steps)


def table(path: Path) -> str:
    records = read_lines(path)
    rows = ["| task | loop | seeds | dev | CPU s |", "|---|---|--:|--:|--:|"]
    for name, task in dict.fromkeys((one["data"], one["task"]) for one in records):
        for loop in ("ours", "straightforward"):
            same = [one for one in records if (one["data"], one["loop"]) == (name, loop)]
            values = {metric: [one["dev"][metric] for one in same] for metric in SHOWN[task]}
            scores = ", ".join(
                f"{metric} {fmean(found):.1f}" + (f" ± {stdev(found):.1f}" if len(found) > 1 else "")
                for metric, found in values.items()
            )
            seconds = fmean(one["cpu_seconds"] for one in same)
            rows.append(f"| {task}, {name} | {loop} | {len(same)} | {scores} | {seconds:.0f} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
