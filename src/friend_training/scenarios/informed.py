"""The informed setting (DESIGN 5.17): every method starts from its few labels and from the bridge's training data.

The bridge carries supervision of its own, and a CSRL parser that has never seen it may lose against the bridge alone.
Here CSRL learns the same sentences, as dialogues of one turn, before Base sees its first gold label. They are not mixed
into gold: ten thousands of sentences would bury a hundred labels, and in the updates what was chosen as well. Like the
bridge, with the bridge's settings and seed, this start is made once for all seeds of a study.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from friend_training.core.files import atomic_folder
from friend_training.core.processes import is_first
from friend_training.core.run import Run
from friend_training.core.task import FitPlan
from friend_training.examples import Argument, CsrlExample, Dialogue, Roles, SrlExample, Turn
from friend_training.runs.steps import Prepare
from friend_training.scenarios.config import Config, TrainedBridge
from friend_training.scenarios.data import RunData
from friend_training.scenarios.settings import training_settings
from friend_training.tasks.csrl.task import csrl_task

SPEAKER = "A"


def informed_step(config: Config) -> Prepare:
    """By the way the predicate is marked: it alone tells apart the starts that one bridge's folder can hold."""
    return Prepare(f"informed-{config.predicate_mark}")


def as_dialogues(sentences: Sequence[SrlExample]) -> list[CsrlExample]:
    """Sentences as dialogues of one turn, whose arguments all stand in it."""
    found = []
    for example in sentences:
        roles = tuple(
            Roles(label.predicate, tuple(Argument(a.role, 0, a.start, a.end) for a in label.arguments))
            for label in example.roles
        )
        turns = (Turn(SPEAKER, example.sentence.text),)
        found.append(CsrlExample(Dialogue(example.sentence.id, turns, example.sentence.predicates), roles))
    return found


def informed_start(
    config: Config, data: RunData, run: Run, encoder: str, *, seed: int, progress: Callable[[int, int], None]
) -> Path:
    """The checkpoint that the Base of CSRL goes on from, made in `run` if it is not there yet."""
    assert isinstance(config.bridge, TrainedBridge), "the config has seen to that"
    bridge = config.bridge
    folder = run.folder / informed_step(config).name
    task = csrl_task(
        encoder,
        training_settings(config.bridge_training),
        max_length=config.max_length,
        mark=config.predicate_mark,
        adjacent=config.repeated_roles,
        device=config.device,
    )
    task.progress = progress

    def fit() -> dict[str, Any]:
        plan = FitPlan(seed=seed, steps=bridge.steps, patience=bridge.patience, restart=True)
        train, dev = as_dialogues(data.bridge_train), as_dialogues(data.bridge_dev)
        summary = task.fit(train, (), dev=dev[: bridge.dev], plan=plan)
        if not is_first():
            return {}
        with atomic_folder(folder, replace=True) as new:
            task.save(new)
        return {"sentences": len(train), "steps": summary.steps, "dev": dict(task.evaluate(dev))}

    run.do(informed_step(config), fit, together=True)
    return folder
