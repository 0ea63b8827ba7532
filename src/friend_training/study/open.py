"""Opening what a run has made: its config, its methods, and the trained tasks, ready to predict.

A checkpoint holds architecture, vocabulary and weights: a run folder works where the encoder it began with is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from friend_training.core.task import Task
from friend_training.errors import RunError
from friend_training.methods.registry import leading
from friend_training.runs.checkpoints import check_checkpoint
from friend_training.runs.inputs import has_gold, has_inputs, save_gold, save_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Select, Test, Train
from friend_training.study.config import CaseStudyConfig
from friend_training.study.folders import files_of, method_folder, methods_there, run_config
from friend_training.study.kinds import Given, is_trained, kind_of, make_task
from friend_training.study.sections import Config, FoundThreshold
from friend_training.tasks.rewriting.edits import build_script, word_label
from friend_training.types import RewritingExample

if TYPE_CHECKING:
    from friend_training.study.run_data import Objects, Progress, RunData

# The thresholds that a run came to: those of its config, or those that its methods found in each iteration.


NOTHING_IS_GOOD_ENOUGH = 1.0
"""Where dev gave nothing to go by, no threshold was found and nothing chosen."""


def last_thresholds(study: Path, config: Config) -> dict[str, float]:
    """What friend-training held the labels of each task against in its last iteration."""
    return {
        task: threshold_at(study, leading(methods_there(study) or ["fdt"]), task, config.iterations, section.pick)
        for task, section in config.sections.items()
        if is_trained(config, task)
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


def keep_data(folder: Path, config: Config, data: "RunData") -> None:
    """Once per run: the report, made at the end or years later, then needs nothing but the folder."""
    from friend_training.study.run_data import HiddenGold

    if has_inputs(folder) and has_gold(folder):
        return
    gold = {name: _labels(config, examples.gold[:MOST_GOLD]) for name, examples in data.tasks.items()}
    save_gold(folder, gold, data.audit.labels if isinstance(data.audit, HiddenGold) else None)
    save_inputs(folder, data.pool)


def _labels(config: Config, gold: Sequence[Any]) -> list[Any]:
    """Gold as labels of the store: of a rewrite, which gold has as text, the edits that build it."""
    from friend_training.study.run_data import gold_units

    if gold and isinstance(gold[0], RewritingExample):
        if isinstance(config, CaseStudyConfig):
            scripts = [build_script(one.dialogue, one.rewrite, span_source=config.span_source) for one in gold]
        else:
            scripts = [word_label(one) for one in gold]
        return [script for script in scripts if script is not None]
    return [label for example in gold for _, label in gold_units(example)]


def ensure_inputs(study: Path, data_dir: Path | None, progress: "Progress" = lambda done, total: None) -> None:
    """For a study of an earlier version, which saved no texts: its data are made or read once more, and saved."""
    from friend_training.study.data import load_data

    if has_inputs(study):
        return
    config, run = run_config(study), Run.open(study)
    data = load_data(config, files_of(study, data_dir), progress)
    run.check_fingerprints({**run.fingerprints, "pool": data.pool_fingerprint})
    keep_data(study, config, data)


@dataclass(frozen=True, slots=True)
class OpenedTask:
    """A trained task and where it comes from; `iteration` is the one that was best on dev (0 is Base)."""

    task: Task
    method: str
    iteration: int


def open_task(
    folder: str | Path,
    task: str,
    method: str | None = None,
    *,
    device: str = "auto",
    objects: "Objects | None" = None,
) -> OpenedTask:
    """The task as a method of this run left it; without `method`, friend-training's, else the last of the config's."""
    if device != "auto":
        from friend_training.nn.devices import choose_device

        choose_device(device)  # before anything is read
    folder = Path(folder)
    config = run_config(folder, device=device)
    if task not in config.sections:
        raise RunError(f"{folder} has no task {task!r}; its tasks are {', '.join(config.sections)}")
    if kind_of(config, task).networks:
        import torch

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
    check_checkpoint(checkpoint, run.require(Train(task, iteration))["digest"])  # making a task reads of it too
    given = Given(checkpoint, base=files_of(folder, None) or Path())
    opened = objects.tasks[task] if objects and task in objects.tasks else make_task(config, task, given)
    opened.load(checkpoint)
    return OpenedTask(opened, chosen, iteration)


def _default_method(folder: Path) -> str:
    there = methods_there(folder)
    if not there:
        raise RunError(f"{folder} has no trained models yet; go on with `friend-train resume {folder}`")
    return leading([name for name in run_config(folder).methods if name in there])
