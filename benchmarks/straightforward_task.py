"""A task and a bridge on the straightforward loop, so that a whole iteration can be run with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from straightforward_loop import label_one_by_one, train_steps
from workloads import each_predicate, each_utterance

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.nn.task import TorchTask
from friend_training.nn.training import seed_everything
from friend_training.types import Sentence, SentenceRoles


def one_each(dialogue: Any) -> list[Any]:
    """The same input once for every predicate."""
    return [replace(dialogue, predicates=(predicate,)) for predicate in dialogue.predicates]


def label_apart(task: TorchTask, inputs: Sequence[Any]) -> list[list[Prediction]]:
    """Predictions of inputs with any number of predicates, each predicate an example of its own."""
    apart = [one_each(given) for given in inputs]
    definition: Any = task.definition
    found = iter(label_one_by_one(definition, task.network, [one for ones in apart for one in ones]))
    return [[next(found)[0] for _ in ones] for ones in apart]


@dataclass(frozen=True, slots=True)
class StraightforwardBridge:
    """The same trained bridge; every predicate by itself, nothing remembered."""

    task: TorchTask
    name: str = "straightforward"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(unit.label for unit in units) for units in label_apart(self.task, sentences)]


@dataclass(frozen=True, slots=True)
class StraightforwardTask:
    """The verbs of a task of ours, by the straightforward loop. It sees as many units in training as ours does."""

    task: TorchTask

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def label_type(self) -> Any:
        return self.task.label_type

    @property
    def main_metric(self) -> str:
        return self.task.main_metric

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        """No looks at dev but the last: so it is with ours in this benchmark."""
        seed_everything(plan.seed)
        definition: Any = self.task.definition
        items = definition.gold_items([one for example in gold for one in self._apart(example)])
        chosen = list(pseudo)
        for one in chosen:
            items.extend(definition.pseudo_items([one]))
        together = definition.gold_items(gold) + definition.pseudo_items(chosen)
        steps = round(plan.steps * len(items) / len(together))
        train_steps(definition, self.task.network, items, self.task.settings, seed=plan.seed, steps=steps)
        return FitSummary(steps, steps, self.evaluate(dev)[self.main_metric])

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        definition: Any = self.task.definition
        if self.name == "csrl":
            return label_apart(self.task, inputs)
        return label_one_by_one(definition, self.task.network, inputs)

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        definition: Any = self.task.definition
        scores: Mapping[str, float] = definition.score(gold, self.predict(definition.inputs_of(gold)))
        return scores

    def save(self, folder: Path) -> None:
        self.task.save(folder)

    def load(self, folder: Path) -> None:
        self.task.load(folder)

    def _apart(self, example: Any) -> list[Any]:
        return each_predicate(example) if self.name == "csrl" else each_utterance(example)
