"""What labelling costs as dialogues get longer and utterances have more predicates; matching; the store on disk.

python benchmarks/growth.py --rounds 3      measure, append to results/growth.jsonl, print the table
python benchmarks/growth.py --only selection --selected 10000000    selection over so many rows of the store
python benchmarks/growth.py --show          only print the table
python benchmarks/growth.py --synthetic      with a small encoder from scratch, where there is no other

All dialogues are synthetic ones. Longer ones have the turns of others before theirs; a dialogue of more than 125 pieces
loses its oldest ones, as everywhere, so that its cost ends growing there. Predicates are characters of u_t, evenly
apart. Matching compares gold roles with what a perfect bridge finds in gold rewrites; the store holds those labels with
confidences drawn by lot, and decisions. Selection is over shards of those rows, again and again, with scores and
kinds of CSRL's labels drawn by lot: by a threshold, then by a share, beside the iteration before, then by one that is
balanced by kind. What a longer corpus costs is measured by engines.py memory.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported: see speed.py

import numpy as np
import pyarrow as pa
import torch
from growth_loads import GoldBridge, gold_tasks, with_predicates, with_turns
from growth_records import MATCHING, PREDICATES, RESULTS, SELECTION, STORE, TURNS, Record, append, read, table
from stopwatch import Stopwatch
from workloads import SAMPLE_SEED, synthetic_texts

from friend_training.core.selector import Selector, Share, Threshold
from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.loop.labelling import label_shard
from friend_training.loop.selection import select_iteration
from friend_training.nn.encoder import EncoderShape, pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.runs.store import Store
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.types import Dialogue

ENCODER = "ernie-3.0-nano-zh-uie"
SCRATCH_SHAPE = EncoderShape(layers=2, width=64, heads=2)
TURN_COUNTS = (2, 4, 8, 16)
PREDICATE_COUNTS = (1, 2, 4, 8)
TAUGHT_STEPS = 20
SHARD_SIZE = 1000
SELECTED_SHARD = 20_000
"""Rows, which are some 9,000 dialogues of the few-shot pool."""


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if not asked.show:
        torch.set_num_threads(1)
        run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

        def keep(**measured: Any) -> None:
            setup: dict[str, Any] = {"run": run, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2)}
            append(Record(**setup, **measured), asked.results)

        with tempfile.TemporaryDirectory() as scratch:
            if asked.only in (None, "labelling"):
                measure_labelling(asked, Path(scratch), keep)
            if asked.only in (None, "matching"):
                measure_matching_and_store(asked, Path(scratch), keep)
            if asked.only in (None, "selection"):
                measure_selection(asked.selected, Path(scratch), keep)
    print(table(read(asked.results)))


def measure_labelling(asked: argparse.Namespace, scratch: Path, keep: Callable[..., None]) -> None:
    """Every size once in a round, the sizes of a round one after the other."""
    source: str | Path = scratch / "encoder"
    if asked.synthetic:
        (scratch / "encoder").mkdir()
        pretrain_encoder(scratch / "encoder", synthetic_texts(), SCRATCH_SHAPE, seed=0)
    else:
        source = model_source(asked.encoder)
    encoder = "scratch" if asked.synthetic else Path(asked.encoder).name
    tasks = _taught(source)
    dialogues = [one.dialogue for one in generate(asked.dialogues, seed=SAMPLE_SEED + 1, domain=Domain.FILM)]
    for number in range(asked.rounds):
        for count in TURN_COUNTS:
            for way in ("csrl", "rewriting"):
                found = _labelled(tasks[way], with_turns(dialogues, count))
                keep(round=number, what=TURNS, way=way, encoder=encoder, size=count, **found)
        for count in PREDICATE_COUNTS:
            asked_for = with_predicates(dialogues, count, longest=PREDICATE_COUNTS[-1])
            for way, task in (
                ("marked after the encoder", "csrl"),
                ("marked in the input", "csrl, marked in the input"),
            ):
                found = _labelled(tasks[task], asked_for)
                keep(round=number, what=PREDICATES, way=way, encoder=encoder, size=count, **found)


def _taught(source: str | Path) -> dict[str, TorchTask]:
    """A fresh network decodes like none in use: these have learnt a little."""
    settings = TrainingSettings()
    made = generate(100, seed=SAMPLE_SEED, domain=Domain.FILM)
    roles, rewrites = [example for example in csrl_examples(made) if example.roles], rewriting_examples(made)
    tasks = {
        "csrl": csrl_task(source, settings),
        "csrl, marked in the input": csrl_task(source, settings, mark="input"),
        "rewriting": rewriting_task(source, settings),
    }
    for name, task in tasks.items():
        gold: Sequence[Any] = rewrites if name == "rewriting" else roles
        task.fit(gold, (), dev=gold[:8], plan=FitPlan(seed=0, steps=TAUGHT_STEPS, restart=True))
    return tasks


def _labelled(task: TorchTask, dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    definition: Any = task.definition
    definition.tokenizer.memory.clear()
    watch = Stopwatch()
    watch.start()
    predictions = task.predict(dialogues)
    watch.stop()
    lengths = [item.length for item in definition.input_items(dialogues)]
    return {
        "dialogues": len(dialogues),
        "units": sum(map(len, predictions)),
        "pieces": round(sum(lengths) / len(lengths), 1),
        "stored": None,
        **_times(watch),
    }


def measure_matching_and_store(asked: argparse.Namespace, scratch: Path, keep: Callable[..., None]) -> None:
    made = {one.dialogue.id: one for one in generate(asked.stored, seed=SAMPLE_SEED + 2, domain=Domain.FILM)}
    inputs, tasks = [one.dialogue for one in made.values()], gold_tasks(made)
    friendship = csrl_rewriting(GoldBridge(made))
    first = friendship.translate_first(inputs, tasks["csrl"].predict(inputs))
    second = friendship.translate_second(inputs, tasks["rewriting"].predict(inputs))
    pairs = sum(map(len, first))
    common = {"encoder": "", "size": len(inputs), "dialogues": len(inputs), "pieces": None}
    for number in range(asked.rounds):
        for matcher in (RoleMatcher(), RoleMatcher(scoring="role-aware")):
            watch = Stopwatch()
            watch.start()
            matcher(first, second)
            watch.stop()
            times = _times(watch)
            keep(round=number, what=MATCHING, way=matcher.scoring, units=pairs, stored=None, **common, **times)
    watch = Stopwatch()
    watch.start()
    store, units, shards = Store(scratch / "store"), 0, -(-len(inputs) // SHARD_SIZE)
    for shard in range(shards):
        part = inputs[shard * SHARD_SIZE : (shard + 1) * SHARD_SIZE]
        rows = label_shard(tasks, [friendship], part, aggregate="mean")
        store.write_labelled(1, shard, rows)
        units += len(rows)
    select_iteration(store, 1, shards, dict.fromkeys(tasks, Selector(Threshold(0.6), confidence_weight=0.2)))
    watch.stop()
    stored = sum(path.stat().st_size for path in store.folder.glob("**/shard-*.parquet"))
    keep(round=0, what=STORE, way="gold labels", units=units, stored=stored, **common, **_times(watch))


def measure_selection(count: int, scratch: Path, keep: Callable[..., None]) -> None:
    made = {one.dialogue.id: one for one in generate(SHARD_SIZE, seed=SAMPLE_SEED + 2, domain=Domain.FILM)}
    tasks, inputs = gold_tasks(made), [one.dialogue for one in made.values()]
    few = label_shard(tasks, [csrl_rewriting(GoldBridge(made))], inputs, aggregate="mean")
    rows = pa.concat_tables([few] * -(-min(count, SELECTED_SHARD) // len(few))).slice(0, min(count, SELECTED_SHARD))
    draw, shards = np.random.default_rng(SAMPLE_SEED), -(-count // len(rows))
    store = Store(scratch / "selection")
    is_csrl = np.array(rows["task"].to_pylist()) == "csrl"
    share = Selector(Share(0.1), confidence_weight=0.2)
    balanced = replace(share, balance={"across": 0.4, "within": 0.6})
    ways = {
        "threshold": dict.fromkeys(tasks, replace(share, pick=Threshold(0.6))),
        "share": dict.fromkeys(tasks, share),
        "share, balanced": {"csrl": balanced, "rewriting": share},
    }
    for iteration, (way, selectors) in enumerate(ways.items(), start=1):
        for shard in range(shards):
            drawn = {name: pa.array(draw.random(len(rows))) for name in ("confidence", "match")}
            drawn["kind"] = pa.array(draw.choice(["across", "within"], len(rows)), mask=~is_csrl)
            for name, column in drawn.items():
                rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
            store.write_labelled(iteration, shard, rows)
        watch = Stopwatch()
        watch.start()
        select_iteration(store, iteration, shards, selectors)
        watch.stop()
        store.discard_labelled(iteration)
        keep(
            round=0,
            what=SELECTION,
            way=way,
            encoder="",
            size=count,
            dialogues=shards * len(rows),
            units=shards * len(rows),
            pieces=None,
            stored=None,
            **_times(watch),
        )


def _times(watch: Stopwatch) -> dict[str, Any]:
    return {
        "seconds": round(watch.seconds, 4),
        "cpu_seconds": round(watch.cpu_seconds, 4),
        "added_mb": watch.added_mb,
        "peak_mb": watch.peak_mb,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dialogues", type=int, default=96, help="that are labelled for every size")
    parser.add_argument("--stored", type=int, default=20_000, help="dialogues that are matched and stored")
    parser.add_argument("--selected", type=int, default=1_000_000, help="rows that are selected from")
    parser.add_argument("--encoder", default=ENCODER, help="folder or hub name")
    parser.add_argument("--synthetic", action="store_true", help="a small encoder from scratch")
    parser.add_argument(
        "--only", choices=("labelling", "matching", "selection"), help="a part: matching goes with the store"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that records are appended to")
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    return parser


if __name__ == "__main__":
    main()
