"""Any classifier as a task: an object with `fit` and `predict_proba`, such as a scikit-learn classifier or pipeline."""

import hashlib
import inspect
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import DataError, RunError, naming_missing_packages
from friend_training.tasks.class_metrics import ClassMetric, classification_scores

# Classifiers on disk, as scikit-learn's own documentation saves them: with joblib.
#
# The networks of this package are saved as safetensors, which can hold numbers and nothing else. A scikit-learn model
# is an arbitrary Python object, and joblib, like the pickle it is built on, stores objects as instructions: WHOEVER
# LOADS SUCH A FILE RUNS IT. So a checkpoint of a classifier is a program. Load those that your own runs wrote, and none
# that somebody sent you; a run checks the digest of its checkpoints before it loads them, and here the file must be the
# one that was written beside its `task.json`, by the same version of scikit-learn: another version may read it without
# an error and predict something else.


MODEL, NOTE = "model.joblib", "task.json"


def save_model(model: Any, folder: Path, *, task: str) -> None:
    """Write the model, and a note of what it is."""
    _joblib().dump(model, folder / MODEL)
    (folder / NOTE).write_text(json.dumps(_note(type(model), folder, task)) + "\n", encoding="utf-8")


def load_model(folder: Path, *, task: str, kind: type) -> Any:
    """The model that was saved there, after its note has been compared with what is expected."""
    if not (folder / NOTE).is_file() or not (folder / MODEL).is_file():
        raise RunError(f"{folder}: there is no classifier here; {NOTE} and {MODEL} were expected")
    found = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    for name, wanted in _note(kind, folder, task).items():
        if found.get(name) != wanted:
            raise RunError(f"{folder}: {name} of the saved classifier is {found.get(name)!r}, expected {wanted!r}")
    return _joblib().load(folder / MODEL)


def _note(kind: type, folder: Path, task: str) -> dict[str, str]:
    return {
        "task": task,
        "model": f"{kind.__module__}.{kind.__qualname__}",
        "scikit-learn": _version("scikit-learn"),
        "sha256": hashlib.sha256((folder / MODEL).read_bytes()).hexdigest(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _joblib() -> Any:
    with naming_missing_packages():
        return import_module("joblib")


def fit_weighted(model: Any, features: Any, labels: Sequence[str], weights: Sequence[float], *, task: str) -> None:
    """Fit with `sample_weight` where weights differ from 1 and the model takes them; else warn that they are lost."""
    argument = weight_argument(model)
    if all(weight == 1.0 for weight in weights):
        model.fit(features, list(labels))
    elif argument is not None:
        model.fit(features, list(labels), **{argument: list(weights)})
    else:
        warnings.warn(
            f"task {task}: {type(model).__name__} takes no sample_weight, so every example counts the same",
            stacklevel=3,
        )
        model.fit(features, list(labels))


def weight_argument(model: Any) -> str | None:
    """What `fit` calls the weights; of a pipeline its last step takes them. None: nobody does."""
    steps = getattr(model, "steps", None)
    if steps:
        name, last = steps[-1]
        inner = weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if "sample_weight" in inspect.signature(model.fit).parameters else None


def unseeded(model: Any) -> tuple[str, ...]:
    """The `random_state` parameters, nested ones too, that nobody has set: a run sets them, so that it can repeat."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    states = [name for name in parameters if name.split("__")[-1] == "random_state"]
    return tuple(name for name in sorted(states) if parameters[name] is None)


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
