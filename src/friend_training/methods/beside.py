"""A task that learns its friends' labels beside its own: one network, a head for each, and only its own head answers.

A pseudo-label of a friend says something of the dialogue that the task may need too (who did what to whom, for a
rewriter). Matching uses it to judge labels; here the encoder learns it. The network goes on from Multitask-Base, so
that every head is there and has seen its gold; an update learns the task's own gold and chosen labels and, in as many
examples of every batch, each friend's. Of the looks at dev the best for the task itself is kept. What the friends'
own networks learn is not touched.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from friend_training.core.beside import Lesson
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import ConfigError
from friend_training.nn.one_network import fit_in_one_network
from friend_training.nn.torch_protocol import NetworkTask

SIDE = "beside"


class BesideTask:
    """The task, with a side head for each friend. `start` has Multitask-Base's checkpoint of each friend."""

    def __init__(self, task: NetworkTask, friends: Mapping[str, NetworkTask], start: Mapping[str, Path]) -> None:
        self.task, self.friends, self.start = task, friends, start
        self.name, self.label_type, self.main_metric = task.name, task.label_type, task.main_metric
        self._sides_at: Mapping[str, Path] = start

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        raise ConfigError(f"task {self.name!r} learns beside {', '.join(self.friends)}: name them in its plan (beside)")

    def fit_beside(
        self,
        gold: Sequence[Any],
        pseudo: Sequence[PseudoLabel],
        *,
        beside: Mapping[str, Lesson],
        dev: Sequence[Any],
        plan: FitPlan,
    ) -> FitSummary:
        """As many steps as the task has by itself for each task in the network, with its share of every batch."""
        for name, friend in self.friends.items():
            friend.load(self._sides_at[name])
        tasks = {self.name: self.task, **self.friends}
        lessons = {self.name: Lesson(gold, pseudo, plan.pseudo_weight), **beside}
        whole = FitPlan(seed=plan.seed, steps=plan.steps * len(tasks), restart=plan.restart, patience=plan.patience)
        return fit_in_one_network(tasks, lessons, dev={self.name: dev}, plan=whole, method=f"{self.name} beside")

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        return self.task.predict(inputs)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        return self.task.evaluate(gold)

    def save(self, folder: Path) -> None:
        """The task's own files stand where they always do, so that it can be used without its friends."""
        self.task.save(folder)
        for name, friend in self.friends.items():
            (folder / SIDE / name).mkdir(parents=True)
            friend.save(folder / SIDE / name)

    def load(self, folder: Path) -> None:
        """A Base has no sides in its folder: they begin as Multitask-Base's."""
        self.task.load(folder)
        trained = (folder / SIDE).is_dir()
        self._sides_at = {name: folder / SIDE / name if trained else self.start[name] for name in self.friends}
