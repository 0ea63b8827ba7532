"""Opening what a run has made: its config, its methods, and the trained tasks, ready to predict.

A checkpoint holds architecture, vocabulary and weights: a run folder works where the encoder it began with is gone.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from friend_training.bridges.bridge import Bridge, ParserBridge
from friend_training.bridges.hanlp import HanlpParser
from friend_training.bridges.ltp import LtpParser
from friend_training.errors import RunError
from friend_training.nn.devices import AUTO, choose_device
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import check_checkpoint, load_checkpoint
from friend_training.runs.inputs import has_gold, has_inputs, save_gold, save_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare, Select, Test, Train
from friend_training.study.config import Config, FoundThreshold, HanlpBridgeConfig, LtpBridgeConfig
from friend_training.study.data import Progress, RunData, load_data, model_source
from friend_training.study.folders import method_folder, methods_there, run_config, shared_resources
from friend_training.study.tasks import TASKS, TaskName, make_task
from friend_training.tasks.rewriting.edits import build_script
from friend_training.tasks.srl.task import open_bridge as open_trained

# The thresholds that a run came to: those of its config, or those that its methods found in each iteration.


NOTHING_IS_GOOD_ENOUGH = 1.0
"""Where dev gave nothing to go by, no threshold was found and nothing chosen."""


def last_thresholds(study: Path, config: Config) -> dict[str, float]:
    """What friend-training held the labels of each task against in its last iteration."""
    sections = {task: getattr(config.tasks, task) for task in TASKS}
    return {
        task: threshold_at(study, "fdt", task, config.iterations, section.pick_threshold)
        for task, section in sections.items()
    }


def threshold_at(study: Path, method: str, task: str, iteration: int, given: float | FoundThreshold) -> float:
    """What a method held the labels of a task against in an iteration; `given` is what the config says."""
    if isinstance(given, float):
        return given
    folder = method_folder(study, method)
    if not (folder / "run.json").is_file():
        raise RunError(f"{study}: {method} finds the threshold of {task} while it runs, and has not been run here")
    found = Run.open(folder).require(Select(iteration))["tasks"][task].get("threshold")
    return NOTHING_IS_GOOD_ENOUGH if found is None else float(found)


# Keeping in the run folder what a reader wants to see of its data: the pool's texts and the labels of gold.


MOST_GOLD = 2000
"""Gold rewrites are texts; to find the edits of so many takes a second or two, and shares need no more."""


def keep_data(folder: Path, config: Config, data: RunData) -> None:
    """Once per run: the report, made at the end or years later, then needs nothing but the folder."""
    if has_inputs(folder) and has_gold(folder):
        return
    scripts = [
        build_script(example.dialogue, example.rewrite, span_source=config.span_source)
        for example in data.rewriting_gold[:MOST_GOLD]
    ]
    save_gold(
        folder,
        {
            "csrl": [roles for example in data.csrl_gold[:MOST_GOLD] for roles in example.roles],
            "rewriting": [script for script in scripts if script is not None],
        },
    )
    save_inputs(folder, data.pool)


def ensure_inputs(study: Path, data_dir: Path | None, progress: Progress = lambda done, total: None) -> None:
    """For a study of an earlier version, which saved no texts: its data are made or read once more, and saved."""
    if has_inputs(study):
        return
    config, run = run_config(study), Run.open(study)
    data = load_data(config, data_dir, progress)
    run.check_fingerprints({**run.fingerprints, "pool": data.pool_fingerprint})
    keep_data(study, config, data)


# Opening the bridge of a finished run, which tells what a rewrite says about each predicate.


def published_bridge(config: Config) -> Bridge | None:
    """A parser that somebody else has trained; None where the config asks for one of its own."""
    if isinstance(config.bridge, LtpBridgeConfig):
        return LtpParser.load(model_source(config.bridge.source), device=config.device)
    if isinstance(config.bridge, HanlpBridgeConfig):
        return ParserBridge(HanlpParser(config.bridge.model, device=config.device))
    return None


def open_bridge(folder: Path, config: Config) -> Bridge:
    """The bridge that the run matched with; a trained one lies in the run's folder, or with what several runs share."""
    if (published := published_bridge(config)) is not None:
        return published
    place = (shared_resources(folder, None) or folder) / "bridge"
    if not (place / "task.json").is_file():
        raise RunError(f"{folder}: its bridge is not at {place}, so nobody can say how far the friends agree")
    made = Run(place.parent).result(Prepare("bridge")) or {}
    check_checkpoint(place, made.get("digest"))
    return open_trained(place, device=config.device)


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
