"""Opening what a run has made: its config, its methods, and the trained tasks, ready to predict.

A checkpoint holds architecture, vocabulary and weights: a run folder works where the encoder it began with is gone.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from friend_training.core.checkpoint import load_checkpoint
from friend_training.core.run import Run
from friend_training.errors import RunError
from friend_training.nn.devices import AUTO, choose_device
from friend_training.nn.torch_task import TorchTask
from friend_training.runs.steps import Test, Train
from friend_training.scenarios.folders import method_folder, methods_there, run_config
from friend_training.scenarios.tasks import TaskName, make_task


@dataclass(frozen=True, slots=True)
class OpenedTask:
    """A trained task and where it comes from; `iteration` is the one that was best on dev (0 is Base)."""

    task: TorchTask
    method: str
    iteration: int


def open_task(folder: str | Path, task: TaskName, method: str | None = None, *, device: str = AUTO) -> OpenedTask:
    """The task as a method of this run left it; without `method`, friend-training's, else the last of the config's."""
    choose_device(device)  # before anything is read
    folder = Path(folder)
    config = run_config(folder, device=device)
    torch.set_num_threads(config.threads)
    chosen = method or _default_method(folder)
    path = method_folder(folder, chosen)
    if not (path / "run.json").is_file():
        there = ", ".join(methods_there(folder)) or "none"
        raise RunError(f"{folder} has no models of method {chosen!r}, only of {there}")
    run = Run.open(path)
    tested = run.result(Test(task))
    if tested is None:
        raise RunError(f"{folder}: {chosen} has not finished {task} yet; go on with `friend-train resume {folder}`")
    iteration: int = tested["best_iteration"]
    checkpoint = run.checkpoint(task, iteration)
    opened = make_task(config, task, checkpoint)
    load_checkpoint(opened, checkpoint, digest=run.require(Train(task, iteration))["digest"])
    return OpenedTask(opened, chosen, iteration)


def _default_method(folder: Path) -> str:
    there = methods_there(folder)
    if not there:
        raise RunError(f"{folder} has no trained models yet; go on with `friend-train resume {folder}`")
    return "fdt" if "fdt" in there else [name for name in run_config(folder).methods if name in there][-1]
