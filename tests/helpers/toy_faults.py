"""The toy run (plain numpy, no torch), read as a whole, damaged and killed."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from friend_training.report.page import machine
from friend_training.report.run_reader import read_study
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.inputs import load_counts, save_counts, save_gold, save_inputs, saved_gold, saved_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.folders import read_records
from helpers.toy_runs import POLARITY, pool, start, two_friends
from helpers.toy_task import ToyTask

SEED = int(os.environ.get("FRIEND_TRAINING_FAULT_SEED", "0")) or time.time_ns() % 10**9
"""Another one every time; FRIEND_TRAINING_FAULT_SEED repeats one."""


def seeded() -> Random:
    print(f"FRIEND_TRAINING_FAULT_SEED={SEED}")
    return Random(SEED)


def make_whole(folder: Path) -> Path:
    """A finished run with a file of every kind that a run has."""
    run = start(folder)
    save_inputs(folder, pool())
    save_gold(folder, {"mood": ["happy", "sad"]})
    two_friends(run)
    save_counts(folder / "counts.npz", {"mood": np.arange(12.0).reshape(3, 4)})
    return folder


def everything(folder: Path) -> dict[str, Any]:
    """All that any later step, command or page reads of a run, as values."""
    run = Run.open(folder)
    found: dict[str, Any] = {f"step {one.step.name}": one.result for one in run.finished()}
    for task, labels in POLARITY.items():
        for iteration in range(3):
            if run.result(Train(task, iteration)) is None:
                continue
            model = ToyTask(task, list(labels))
            load_checkpoint(
                model, run.checkpoint(task, iteration), digest=run.require(Train(task, iteration))["digest"]
            )
            found[f"weights {task} {iteration}"] = model.weights.tobytes()
    for iteration in run.store.iterations():
        found[f"store {iteration}"] = run.store.read(iteration).to_pylist()
    found["metrics"] = [method.evaluations for method in read_study(folder).methods]
    found["config"], found["fingerprints"] = read_study(folder).config, run.fingerprints
    found["inputs"] = saved_inputs(folder, [f"pool{number}" for number in range(60)])
    found["gold"] = saved_gold(folder, "mood")
    found["counts"] = {task: values.tolist() for task, values in load_counts(folder / "counts.npz").items()}
    found["machine"], found["records"] = machine(folder), read_records(folder)
    return found


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def flip(path: Path, bit: int) -> None:
    """One bit of a file, the other way round; a second time, and it is as it was."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def _live(folder: str) -> None:
    two_friends(Run.open(folder))


def killed_after(folder: Path, seconds: float) -> int | None:
    """Go on with a run in a process of its own, and kill it after so many seconds of its work; its exit code."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["helpers.toy_faults"])
    process = context.Process(target=_live, args=(str(folder),))
    process.start()
    begun: Callable[[], bool] = (folder / "writer").exists
    while not begun() and process.is_alive():
        time.sleep(0.001)
    time.sleep(seconds)
    if process.is_alive() and process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode
