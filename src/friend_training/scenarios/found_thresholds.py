"""The thresholds that a run came to: those of its config, or those that its methods found in each iteration."""

from pathlib import Path

from friend_training.core.run import Run
from friend_training.errors import RunError
from friend_training.runs.steps import Select
from friend_training.scenarios.config import Config
from friend_training.scenarios.folders import method_folder
from friend_training.scenarios.pick_thresholds import ToPrecision, ToShare
from friend_training.scenarios.tasks import TASKS

NOTHING_IS_GOOD_ENOUGH = 1.0
"""Where dev gave nothing to go by, no threshold was found and nothing chosen."""


def last_thresholds(study: Path, config: Config) -> dict[str, float]:
    """What friend-training held the labels of each task against in its last iteration."""
    sections = {task: getattr(config.tasks, task) for task in TASKS}
    return {
        task: threshold_at(study, "fdt", task, config.iterations, section.pick_threshold)
        for task, section in sections.items()
    }


def threshold_at(study: Path, method: str, task: str, iteration: int, given: float | ToPrecision | ToShare) -> float:
    """What a method held the labels of a task against in an iteration; `given` is what the config says."""
    if isinstance(given, float):
        return given
    folder = method_folder(study, method)
    if not (folder / "run.json").is_file():
        raise RunError(f"{study}: {method} finds the threshold of {task} while it runs, and has not been run here")
    found = Run.open(folder).require(Select(iteration))["tasks"][task].get("threshold")
    return NOTHING_IS_GOOD_ENOUGH if found is None else float(found)
