"""Dev dialogues as a pool would have them: what thresholds are found on, and what a finished run is diagnosed with.

Dev of CSRL has gold arguments and no rewrites, dev of rewriting the reverse: each task is probed on its own dev, where
its friend labels along. Predicates are those that CSRL's gold is about; rewriting's dialogues get theirs from the
finder that the pool's came from, because their corpus has none.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from friend_training.errors import ConfigError
from friend_training.loop.thresholds import Probe
from friend_training.study.config import Config, PrecisionThresholdConfig, PublicDataConfig
from friend_training.study.data import RunData, hidden_gold, with_found_predicates
from friend_training.study.tasks import TASKS, TaskName
from friend_training.types import Dialogue


def probe_of(config: Config, data: RunData, task: TaskName) -> Probe:
    right = partial(hidden_gold(data.csrl_dev, data.rewriting_dev), task)
    return Probe(probed_dialogues(config, data, task), right)


def probed_dialogues(config: Config, data: RunData, task: TaskName) -> list[Dialogue]:
    examples: Sequence[Any] = data.csrl_dev if task == "csrl" else data.rewriting_dev
    dialogues = [example.dialogue for example in examples]
    if isinstance(config.data, PublicDataConfig) and task == "rewriting":
        dialogues = with_found_predicates(dialogues, config, lambda done, total: None)
    if not any(dialogue.predicates for dialogue in dialogues):
        raise ConfigError(
            f"the dev dialogues of {task} give no predicates, so friends have nothing to match there and no threshold"
            " can be found for a precision; name the predicates, or set tasks.*.pick_threshold to a number or a share"
        )
    return dialogues


def needed_probes(config: Config, data: RunData) -> dict[TaskName, Probe]:
    """For the tasks whose thresholds, by match or by confidence, aim at a precision."""
    sections = {name: getattr(config.tasks, name) for name in TASKS}
    return {
        name: probe_of(config, data, name)
        for name, section in sections.items()
        if any(isinstance(given, PrecisionThresholdConfig) for given in (section.pick_threshold, section.sst_threshold))
    }
