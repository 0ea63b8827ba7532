"""Engines beside each other on the same cores, and memory against the length of the pool.

python benchmarks/engines.py overhead --dialogues 20000 --rounds 3      two processes and two Ray nodes, in turn
python benchmarks/engines.py memory --dialogues 10000 100000 1000000    peak memory of one process and of two workers
python benchmarks/engines.py memory --encoder ernie-3.0-nano-zh-uie --engines here --dialogues 10000 100000
python benchmarks/engines.py show                                       only print the table

Every measurement is a process of its own, so that peaks of memory are its own, and appends a line to
results/engines.jsonl. The pool is synthetic dialogues as JSONL shards, no text of which occurs twice; the models are
one layer unless an encoder is named (then of each dialogue the last two turns). Starting a Ray cluster is not counted;
that workers start, fetch and load the checkpoints is, and the time until the first shard is back tells how much that
is. Processor seconds are those of all processes together, Ray's own among them. Linux.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import family
import torch
from engine_records import RESULTS, SCRATCH, Record, read, table
from record_lines import append_line
from two_nodes import two_nodes
from workloads import SAMPLE_SEED, synthetic_texts

from friend_training.core.selector import Selector, TopN
from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.data.jsonl import to_line
from friend_training.data.sharded_pool import open_pool
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.loop.algorithm import Loop, LoopSettings, TaskPlan, Training
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.loop.labelling import Engine
from friend_training.nn.encoder import EncoderShape, pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.runs.checkpoints import save_checkpoint
from friend_training.runs.run import Run, peak_memory_mb
from friend_training.runs.steps import Label, Select, Train
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.types import Dialogue, Turn

SHAPE = EncoderShape(layers=1, width=32, heads=2)
DIFFERENT = 1000
"""So many dialogues are made; in a longer pool they come again, every turn with another ending (see `make_pool`)."""

MARK_LENGTH = 3
LAST_TURNS = {True: 100, False: 2}
"""So many turns of each dialogue are kept: with a real encoder few, or 100,000 dialogues take an hour and more."""

LABELLING_PIECES = {True: 8192, False: 2048}
"""Pieces in a batch, by whether the model is the small one: its time goes into calls, a real one's into products."""

ENGINES = ("here", "local-2", "ray-2")
LINES_IN_FILE = 50_000
TAUGHT_STEPS = 30
CHOSEN = 500


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if asked.what == "one":
        with tempfile.TemporaryDirectory() as scratch:
            record = measure(
                asked.engine, asked.dialogues[0], asked.shard_size, Path(asked.made), Path(scratch), asked.encoder
            )
        record = replace(record, run=asked.run, round=asked.round, what=asked.purpose)
        print(json.dumps(asdict(record)))
        return
    if asked.what != "show":
        engines = asked.engines or (["local-2", "ray-2"] if asked.what == "overhead" else ["here", "local-2"])
        run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with tempfile.TemporaryDirectory() as made:
            make_models(Path(made), asked.encoder)
            for number in range(asked.rounds):
                for count in asked.dialogues:
                    make_pool(Path(made) / f"pool-{count}", count, turns=LAST_TURNS[asked.encoder == SCRATCH])
                    for engine in engines if number % 2 == 0 else reversed(engines):
                        _in_a_process(engine, count, asked, Path(made), ["--run", run, "--round", str(number)])
    print(table(read(asked.results)))


def make_models(folder: Path, encoder: str = SCRATCH) -> None:
    """An encoder and two tasks that have learnt a little: a fresh network decodes like none in use."""
    torch.set_num_threads(1)
    if encoder == SCRATCH:
        (folder / "encoder").mkdir()
        pretrain_encoder(folder / "encoder", synthetic_texts(), SHAPE, seed=0)
    made = generate(200, seed=SAMPLE_SEED, domain=Domain.FILM)
    gold = {"csrl": [e for e in csrl_examples(made) if e.roles], "rewriting": rewriting_examples(made)}
    for name, task in tasks_of(encoder, folder).items():
        task.fit(gold[name], (), dev=gold[name][:8], plan=FitPlan(seed=0, steps=TAUGHT_STEPS, restart=True))
        save_checkpoint(task, folder / name)


def make_pool(folder: Path, count: int, *, turns: int = LAST_TURNS[True]) -> None:
    """No text occurs twice, as in a real corpus: whatever remembers texts must show in the memory."""
    if folder.is_dir():
        return
    folder.mkdir()
    generated = generate(min(count, DIFFERENT), seed=SAMPLE_SEED + 1, domain=Domain.FILM)
    made = [replace(one.dialogue, turns=one.dialogue.turns[-turns:]) for one in generated]
    alphabet = sorted({c for one in made for turn in one.turns for c in turn.text if not c.isascii()})
    for first in range(0, count, LINES_IN_FILE):
        with (folder / f"{first:09d}.jsonl").open("w", encoding="utf-8") as file:
            for number in range(first, min(first + LINES_IN_FILE, count)):
                file.write(to_line(_another(made[number % len(made)], number, alphabet)) + "\n")


def _another(dialogue: Dialogue, number: int, alphabet: Sequence[str]) -> Dialogue:
    """The same dialogue with its number at the end of every turn, written in the characters of the alphabet."""
    mark = "".join(alphabet[number // len(alphabet) ** place % len(alphabet)] for place in range(MARK_LENGTH))
    turns = tuple(Turn(turn.speaker, turn.text + mark) for turn in dialogue.turns)
    return replace(dialogue, id=f"d{number}", turns=turns)


def measure(engine: str, dialogues: int, shard_size: int, made: Path, scratch: Path, encoder: str = SCRATCH) -> Record:
    """Open the pool, label it, and choose the best: what grows with the pool. Nothing is trained."""
    torch.set_num_threads(1)
    run = Run.create(scratch / "run", "", {})
    once, best = Training(steps=1), [Selector(TopN(CHOSEN), confidence_weight=1.0)]
    plans = {
        name: TaskPlan(task, gold=(), dev=("",), base=made / name, update=once, selectors=best)
        for name, task in tasks_of(encoder, made).items()
    }
    began = time.perf_counter()
    pool = open_pool(str(made / f"pool-{dialogues}"), shard_size=shard_size)
    opened = time.perf_counter()
    with _engine(engine) as hands:
        settings = LoopSettings(seed=0, iterations=1, shard_size=shard_size, engine=hands)
        loop = Loop(run, plans, (), pool, settings, None)
        for name in plans:
            run.do(Train(name, 0), partial(loop.pretrain, name, _nobody))
        start, start_cpu = time.perf_counter(), family.cpu_seconds()
        units, first, first_cpu = 0, start, start_cpu
        for shard in range(pool.shards):
            units += run.do(Label(1, shard), partial(loop.label, 1, shard, _nobody))["units"]
            if shard == 0:
                first, first_cpu = time.perf_counter(), family.cpu_seconds()
        labelled, labelled_cpu = time.perf_counter(), family.cpu_seconds()
        workers_peak = family.largest_descendant_mb()
        loop.close()
    selecting = time.perf_counter()
    run.do(Select(1), partial(loop.select, 1, _nobody))
    selected = time.perf_counter()
    stored = sorted(run.folder.glob("store/**/shard-*.parquet"))
    return Record(
        run="",
        round=0,
        what="",
        engine=engine,
        encoder=Path(encoder).name,
        dialogues=dialogues,
        shard_size=shard_size,
        units=units,
        open_seconds=round(opened - began, 3),
        label_seconds=round(labelled - start, 3),
        label_cpu_seconds=round(labelled_cpu - start_cpu, 2),
        first_seconds=round(first - start, 3),
        first_cpu_seconds=round(first_cpu - start_cpu, 2),
        select_seconds=round(selected - selecting, 3),
        store_bytes=sum(path.stat().st_size for path in stored),
        peak_mb=peak_memory_mb(),
        workers_peak_mb=None if engine == "here" else round(workers_peak, 1),
        store=_digest(stored),
        torch=torch.__version__,
        cores=os.cpu_count(),
        load=round(os.getloadavg()[0], 2),
    )


def tasks_of(encoder: str, made: Path) -> dict[str, TorchTask]:
    small = encoder == SCRATCH
    source = made / "encoder" if small else model_source(encoder)
    settings = TrainingSettings(labelling_pieces=LABELLING_PIECES[small])
    return {"csrl": csrl_task(source, settings), "rewriting": rewriting_task(source, settings)}


@contextmanager
def _engine(name: str) -> Iterator[Engine | None]:
    if name == "here":
        yield None
    elif name == "local-2":
        yield LocalEngine(workers=2)
    else:
        with two_nodes() as address:
            yield RayEngine(address=address)


def _digest(paths: Sequence[Path]) -> str:
    total = sha256()
    for path in paths:
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _in_a_process(engine: str, count: int, asked: argparse.Namespace, made: Path, place: Sequence[str]) -> None:
    command = [sys.executable, __file__, "one", "--engine", engine, "--dialogues", str(count), "--made", str(made)]
    command += ["--shard-size", str(asked.shard_size), "--purpose", asked.what, "--encoder", asked.encoder]
    done = subprocess.run([*command, *place], stdout=subprocess.PIPE, text=True, check=True)
    append_line(asked.results, json.loads(done.stdout.splitlines()[-1]))


def _nobody(done: int, total: int) -> None:
    pass


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "memory", "show", "one"))
    parser.add_argument("--dialogues", type=int, nargs="+", default=[20_000], help="the length of the pool, or several")
    parser.add_argument("--shard-size", type=int, default=1000)
    parser.add_argument("--encoder", default=SCRATCH, help="folder or hub name (a small one, made from scratch)")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, help="others than overhead or memory would compare")
    parser.add_argument("--rounds", type=int, default=1, help="every other round goes backwards")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    inner = parser.add_argument_group("one measurement, as the others call it")
    inner.add_argument("--engine", choices=ENGINES, default="here")
    inner.add_argument("--made", help="the folder of models and pool")
    inner.add_argument("--purpose", default="one")
    inner.add_argument("--run", default="")
    inner.add_argument("--round", type=int, default=0)
    return parser


if __name__ == "__main__":
    main()
