"""Training by one process and by two, each with one thread, on the same machine: examples per second.

python benchmarks/processes.py --rounds 3     measure, append to results/processes.jsonl, print the table
python benchmarks/processes.py --show         only print the table

A measurement starts its processes as torchrun would, trains them warm, and times the steps that follow, dev left out.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from record_lines import append_line, read_lines

RESULTS = Path(__file__).parent / "results" / "processes.jsonl"
ENCODER = "ernie-3.0-nano-zh-uie"
PROCESSES = (1, 2)
WARM_UP = 3
"""Steps before the watch is started: caches, threads, the first meeting of the processes."""


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement. `examples` are the dialogues trained on, by all processes; `load` is the machine's."""

    run: str
    encoder: str
    task: str
    data: str
    processes: int
    batch_size: int
    round: int
    steps: int
    examples: int
    seconds: float
    cpu_seconds: float
    torch: str
    cores: int | None
    load: float

    @property
    def rate(self) -> float:
        return self.examples / self.seconds


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if asked.be is not None:
        be(json.loads(asked.be))
        return
    if not asked.show:
        with tempfile.TemporaryDirectory() as scratch:
            measure(asked, Path(scratch))
    print(table(read(asked.results)))


def measure(asked: argparse.Namespace, scratch: Path) -> None:
    run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for number in range(asked.rounds):
        for count in PROCESSES if number % 2 == 0 else PROCESSES[::-1]:
            for task in asked.task or ("csrl", "rewriting"):
                said = scratch / f"{number}-{count}-{task}.json"
                work = {
                    "task": task,
                    "encoder": "" if asked.synthetic else asked.encoder,
                    "data_dir": str(asked.data_dir or ""),
                    "dialogues": asked.dialogues,
                    "batch_size": asked.batch_size,
                    "steps": asked.steps,
                    "said": str(said),
                }
                start(count, work)
                found = json.loads(said.read_text())
                _append(Record(run=run, processes=count, round=number, cores=os.cpu_count(), **found), asked.results)


def start(count: int, work: dict[str, object]) -> None:
    """So many processes that know of each other do the same work."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment = {**os.environ, **quiet, **{name: str(value) for name, value in common.items()}}
    command = [sys.executable, __file__, "--be", json.dumps(work)]
    children = [
        subprocess.Popen(command, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(count)
    ]
    ends = [child.wait() for child in children]
    if any(ends):
        raise SystemExit(f"processes ended with {ends}")


def be(work: dict[str, object]) -> None:
    """One of the processes: train, and let the first say how long it took."""
    import torch
    from workloads import real_workloads, synthetic_texts, synthetic_workloads

    from friend_training.core.task import FitPlan
    from friend_training.data.catalogue import data_folder, model_source
    from friend_training.nn import training
    from friend_training.nn.encoder import EncoderShape, load_encoder, pretrain_encoder
    from friend_training.nn.interfaces import endless_batches
    from friend_training.nn.training import TrainingSettings, train
    from friend_training.runs.files import is_first

    torch.set_num_threads(1)
    dialogues, steps, size = (int(str(work[name])) for name in ("dialogues", "steps", "batch_size"))
    with tempfile.TemporaryDirectory() as scratch:
        if work["encoder"]:
            source = model_source(str(work["encoder"]))
            folder = str(work["data_dir"])
            workloads = real_workloads(data_folder(Path(folder) if folder else None), dialogues)
        else:
            source = scratch
            pretrain_encoder(Path(scratch), synthetic_texts(), EncoderShape(layers=2, width=64, heads=2), seed=0)
            workloads = synthetic_workloads(dialogues)
        chosen = {workload.make_task(source, TrainingSettings()).name: workload for workload in workloads}
        workload = chosen[str(work["task"])]
        task = workload.make_task(source, TrainingSettings(batch_size=size, look_every=WARM_UP + steps))
        torch.manual_seed(0)
        task.network = task.definition.network(load_encoder(source))
    items = task.definition.gold_items(workload.examples)
    begun: list[tuple[float, float]] = []
    stepped, before = 0, training.backward

    def counting(loss: torch.Tensor, networks: Sequence[torch.nn.Module]) -> None:
        nonlocal stepped
        before(loss, networks)
        stepped += 1
        if stepped in (WARM_UP, WARM_UP + steps):
            begun.append((time.perf_counter(), time.process_time()))

    training.backward = counting
    plan = FitPlan(seed=0, steps=WARM_UP + steps)
    train(task.network, items, task.definition.collate, lambda: 0.0, plan=plan, settings=task.settings)
    seconds, cpu_seconds = (end - start for start, end in zip(*begun, strict=True))
    everyones = sum(training.gathered(cpu_seconds))
    batches = endless_batches([item.length for item in items], size, plan.seed)
    if is_first():
        found = {
            "encoder": str(work["encoder"]) or "scratch",
            "task": task.name,
            "data": workload.data,
            "batch_size": size,
            "steps": steps,
            "examples": sum(map(len, islice(batches, WARM_UP, WARM_UP + steps))),
            "seconds": round(seconds, 4),
            "cpu_seconds": round(everyones, 4),
            "torch": torch.__version__,
            "load": round(os.getloadavg()[0], 2),
        }
        Path(str(work["said"])).write_text(json.dumps(found))


def _append(record: Record, path: Path) -> None:
    append_line(path, asdict(record))


def read(path: Path) -> list[Record]:
    return [Record(**line) for line in read_lines(path)]


def table(records: Sequence[Record]) -> str:
    """One row for each task and encoder, from its last run; the ratio is the median over rounds, each in its round."""
    lines = [
        "| encoder | task | one process, per second | two | two : one | rounds, load |",
        "|---|---|--:|--:|--:|--:|",
    ]
    last = {(record.encoder, record.task, record.data): record.run for record in records}
    for (encoder, task, data), run in sorted(last.items()):
        rows = [r for r in records if (r.encoder, r.task, r.data, r.run) == (encoder, task, data, run)]
        rates = {count: {r.round: r.rate for r in rows if r.processes == count} for count in PROCESSES}
        one, two = (median(rates[count].values()) for count in PROCESSES)
        ratio = median(rates[2][number] / rates[1][number] for number in rates[1])
        load = median(r.load for r in rows)
        cells = [encoder, f"{task}, {data}", f"{one:.1f}", f"{two:.1f}", f"{ratio:.2f}", f"{len(rates[1])}, {load:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of one measurement with one and one with two processes")
    parser.add_argument("--steps", type=int, default=30, help="that are timed")
    parser.add_argument("--batch-size", type=int, default=16, help="of all processes together")
    parser.add_argument("--dialogues", type=int, default=192, help="to train on")
    parser.add_argument("--task", action="append", choices=("csrl", "rewriting"), help="may be repeated (both)")
    parser.add_argument("--encoder", default=ENCODER, help="folder or hub name")
    parser.add_argument("--data-dir", type=Path, help="the folder of public datasets (or FRIEND_TRAINING_DATA)")
    parser.add_argument("--synthetic", action="store_true", help="our own dialogues and a small encoder from scratch")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    parser.add_argument("--be", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
