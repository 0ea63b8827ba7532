"""Methods that work inside training: the task stays what it is, only the way it is updated becomes the method's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from friend_training.core.listener import Listener
from friend_training.core.picks import Nothing
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import Outcome, friend_train
from friend_training.nn.memory import device_of, explain_full_device
from friend_training.nn.torch_protocol import NetworkTask

Train = Callable[[Sequence[Any], Sequence[PseudoLabel], Sequence[Any], FitPlan], FitSummary]
"""An update as the method does it: gold, chosen pseudo-labels, dev and the plan."""


class State(Protocol):
    """What a method has to find again besides the task: `load` comes after the task has loaded the same folder."""

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None: ...


class InsideTask:
    """A task whose updates are the method's. Its Base (`restart`) is the one that all methods start from."""

    def __init__(self, task: NetworkTask, train: Train, state: State | None = None) -> None:
        self.task, self.train, self.state = task, train, state
        self.name, self.label_type, self.main_metric = task.name, task.label_type, task.main_metric

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        if plan.restart:
            return self.task.fit(gold, pseudo, dev=dev, plan=plan)
        with explain_full_device(self.name, self.task.settings, "batch_size", device_of(self.task.network)):
            return self.train(gold, pseudo, dev, plan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return self.task.predict(inputs)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return self.task.evaluate(gold)

    def save(self, folder: Path) -> None:
        self.task.save(folder)
        if self.state is not None:
            self.state.save(folder)

    def load(self, folder: Path) -> None:
        self.task.load(folder)
        if self.state is not None:
            self.state.load(folder)


def going_on(plan: TaskPlan, method: str) -> TaskPlan:
    """The plan, if its updates go on from the last weights: a method with a teacher cannot begin anew each time."""
    if plan.update is None:
        raise ConfigError(f"{method}: task {plan.task.name!r} has no update, and to update it is all the method does")
    if plan.update.restart:
        raise ConfigError(f"{method} goes on from Base: task {plan.task.name!r} cannot restart in each iteration")
    return plan


def train_inside(
    run: Run,
    plans: Mapping[str, TaskPlan],
    *,
    settings: LoopSettings,
    beside: Mapping[str, TaskPlan] | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """The loop with nothing to label or select: each iteration is one update, saved, and scored on dev.

    The tasks `beside` only get their Base, for the others to use.
    """
    nothing = [Selector(Nothing())] * settings.iterations
    trained = {name: replace(plan, selectors=nothing) for name, plan in plans.items()}
    fixed = {name: replace(plan, update=None, test={}) for name, plan in (beside or {}).items()}
    found = friend_train(run, {**fixed, **trained}, (), (), settings=settings, listener=listener)
    return {name: found[name] for name in plans}
