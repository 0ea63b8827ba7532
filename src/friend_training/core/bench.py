"""The tasks in memory, and which checkpoint each of them is just now."""

from collections.abc import Mapping

from friend_training.core.checkpoint import load_checkpoint, save_checkpoint
from friend_training.core.plan import TaskPlan
from friend_training.core.processes import is_first
from friend_training.core.run import Run
from friend_training.core.task import Task


class Bench:
    """Hands out tasks in the state of a given iteration and loads a checkpoint only when it has to.

    Whoever trains says `forget` before and `keep` after. `keep` saves and loads again: so the task in memory is exactly
    what a resumed run will find on disk, also for a task that saves less than it holds. A process that does not write
    has forgotten the task instead: it loads what the first one saved, once that is on record.
    """

    def __init__(self, run: Run, plans: Mapping[str, TaskPlan]) -> None:
        self._run, self._plans = run, plans
        self._current: dict[str, int | None] = dict.fromkeys(plans)

    def at(self, name: str, iteration: int) -> Task:
        """The task as it was after this iteration's training."""
        task = self._plans[name].task
        iteration = self._plans[name].checkpoint_of(iteration)
        if self._current[name] != iteration:
            self.forget(name)
            digest = self._run.require(f"train-{name}-{iteration}")["digest"]
            load_checkpoint(task, self._run.checkpoint(name, iteration), digest=digest)
            self._current[name] = iteration
        return task

    def forget(self, name: str) -> None:
        """The task is about to change: if that is interrupted, it is no checkpoint at all."""
        self._current[name] = None

    def keep(self, name: str, iteration: int) -> str:
        """Save the task as this iteration's checkpoint; returns its digest."""
        task, folder = self._plans[name].task, self._run.checkpoint(name, iteration)
        digest = save_checkpoint(task, folder)
        if not is_first():
            return digest
        load_checkpoint(task, folder)
        self._current[name] = iteration
        return digest
