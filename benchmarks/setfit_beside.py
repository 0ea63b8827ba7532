"""TextClassification beside setfit: the same encoder, labelled texts, batch size and steps; milliseconds per step, and
the time until dev is labelled as well.

pip install setfit                                  no dependency of ours, and of nothing else here
python benchmarks/setfit_beside.py                  measure, append to results/setfit.jsonl, print the table
python benchmarks/setfit_beside.py --show           only print the table

Both begin anew for every number of steps. A step of setfit is a batch of pairs, so twice as many texts; afterwards its
head, a logistic regression, is fitted, which is counted. Ours trains encoder and head together. One thread, processor
time; texts are of SST-2 (FRIEND_TRAINING_DATA), the encoder is all-minilm-l6-v2 (FRIEND_TRAINING_MODELS).
"""

import argparse
import gzip
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from ceiling import machine
from record_lines import append_line, read_lines

from friend_training import TextClassification
from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.nn.training import TrainingSettings
from friend_training.types import Text

RESULTS = Path(__file__).parent / "results" / "setfit.jsonl"
ENCODER = "all-minilm-l6-v2"
LABELS = ("0", "1")
Example = tuple[Text, str]
Trained = tuple[float, float]
"""Seconds of the processor, and the share of dev that is right."""


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if not asked.show:
        torch.set_num_threads(1)
        gold, dev = texts(Path(os.environ["FRIEND_TRAINING_DATA"]), asked.texts, asked.dev, seed=asked.seed)
        encoder = model_source(ENCODER)
        run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for steps in asked.steps:
            for who, train in (("ours", ours), ("setfit", with_setfit)):
                seconds, right = train(encoder, gold, dev, steps=steps, batch=asked.batch, seed=asked.seed)
                record = {
                    "run": run,
                    "machine": machine(),
                    "who": who,
                    "steps": steps,
                    "cpu_seconds": round(seconds, 2),
                    "dev": round(100 * right, 1),
                    "texts": len(gold),
                    "batch": asked.batch,
                    "seed": asked.seed,
                    "load": round(os.getloadavg()[0], 1),
                    "torch": torch.__version__,
                    "python": platform.python_version(),
                }
                append_line(asked.results, record)
    print(table(read_lines(asked.results)))


def texts(data: Path, count: int, dev: int, *, seed: int) -> tuple[list[Example], list[Example]]:
    """So many labelled texts, half of each label, and others for dev."""
    with gzip.open(data / "senti_sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    random.Random(seed).shuffle(rows)
    examples = [(Text(str(number), text), label) for number, (text, label) in enumerate(rows)]
    of_each = [[one for one in examples if one[1] == label][: count // 2] for label in LABELS]
    gold = [one for pair in zip(*of_each, strict=True) for one in pair]
    known = {text.id for text, _ in gold}
    return gold, [one for one in examples if one[0].id not in known][:dev]


def ours(
    encoder: str | Path, gold: Sequence[Example], dev: Sequence[Example], *, steps: int, batch: int, seed: int
) -> Trained:
    settings = TrainingSettings(batch_size=batch, look_every=10**9)
    task = TextClassification("mood", encoder=encoder, labels=LABELS, settings=settings, device="cpu")
    task.fit(gold[:1], [], dev=dev[:1], plan=FitPlan(seed=seed, steps=0))
    seconds = _timed(lambda: task.fit(gold, [], dev=dev[:1], plan=FitPlan(seed=seed, steps=steps)))
    return seconds, task.evaluate(dev)["accuracy"] / 100


def with_setfit(
    encoder: str | Path, gold: Sequence[Example], dev: Sequence[Example], *, steps: int, batch: int, seed: int
) -> Trained:
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    model: Any = SetFitModel.from_pretrained(str(encoder), labels=list(LABELS))
    rows = Dataset.from_dict({"text": [text.text for text, _ in gold], "label": [int(label) for _, label in gold]})
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            output_dir=scratch,
            batch_size=batch,
            max_steps=steps,
            seed=seed,
            report_to="none",
            logging_strategy="no",
            save_strategy="no",
            show_progress_bar=False,
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=rows)
        seconds = _timed(trainer.train)
    found = model.predict([text.text for text, _ in dev], use_labels=True)
    return seconds, sum(str(one) == label for one, (_, label) in zip(found, dev, strict=True)) / len(dev)


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def table(records: Sequence[dict[str, Any]]) -> str:
    """Of the last run."""
    last = [one for one in records if one["run"] == records[-1]["run"]] if records else []
    lines = [
        "| | steps | processor seconds | ms per step | right on dev, % |",
        "|---|--:|--:|--:|--:|",
    ]
    for one in last:
        per_step = 1000 * one["cpu_seconds"] / one["steps"]
        lines.append(
            f"| {one['who']} | {one['steps']} | {one['cpu_seconds']:.1f} | {per_step:.0f} | {one['dev']:.1f} |"
        )
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 20, 40, 80])
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--dev", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    return parser


if __name__ == "__main__":
    main()
