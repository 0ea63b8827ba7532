"""Engines beside each other on the same cores, and memory against the length of the pool.

python benchmarks/engines.py overhead --dialogues 20000 --rounds 3      two processes and two Ray nodes, in turn
python benchmarks/engines.py memory --dialogues 10000 100000 1000000    peak memory of one process and of two workers
python benchmarks/engines.py show                                       only print the table

Every measurement is a process of its own, so that peaks of memory are its own, and appends a line to
results/engines.jsonl. The pool is embedded dialogues, each many times under other ids, as JSONL shards; the models are
one layer. Starting a Ray cluster is not counted; that workers start, fetch and load the checkpoints is.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median

import torch
from workloads import SAMPLE_SEED, embedded_texts

from friend_training.core.checkpoint import save_checkpoint
from friend_training.core.engines.local import LocalEngine
from friend_training.core.engines.ray import RayEngine
from friend_training.core.engines.work import Engine
from friend_training.core.environment import peak_memory_mb
from friend_training.core.labeller import label_phase
from friend_training.core.phases import Phases
from friend_training.core.picks import TopN
from friend_training.core.plan import LoopSettings, TaskPlan, Training
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.core.task import FitPlan
from friend_training.corpora.embedded import Domain, csrl_examples, generate, rewriting_examples
from friend_training.corpora.jsonl import to_line
from friend_training.corpora.sharded_pool import open_pool
from friend_training.nn.encoder import EncoderShape
from friend_training.nn.pretraining import pretrain_encoder
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task

RESULTS = Path(__file__).parent / "results" / "engines.jsonl"
SHAPE = EncoderShape(layers=1, width=32, heads=2)
DIFFERENT = 1000
"""So many different dialogues; a longer pool repeats them."""

LINES_IN_FILE = 50_000
TAUGHT_STEPS = 30
CHOSEN = 500


@dataclass(frozen=True, slots=True)
class Record:
    """`engine` is here (this process), local-2 or ray-2. `store` tells whether two stores have the same bytes."""

    run: str
    what: str
    engine: str
    dialogues: int
    shard_size: int
    units: int
    open_seconds: float
    label_seconds: float
    select_seconds: float
    peak_mb: float
    workers_peak_mb: float | None
    store: str
    torch: str
    cores: int | None
    load: float


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if asked.what == "one":
        with tempfile.TemporaryDirectory() as scratch:
            record = measure(asked.engine, asked.dialogues[0], asked.shard_size, Path(asked.made), Path(scratch))
        print(json.dumps(asdict(replace(record, what=asked.purpose))))
        return
    if asked.what != "show":
        engines = ["local-2", "ray-2"] if asked.what == "overhead" else ["here", "local-2"]
        with tempfile.TemporaryDirectory() as made:
            make_models(Path(made))
            for number in range(asked.rounds):
                for count in asked.dialogues:
                    make_pool(Path(made) / f"pool-{count}", count)
                    for engine in engines if number % 2 == 0 else reversed(engines):
                        _in_a_process(engine, count, asked, Path(made))
    print(table(read(asked.results)))


def make_models(folder: Path) -> None:
    """An encoder and two tasks that have learnt a little: a fresh network decodes like none in use."""
    torch.set_num_threads(1)
    encoder = folder / "encoder"
    encoder.mkdir()
    pretrain_encoder(encoder, embedded_texts(), SHAPE, seed=0)
    made = generate(200, seed=SAMPLE_SEED, domain=Domain.FILM)
    gold = {"csrl": [e for e in csrl_examples(made) if e.roles], "rewriting": rewriting_examples(made)}
    for name, task in _tasks(encoder).items():
        task.fit(gold[name], (), dev=gold[name][:8], plan=FitPlan(seed=0, steps=TAUGHT_STEPS, restart=True))
        save_checkpoint(task, folder / name)


def make_pool(folder: Path, count: int) -> None:
    if folder.is_dir():
        return
    folder.mkdir()
    made = [one.dialogue for one in generate(min(count, DIFFERENT), seed=SAMPLE_SEED + 1, domain=Domain.FILM)]
    for first in range(0, count, LINES_IN_FILE):
        with (folder / f"{first:09d}.jsonl").open("w", encoding="utf-8") as file:
            for number in range(first, min(first + LINES_IN_FILE, count)):
                file.write(to_line(replace(made[number % len(made)], id=f"d{number}")) + "\n")


def measure(engine: str, dialogues: int, shard_size: int, made: Path, scratch: Path) -> Record:
    """Open the pool, label it, and choose the best: what grows with the pool. Nothing is trained."""
    torch.set_num_threads(1)
    run = Run.create(scratch / "run", "", {})
    once, best = Training(steps=1), [Selector(TopN(CHOSEN), confidence_weight=1.0)]
    plans = {
        name: TaskPlan(task, gold=(), dev=("",), base=made / name, update=once, selectors=best)
        for name, task in _tasks(made / "encoder").items()
    }
    began = time.perf_counter()
    pool = open_pool(str(made / f"pool-{dialogues}"), shard_size=shard_size)
    opened = time.perf_counter()
    with _engine(engine) as hands:
        settings = LoopSettings(seed=0, iterations=1, shard_size=shard_size, engine=hands)
        phases = Phases(run, plans, (), pool, settings, None)
        for name in plans:
            run.phase(f"train-{name}-0", partial(phases.pretrain, name, _nobody))
        start = time.perf_counter()
        results = [
            run.phase(label_phase(1, shard), partial(phases.label, 1, shard, _nobody)) for shard in range(pool.shards)
        ]
        phases.labeller.close()
        labelled = time.perf_counter()
    run.phase("select-1", partial(phases.select, 1, _nobody))
    selected = time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Record(
        run=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        what="",
        engine=engine,
        dialogues=dialogues,
        shard_size=shard_size,
        units=sum(result["units"] for result in results),
        open_seconds=round(opened - began, 3),
        label_seconds=round(labelled - start, 3),
        select_seconds=round(selected - labelled, 3),
        peak_mb=peak_memory_mb(),
        workers_peak_mb=round(children, 1) if engine.startswith("local") else None,
        store=_digest(run),
        torch=torch.__version__,
        cores=os.cpu_count(),
        load=round(os.getloadavg()[0], 2),
    )


def read(path: Path) -> list[Record]:
    return [Record(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def table(records: Sequence[Record]) -> str:
    """A row for each thing measured, medians over its rounds; the store is the same when all rows of a size say so."""
    lines = ["| what | dialogues | engine | dialogues/s | to open, select (s) | peak MB, workers | store | rounds |"]
    lines.append("|---|--:|---|--:|--:|--:|---|--:|")
    groups: dict[tuple[str, int, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.what, record.dialogues, record.engine), []).append(record)
    for (what, dialogues, engine), rows in sorted(groups.items()):
        rate = median(dialogues / row.label_seconds for row in rows)
        others = f"{median(r.open_seconds for r in rows):.1f}, {median(r.select_seconds for r in rows):.1f}"
        workers = [row.workers_peak_mb for row in rows if row.workers_peak_mb is not None]
        peak = f"{median(r.peak_mb for r in rows):.0f}" + (f", {median(workers):.0f}" if workers else "")
        stores = "/".join(sorted({row.store[:8] for row in rows}))
        lines.append(f"| {what} | {dialogues} | {engine} | {rate:.1f} | {others} | {peak} | {stores} | {len(rows)} |")
    return "\n".join(lines)


def _tasks(encoder: Path) -> dict[str, TorchTask]:
    settings = TrainingSettings()
    return {"csrl": csrl_task(encoder, settings), "rewriting": rewriting_task(encoder, settings)}


@contextmanager
def _engine(name: str) -> Iterator[Engine | None]:
    if name == "here":
        yield None
    elif name == "local-2":
        yield LocalEngine(workers=2)
    else:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        try:
            yield RayEngine(address=cluster.address)
        finally:
            cluster.shutdown()


def _digest(run: Run) -> str:
    total = sha256()
    for path in sorted(run.folder.glob("store/**/shard-*.parquet")):
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _in_a_process(engine: str, count: int, asked: argparse.Namespace, made: Path) -> None:
    command = [sys.executable, __file__, "one", "--engine", engine, "--dialogues", str(count), "--made", str(made)]
    command += ["--shard-size", str(asked.shard_size), "--purpose", asked.what]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    with asked.results.open("a", encoding="utf-8") as file:
        file.write(done.stdout.splitlines()[-1] + "\n")


def _nobody(done: int, total: int) -> None:
    pass


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "memory", "show", "one"))
    parser.add_argument("--dialogues", type=int, nargs="+", default=[20_000], help="the length of the pool, or several")
    parser.add_argument("--shard-size", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1, help="every other round goes backwards")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    inner = parser.add_argument_group("one measurement, as the others call it")
    inner.add_argument("--engine", choices=("here", "local-2", "ray-2"), default="here")
    inner.add_argument("--made", help="the folder of models and pool")
    inner.add_argument("--purpose", default="one")
    return parser


if __name__ == "__main__":
    main()
