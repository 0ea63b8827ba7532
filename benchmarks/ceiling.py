"""How close labelling and training come to the machine: beside the bare network on the same batches, and beside the
matrix products of its encoder alone, in the same run.

python benchmarks/ceiling.py            measure (minutes), print the table, say what differs from the records, append
python benchmarks/ceiling.py --show     only print the tables of all machines

One thread, processor time, everything in turn in every round, because a machine is seldom idle; shares are medians over
rounds, each within its round. Networks are trained a little before: a fresh one says impossible things everywhere, and
decodes like none in use. A share differs from the recorded one of this machine when their ranges over rounds do not
meet and their medians are more than a twentieth apart.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

# Before torch is imported: threads that wait would be counted as working.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from loops import labelling_loops, training_loops
from record_lines import append_line, read_lines
from torch import nn
from workloads import Workload, pool_workloads, synthetic_texts, synthetic_workloads

from friend_training.core.task import FitPlan
from friend_training.data.catalogue import data_folder, model_source
from friend_training.nn.encoder import EncoderShape, Precision, compute_in, computing, pretrain_encoder
from friend_training.nn.heads import unit_losses
from friend_training.nn.interfaces import endless_batches, in_batches
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings, weighted_mean

RESULTS = Path(__file__).parent / "results" / "ceiling.jsonl"
ENCODER = "ernie-3.0-nano-zh-uie"
TAUGHT_STEPS = 40
NOISE = 0.05
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Processor seconds of each round for the same dialogues."""

    machine: str
    torch: str
    run: str
    task: str
    what: str
    precision: Precision
    dialogues: int
    products: tuple[float, ...]
    bare: tuple[float, ...]
    ours: tuple[float, ...]
    straightforward: tuple[float, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.task, self.what, self.precision

    def shares(self) -> list[float]:
        """Ours as a share of the bare network's rate, round by round."""
        return [bare / ours for bare, ours in zip(self.bare, self.ours, strict=True)]


def machine() -> str:
    """The processor, as far as the system says what it is."""
    names = [line for line in _cpuinfo() if line.startswith("model name")]
    name = names[0].split(":", 1)[1].strip() if names else platform.processor() or platform.machine()
    flags = " ".join(line for line in _cpuinfo() if line.startswith("flags"))
    known = [flag for flag in ("avx512f", "avx512_bf16", "amx_bf16") if flag in flags]
    return ", ".join([name, *known])


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.is_file() else []


def measure(workload: Workload, encoder: str, rounds: int) -> Iterator[Ceiling]:
    """Labelling of one workload and training on a third of it."""
    torch.set_num_threads(1)
    task = workload.make_task(model_source(encoder), TrainingSettings())
    plan = FitPlan(seed=0, steps=TAUGHT_STEPS, restart=True)
    task.fit(workload.examples, (), dev=workload.examples[:8], plan=plan)
    trained = replace(workload, examples=workload.examples[: len(workload.examples) // 3])
    for what, given, ways in (("labelling", workload, labelling_ways), ("training", trained, training_ways)):
        timed = {precision: ways(in_precision(task, precision), given) for precision in PRECISIONS}
        seconds: dict[tuple[Precision, str], list[float]] = {(p, name): [] for p in timed for name in timed[p]}
        for number in range(-1, rounds):  # the first one wakes up caches
            for (precision, name), found in seconds.items():
                taken = timed[precision][name]()
                if number >= 0:
                    found.append(round(taken, 4))
        for precision in PRECISIONS:
            yield Ceiling(
                machine=machine(),
                torch=torch.__version__,
                run=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                task=f"{task.name}, {workload.data}",
                what=what,
                precision=precision,
                dialogues=len(given.examples),
                **{name: tuple(seconds[precision, name]) for name in timed[precision]},
            )


def in_precision(task: TorchTask, precision: Precision) -> TorchTask:
    """A task of its own with the same weights."""
    found = deepcopy(task)
    found.settings = replace(task.settings, precision=precision)
    found.network = compute_in(precision, found.network)
    return found


Ways = dict[str, Callable[[], float]]
"""Does the work in one of the ways and tells the processor seconds that it took."""


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def labelling_ways(task: TorchTask, workload: Workload) -> Ways:
    """Dialogues in, predictions out; beside it the encoder alone on the same batches, made before."""
    definition, network = task.definition, task.network
    items = definition.input_items(definition.inputs_of(workload.examples))
    pieces = task.settings.labelling_pieces
    batches = [definition.collate(some) for _, some in in_batches(items, lambda item: item.length, pieces)]
    asked = [_encoder_input(network, batch) for batch in batches]
    loops = labelling_loops(task, workload)

    def bare() -> None:
        network.eval()
        with torch.inference_mode():
            for given in asked:
                network.encoder(*given)  # type: ignore[operator]

    return {
        "products": lambda: _timed(lambda: products(network, asked, task.settings.precision, passes=1)),
        "bare": lambda: _timed(bare),
        "ours": lambda: loops["ours"]().watch.cpu_seconds,
        "straightforward": lambda: loops["straightforward"]().watch.cpu_seconds,
    }


def training_ways(task: TorchTask, workload: Workload) -> Ways:
    """One epoch; beside it the network forward and backward on the same batches, made before, and nothing else."""
    definition, size = task.definition, task.settings.batch_size
    network = deepcopy(task.network)
    items = definition.gold_items(workload.examples)
    steps = -(-len(items) // size)
    drawn = endless_batches([item.length for item in items], size, seed=1)
    batches = [definition.collate([items[index] for index in next(drawn)]) for _ in range(steps)]
    asked = [_encoder_input(network, batch) for batch in batches]
    loops = training_loops(task, workload)

    def bare() -> None:
        network.train()
        for batch in batches:
            weighted_mean(unit_losses(network(batch), batch.targets), batch.weights).backward()  # type: ignore[no-untyped-call]
            network.zero_grad(set_to_none=True)

    return {
        "products": lambda: _timed(lambda: products(network, asked, task.settings.precision, passes=3)),
        "bare": lambda: _timed(bare),
        "ours": lambda: loops["ours"]().watch.cpu_seconds,
        "straightforward": lambda: loops["straightforward"]().watch.cpu_seconds,
    }


def _encoder_input(network: nn.Module, batch: Any) -> tuple[Any, ...]:
    """What the network gives its encoder for this batch."""
    given: list[tuple[Any, ...]] = []
    with network.encoder.register_forward_pre_hook(lambda _, inputs: given.append(inputs)), torch.inference_mode():  # type: ignore[union-attr, operator]
        network.eval()
        network(batch)
    return given[0]


def products(network: nn.Module, asked: Sequence[tuple[Any, ...]], precision: Precision, *, passes: int) -> None:
    """The encoder's products of tokens with its weights, of numbers that mean nothing: 1 pass forward, 3 also back."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    weights = [
        part.weight.detach().to(dtype)
        for name, part in network.encoder.named_modules()  # type: ignore[union-attr, operator]
        if isinstance(part, nn.Linear) and "pooler" not in name
    ]
    with torch.inference_mode(), computing("fp32", "cpu"):
        for given in asked:
            tokens = given[0].numel()
            for weight in weights:
                values, out = (
                    torch.ones(tokens, weight.size(1), dtype=dtype),
                    torch.ones(tokens, len(weight), dtype=dtype),
                )
                values @ weight.T
                if passes == 3:
                    out @ weight
                    out.T @ values


def table(records: Sequence[Ceiling]) -> str:
    """The last run of every machine, each task in one row."""
    lines = [
        "| task | what, precision | bare network, dialogues/s | ours | ours : bare | matrix products : ours"
        " | straightforward : ours |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    shown: list[str] = []
    for name, of_machine in groupby(sorted(records, key=lambda one: one.machine), key=lambda one: one.machine):
        rows = {one.key: one for one in of_machine}
        shown += [f"{name} (torch {next(iter(rows.values())).torch})", "\n".join([*lines, *map(_row, rows.values())])]
    return "\n\n".join(shown)


def _row(one: Ceiling) -> str:
    def ratio(above: Sequence[float], below: Sequence[float]) -> float:
        return median(a / b for a, b in zip(above, below, strict=True))

    def rate(seconds: Sequence[float]) -> str:
        return f"{one.dialogues / median(seconds):.1f}"

    share = f"{median(one.shares()):.0%} ({min(one.shares()):.0%} to {max(one.shares()):.0%})"
    cells = [one.task, f"{one.what}, {one.precision}", rate(one.bare), rate(one.ours), share]
    cells += [f"{ratio(one.products, one.ours):.0%}", f"{ratio(one.straightforward, one.ours):.2f} ×"]
    return f"| {' | '.join(cells)} |"


def differences(before: Sequence[Ceiling], now: Sequence[Ceiling]) -> list[str]:
    """Where this machine comes closer to the bare network than it did, or less close, by more than noise."""
    known = {(one.machine, *one.key): one.shares() for one in before}
    told = []
    for one in now:
        old, new = known.get((one.machine, *one.key)), one.shares()
        if old is None:
            continue
        apart = max(new) < min(old) or max(old) < min(new)
        if apart and abs(median(new) - median(old)) > NOISE * median(old):
            told.append(f"{one.task}, {one.what}, {one.precision}: {median(old):.0%} before, {median(new):.0%} now")
    return told


def read(path: Path) -> list[Ceiling]:
    seconds = ("products", "bare", "ours", "straightforward")
    return [Ceiling(**line | {name: tuple(line[name]) for name in seconds}) for line in read_lines(path)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dialogues", type=int, default=96)
    parser.add_argument("--data-dir", type=Path, help="the folder of public datasets (or FRIEND_TRAINING_DATA)")
    parser.add_argument("--synthetic", action="store_true", help="our own dialogues and a small encoder from scratch")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the tables")
    asked = parser.parse_args(arguments)
    before = read(asked.results)
    if not asked.show:
        now: list[Ceiling] = []
        if asked.synthetic:
            encoder = str(asked.results.parent / "encoder")
            Path(encoder).mkdir()
            pretrain_encoder(Path(encoder), synthetic_texts(), EncoderShape(layers=2, width=64, heads=2), seed=0)
            workloads = synthetic_workloads(asked.dialogues)
        else:
            encoder, workloads = ENCODER, pool_workloads(data_folder(asked.data_dir), asked.dialogues)
        for workload in workloads:
            for record in measure(workload, encoder, asked.rounds):
                now.append(record)
                append_line(asked.results, asdict(record))
        print(
            "\n".join(differences(before, now)) or "nothing differs from the records of this machine by more than noise"
        )
    print(table(read(asked.results)))


if __name__ == "__main__":
    main()
