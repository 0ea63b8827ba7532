"""One iteration of friend-training on real dialogues, by our loop and the straightforward one, and where its time goes.

python benchmarks/iteration.py RUN --resources FOLDER   from the Base of a finished real few-shot run, with its bridge
python benchmarks/iteration.py --show                   the tables of results/iteration.jsonl

The proportions are those of the config: 3,000 dialogues to 100 steps. Both loops go through the same `friend_train`,
from the same checkpoints: label the pool, ask the bridge, match, choose, train both tasks, score both on dev.
"""

import argparse
import cProfile
import json
import os
import pstats
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in speed.py

import torch
from record_lines import append_line, read_lines
from stopwatch import Stopwatch
from straightforward_task import StraightforwardBridge, StraightforwardTask

from friend_training.bridges.bridge import Bridge, CachedBridge
from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import Task
from friend_training.data.catalogue import model_source
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training, friend_train
from friend_training.nn.task import TorchTask
from friend_training.runs.run import Run
from friend_training.study.config import load_config
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.data import load_data
from friend_training.study.folders import method_folder
from friend_training.study.kinds import Given, make_task
from friend_training.study.run_data import RunData
from friend_training.study.sections import Config
from friend_training.tasks.csrl.task import TrainedBridge, open_bridge

RESULTS = Path(__file__).parent / "results" / "iteration.jsonl"
LOOPS = ("ours", "straightforward")

PARTS = {
    "networks, forward": (("role_labeller.py", "forward"), ("rewriting/model.py", "forward")),
    "networks, backward": (("nn/training.py", "backward"),),
    "decoding": (("definition.py", "decode"),),
    "cutting text into pieces": (("definition.py", "input_items"), ("definition.py", "gold_items")),
    "making batches": (("definition.py", "collate"),),
    "optimizer and clipping": (("nn/training.py", "clip_gradients"), ("accelerate/optimizer.py", "step")),
    "matching": (("csrl_rewriting.py", "__call__"),),
    "store and selection": (("store.py", "write_labelled"), ("selecting.py", "select_iteration")),
    "scores on dev": (("definition.py", "score"),),
    "checkpoints": (("checkpoint.py", "save_checkpoint"), ("checkpoint.py", "load_checkpoint")),
}
"""Functions by file and name whose whole time is that part; none of them calls another of them, but for the matcher,
whose translation asks the bridge: the networks', decoder's and tokenizer's share of that is taken off."""


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    if not asked.show:
        config = load_config(asked.run / "config.yaml", [f"data.pool={asked.dialogues}"])
        data = load_data(config, None)
        for number in range(asked.rounds):
            for loop in LOOPS if number % 2 == 0 else reversed(LOOPS):
                record = measure(config, data, asked, loop=loop)
                append_line(asked.results, record | {"round": number})
        torch.set_num_threads(1)
        append_line(asked.results, profiled(config, data, asked))
    print(tables(asked.results))


def measure(config: Config, data: RunData, asked: argparse.Namespace, *, loop: str) -> dict[str, Any]:
    """One iteration with two threads, timed by phase."""
    torch.set_num_threads(2)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as scratch:
        watch.start()
        run, scores = iterate(config, data, asked, Path(scratch) / "run", loop=loop)
        watch.stop()
        seconds: dict[str, float] = {}
        for path in run.folder.glob("phases/*.json"):
            phase = json.loads(path.read_text(encoding="utf-8"))
            if phase["phase"].endswith("-0"):
                continue  # copying and scoring Base is not part of an iteration
            kind = phase["phase"].partition("-")[0]
            seconds[kind] = round(seconds.get(kind, 0.0) + phase["seconds"], 2)
    return _about(asked, loop) | {
        "seconds": seconds,
        "total": round(sum(seconds.values()), 2),
        "dev": scores,
        "load": round(os.getloadavg()[0], 1),
    }


def iterate(
    config: Config, data: RunData, asked: argparse.Namespace, folder: Path, *, loop: str
) -> tuple[Run, dict[str, float]]:
    bridge: Bridge = open_bridge(asked.resources / "bridge")
    assert isinstance(bridge, TrainedBridge)
    ours = loop == "ours"
    bridge = CachedBridge(bridge, max_entries=100_000) if ours else StraightforwardBridge(bridge.task)
    gold = {"csrl": data.tasks["csrl"].gold, "rewriting": data.tasks["rewriting"].gold}
    dev = {"csrl": data.tasks["csrl"].dev[: asked.dev], "rewriting": data.tasks["rewriting"].dev[: asked.dev]}
    plans: dict[str, TaskPlan] = {}
    for name in TASKS:
        section = getattr(config.tasks, name)
        task: TorchTask = make_task(config, name, Given(model_source(getattr(config.encoder, "source", ""))))
        task.settings = replace(task.settings, look_every=asked.steps, labelling_pieces=1024)
        used: Task = task if ours else StraightforwardTask(task)
        chosen_by = Selector(Threshold(section.pick_threshold), section.confidence_weight, content=section.content)
        base = method_folder(asked.run, "base") / "checkpoints" / name / "iteration-000"
        plans[name] = TaskPlan(
            used, gold[name], dev[name], base=base, update=Training(asked.steps), selectors=[chosen_by]
        )
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    run = Run.create(folder, "", {})
    settings = LoopSettings(seed=config.seed, iterations=1)
    outcomes = friend_train(run, plans, [friendship], data.pool, settings=settings)
    return run, {name: round(outcomes[name].dev[1][plans[name].task.main_metric], 2) for name in plans}


def profiled(config: Config, data: RunData, asked: argparse.Namespace) -> dict[str, Any]:
    """Our iteration once more, in one thread under the profiler: seconds by part, and what is left."""
    profile = cProfile.Profile(time.process_time)
    with tempfile.TemporaryDirectory() as scratch:
        profile.enable()
        iterate(config, data, asked, Path(scratch) / "run", loop="ours")
        profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in stats.values())
    parts = {part: sum(_spent(stats, *place) for place in places) for part, places in PARTS.items()}
    parts["matching"] -= _spent(stats, "tasks/csrl/task.py", "label")  # the bridge: counted where its parts belong
    parts["the rest"] = total - sum(parts.values())
    return _about(asked, "ours, profiled") | {
        "total": round(total, 1),
        "parts": {k: round(v, 2) for k, v in parts.items()},
    }


def _spent(stats: Any, file: str, name: str) -> float:
    found = [entry for (path, _, function), entry in stats.items() if path.endswith(file) and function == name]
    return float(sum(entry[3] for entry in found))


def _about(asked: argparse.Namespace, loop: str) -> dict[str, Any]:
    return {
        "run": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "loop": loop,
        "dialogues": asked.dialogues,
        "steps": asked.steps,
        "torch": torch.__version__,
    }


def tables(path: Path) -> str:
    records = read_lines(path)
    timed = {loop: [one for one in records if one["loop"] == loop] for loop in LOOPS}
    kinds = list(dict.fromkeys(kind for one in records if "seconds" in one for kind in one["seconds"]))
    rows = ["| seconds | ours | straightforward | ratio |", "|---|--:|--:|--:|"]
    for kind in [*kinds, "total"]:
        ours, theirs = (
            [one["total"] if kind == "total" else one["seconds"].get(kind, 0.0) for one in timed[loop]]
            for loop in LOOPS
        )
        ratio = median(their / max(our, 0.01) for our, their in zip(ours, theirs, strict=True))
        rows.append(f"| {kind} | {median(ours):.1f} | {median(theirs):.1f} | {ratio:.2f} |")
    for task in TASKS:
        ours, theirs = ([one["dev"][task] for one in timed[loop]] for loop in LOOPS)
        rows.append(f"| {task} on dev | {median(ours):.1f} | {median(theirs):.1f} | |")
    last = next((one for one in reversed(records) if "parts" in one), None)
    if last is not None:
        rows += ["", "| part of ours, one thread | CPU s | share |", "|---|--:|--:|"]
        rows += [f"| {k} | {v:.1f} | {v / last['total']:.0%} |" for k, v in last["parts"].items()]
    return "\n".join(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="a finished run of configs/few-shot.yaml with method base")
    parser.add_argument("--resources", type=Path, help="the folder with its bridge (the run itself, unless shared)")
    parser.add_argument("--dialogues", type=int, default=600)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--dev", type=int, default=60, help="so many dev examples of each task are scored")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="measure nothing, print the tables")
    return parser


if __name__ == "__main__":
    main()
