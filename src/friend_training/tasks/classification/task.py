"""Any classifier as a task: an object with `fit` and `predict_proba`, such as a scikit-learn classifier or pipeline."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import DataError, RunError
from friend_training.tasks.classification.metrics import ClassMetric, classification_scores
from friend_training.tasks.classification.saving import load_model, save_model
from friend_training.tasks.classification.weights import fit_weighted, unseeded

Labelled = tuple[Any, str]
"""An input and its class: what gold, dev and test consist of."""


def texts(inputs: Sequence[Any]) -> Any:
    """What a pipeline that begins with a vectorizer wants to see of inputs that have a text."""
    return [given.text for given in inputs]


class ClassifierTask:
    """A unit is an input, its label a class, its confidence the probability of that class.

    `model` needs `fit(X, y)`, `predict_proba(X)` and, after fitting, `classes_`; it is never touched itself.
    `features` makes X of inputs. Each `fit` begins with a copy of the untrained model: there is no way to go on from
    old weights, so `steps`, `restart` and `patience` of a plan mean nothing here, and Base with the same steps is
    Base. Weights of pseudo-labels are passed on as `sample_weight`; a `random_state` that was not set gets the plan's
    seed.
    """

    label_type: Any = str

    def __init__(
        self,
        name: str,
        model: Any,
        *,
        features: Callable[[Sequence[Any]], Any] = texts,
        main_metric: ClassMetric = "accuracy",
    ) -> None:
        self.name, self.features, self.main_metric = name, features, main_metric
        self._untrained = model
        self._trained: Any = None

    @property
    def model(self) -> Any:
        """The trained model."""
        if self._trained is None:
            raise RunError(f"task {self.name} is not trained yet: fit it or load it first")
        return self._trained

    def fit(
        self, gold: Sequence[Labelled], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Labelled], plan: FitPlan
    ) -> FitSummary:
        classes = sorted({label for _, label in gold})
        if len(classes) < 2:
            raise DataError(f"task {self.name}: gold of at least two classes was expected, there is {classes}")
        inputs = [given for given, _ in gold] + [one.input for one in pseudo]
        labels = [label for _, label in gold] + [one.label for one in pseudo]
        weights = [1.0] * len(gold) + [one.weight for one in pseudo]
        model = deepcopy(self._untrained)
        if seeds := unseeded(model):
            model.set_params(**dict.fromkeys(seeds, plan.seed))
        fit_weighted(model, self.features(inputs), labels, weights, task=self.name)
        self._trained = model
        return FitSummary(1, 1, self.evaluate(dev)[self.main_metric] if dev else math.nan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        if not inputs:
            return []
        classes = [str(label) for label in self.model.classes_]
        table = self.model.predict_proba(self.features(inputs))  # [inputs, classes]
        best = [(int(row.argmax()), min(1.0, float(row.max()))) for row in table]
        return [[Prediction(given.id, classes[place], sure)] for given, (place, sure) in zip(inputs, best, strict=True)]

    def evaluate(self, gold: Sequence[Labelled]) -> Mapping[str, float]:
        predicted = self.predict([given for given, _ in gold])
        return classification_scores([units[0].label for units in predicted], [label for _, label in gold])

    def save(self, folder: str | Path) -> None:
        folder = Path(folder)
        save_model(self.model, folder, task=self.name)

    def load(self, folder: str | Path) -> None:
        folder = Path(folder)
        self._trained = load_model(folder, task=self.name, kind=type(self._untrained))
