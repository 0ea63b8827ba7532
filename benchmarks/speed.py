"""How fast dialogues are labelled and examples trained, beside the straightforward loop in the same run.

python benchmarks/speed.py --rounds 5     measure, append to results/speed.jsonl, print the table
python benchmarks/speed.py --show         only print the table
"""

import argparse
import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

# Before torch is imported. Threads that wait sleep: those that spin take the processor from whom they wait for as soon
# as anybody else is running, and it is counted as their own time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from loops import Done, Loop, labelling_loops, training_loops
from speed_records import RESULTS, Record, append, read, table
from workloads import Workload, real_workloads, synthetic_texts, synthetic_workloads

from friend_training.core.task import FitPlan, Prediction
from friend_training.data.catalogue import data_folder, model_source
from friend_training.data.summary import fingerprint
from friend_training.nn.encoder import EncoderShape, pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.runs.files import atomic_folder

TURNS = (("ours", 1), ("straightforward", 2), ("ours", 2), ("straightforward", 1))
"""The measurements of a round, loop and threads; every other round goes backwards. We compare with two threads; on
a machine that is not idle two threads wait for each other, so both loops are measured with one, too."""

ENCODER = "ernie-3.0-nano-zh-uie"
TAUGHT_STEPS = 60


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if not asked.show:
        with tempfile.TemporaryDirectory() as scratch:
            networks = asked.networks or Path(scratch)
            if asked.synthetic:
                made = Path(scratch) / "scratch"
                made.mkdir()
                pretrain_encoder(made, synthetic_texts(), EncoderShape(layers=2, width=64, heads=2), seed=0)
                encoders, workloads = [str(made)], synthetic_workloads(asked.dialogues)
            else:
                encoders = asked.encoder or [ENCODER]
                workloads = real_workloads(data_folder(asked.data_dir), asked.dialogues)
            workloads = [workload for workload in workloads if asked.only in workload.data]
            for encoder in encoders:
                for workload in workloads:
                    measure(workload, encoder, networks, asked.rounds, lambda record: append(record, asked.results))
    print(table(read(asked.results)))


def measure(workload: Workload, encoder: str, networks: Path, rounds: int, keep: Callable[[Record], None]) -> None:
    """Labelling of one workload and training on half of it (a step costs three passes), in `rounds` rounds."""
    task = workload.make_task(model_source(encoder), TrainingSettings())
    teach(task, workload, networks / re.sub(r"\W+", "-", f"{Path(encoder).name}-{task.name}-{workload.data}"))
    setup: dict[str, Any] = {
        "run": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "encoder": Path(encoder).name,
        "task": task.name,
        "data": workload.data,
        "fingerprint": fingerprint(workload.examples),
        "labelling_pieces": task.settings.labelling_pieces,
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    trained = replace(workload, examples=workload.examples[: len(workload.examples) // 2])
    for what, loops in (("labelling", labelling_loops(task, workload)), ("training", training_loops(task, trained))):
        reference = _once(loops["ours"], 1).predictions  # also wakes up threads and caches
        for number in range(rounds):
            for name, threads in TURNS if number % 2 == 0 else reversed(TURNS):
                done = _once(loops[name], threads)
                place: dict[str, Any] = {"what": what, "loop": name, "threads": threads, "round": number}
                keep(Record(**setup, **place, **_measured(done, reference)))


def teach(task: TorchTask, workload: Workload, folder: Path) -> None:
    """Train a little first: a fresh network says impossible tag sequences everywhere, and decodes like none in use."""
    if folder.is_dir():
        task.load(folder)
        return
    torch.set_num_threads(1)
    plan = FitPlan(seed=0, steps=TAUGHT_STEPS, restart=True)
    task.fit(workload.examples, (), dev=workload.examples[:8], plan=plan)
    with atomic_folder(folder) as new:
        task.save(new)


def _measured(done: Done, reference: list[Prediction] | None) -> dict[str, Any]:
    return {
        "dialogues": done.dialogues,
        "examples": done.examples,
        "seconds": round(done.watch.seconds, 4),
        "cpu_seconds": round(done.watch.cpu_seconds, 4),
        "added_mb": done.watch.added_mb,
        "same_labels": same_labels(reference, done.predictions),
        "load": round(os.getloadavg()[0], 2),
    }


def same_labels(reference: list[Prediction] | None, predictions: list[Prediction] | None) -> float | None:
    """The share of units on which a loop says what ours said first; None where nothing was labelled."""
    if reference is None or predictions is None:
        return None
    equal = [a.unit == b.unit and a.label == b.label for a, b in zip(reference, predictions, strict=True)]
    return float(sum(equal) / len(equal))


def _once(loop: Loop, threads: int) -> Done:
    torch.set_num_threads(threads)
    return loop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of four measurements each")
    parser.add_argument(
        "--dialogues", type=int, default=192, help="so many are labelled in each measurement, half of them trained on"
    )
    parser.add_argument("--only", default="", help="workloads whose name has this in it, such as pool")
    parser.add_argument("--encoder", action="append", help=f"folder or hub name, may be repeated ({ENCODER})")
    parser.add_argument("--data-dir", type=Path, help="the folder of public datasets (or FRIEND_TRAINING_DATA)")
    parser.add_argument("--synthetic", action="store_true", help="our own dialogues and a small encoder from scratch")
    parser.add_argument("--networks", type=Path, help="keep the taught networks here, and use those that are there")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    return parser


if __name__ == "__main__":
    main()
