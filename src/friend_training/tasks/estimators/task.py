"""Any classifier as a task: an object with `fit` and `predict_proba`, such as a scikit-learn classifier or pipeline."""

import inspect
import json
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import ConfigError, DataError, RunError, naming_missing_packages
from friend_training.runs.files import read_json_object
from friend_training.tasks.class_metrics import ClassMetric, classification_scores
from friend_training.tasks.given_examples import GivenExamples
from friend_training.types import text_of

# Classifiers on disk. No file here is a program: nothing is pickled, and nothing that is loaded runs code of its own.
#
# A model is saved by skops, which writes what the model is made of and, when it loads, makes only types it trusts. Of a
# model that skops does not trust or cannot write (a class of your own, a function among its parameters, a forest) the
# checkpoint holds what the model was fitted on instead, and loading fits it again.

NOTE, MODEL, TRAINING = "task.json", "model.skops", "training.json"

_SCHEMA = "schema.json"
"""Which part of a model is what, in a file of skops."""
ARRAY, SPARSE = "features.npy", "features.npz"

_REMEMBERED = 100
"""So many predictions of a model that is to be fitted again are saved, to see that it ends as the same model."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """All that one fit of a model was given."""

    features: Any
    labels: Sequence[str]
    weights: Sequence[float]
    seed: int

    def fit(self, untrained: Any, task: str) -> Any:
        """A trained copy of the model."""
        model = deepcopy(untrained)
        if seeds := unseeded(model):
            model.set_params(**dict.fromkeys(seeds, self.seed))
        fit_weighted(model, self.features, self.labels, self.weights, task=task)
        return model


def save_model(model: Any, fitted: Fitted | None, folder: Path, *, task: str) -> None:
    """Write the model, or what it was fitted on, and a note that says which and why."""
    refused = _save_by_skops(model, folder / MODEL)
    note: dict[str, Any] = {"task": task, "model": _kind_of(model)}
    if refused is None:
        note |= {"scikit-learn": _version("scikit-learn"), "trusted types": sorted(_types_in(folder / MODEL))}
    else:
        (folder / MODEL).unlink(missing_ok=True)
        if fitted is None:
            raise RunError(f"task {task}: {refused}, and what it was fitted on is not on record")
        _save_training(model, fitted, folder, task)
        note |= {"fitted again when it is loaded, because": refused}
    (folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def save_untrained(model: Any, path: Path) -> str | None:
    """Write a model as a file of skops; None, or why skops would not load it."""
    refused = _save_by_skops(model, path)
    if refused is not None:
        path.unlink(missing_ok=True)
    return refused


def untrained_model(path: Path) -> Any:
    """The model of a file that `save_untrained` wrote."""
    if not path.is_file():
        raise DataError("there is no such file", path=path)
    return _load_by_skops(path)


def load_model(folder: Path, *, task: str, untrained: Any) -> tuple[Any, Fitted | None]:
    """The model that was saved there, fitted again if need be, after its note was compared with what is expected."""
    if not (folder / NOTE).is_file():
        raise RunError(f"{folder}: there is no classifier here; {NOTE} was expected")
    note = read_json_object(folder / NOTE, "a note of the classifier")
    expected = {"task": task, "model": _kind_of(untrained)}
    if (folder / MODEL).is_file():
        expected["scikit-learn"] = _version("scikit-learn")
    for name, wanted in expected.items():
        if note.get(name) != wanted:
            raise RunError(f"{folder}: {name} of the saved classifier is {note.get(name)!r}, expected {wanted!r}")
    if (folder / MODEL).is_file():
        return _load_by_skops(folder / MODEL), None
    if (folder / TRAINING).is_file():
        return _fit_again(untrained, folder, task)
    raise RunError(f"{folder}: there is no classifier here; {MODEL} or {TRAINING} was expected")


def _save_by_skops(model: Any, path: Path) -> str | None:
    """Write the model; None, or why skops would not load it."""
    skops = _skops()
    try:
        skops.dump(model, path)
        _without_addresses(path)
    except Exception as error:  # whatever a model meets that skops was not made for
        return f"skops cannot write a {type(model).__name__}: {str(error).splitlines()[0]}"
    untrusted = skops.get_untrusted_types(file=path)
    return f"skops does not trust {', '.join(untrusted)}" if untrusted else None


_ADDRESS = re.compile(r'(?<="__id__": )\d+|(?<=")\d+(?=\.np[yz]")')


def _without_addresses(path: Path) -> None:
    """Number the parts of a file of skops, which go by their addresses in memory, and leave out the time.

    The same model then has the same bytes, whenever and in whatever process it is written.
    """
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = parts.pop(_SCHEMA).decode()
    numbers = {address: str(n) for n, address in enumerate(dict.fromkeys(_ADDRESS.findall(schema)))}
    named = {int(numbers[Path(name).stem]): (Path(name).suffix, content) for name, content in parts.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for number, (ending, content) in sorted(named.items()):
            archive.writestr(zipfile.ZipInfo(f"{number}{ending}"), content)
        archive.writestr(zipfile.ZipInfo(_SCHEMA), _ADDRESS.sub(lambda found: numbers[found[0]], schema))


def _load_by_skops(path: Path) -> Any:
    try:
        return _skops().load(path)
    except Exception as error:  # a file that is damaged, or has types in it that skops does not trust
        raise RunError(f"{path}: skops does not load this file: {str(error).splitlines()[0]}") from error


def _types_in(path: Path) -> set[str]:
    """The types that a file of skops names; those of which it is made are the ones that loading makes."""

    def named(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("__class__"), str):
                yield f"{node.get('__module__')}.{node['__class__']}"
            for inner in node.values():
                yield from named(inner)
        elif isinstance(node, list):
            for inner in node:
                yield from named(inner)

    with zipfile.ZipFile(path) as file:
        return set(named(json.loads(file.read("schema.json"))))


def _save_training(model: Any, fitted: Fitted, folder: Path, task: str) -> None:
    training = {"seed": fitted.seed, "labels": list(fitted.labels), "weights": list(fitted.weights)}
    features = fitted.features
    if isinstance(features, np.ndarray) and features.dtype != object:
        np.save(folder / ARRAY, features, allow_pickle=False)
    elif hasattr(features, "tocsr"):
        import_module("scipy.sparse").save_npz(folder / SPARSE, features.tocsr())
    elif _is_json(features):
        training["features"] = features
    else:
        raise RunError(
            f"task {task}: skops does not save this model, so what it is fitted on has to be on record; its features"
            f" are a {type(features).__name__}, expected an array, a sparse matrix or a list of texts or numbers"
        )
    training["probabilities"] = np.asarray(model.predict_proba(features[:_REMEMBERED]), dtype=np.float64).tolist()
    (folder / TRAINING).write_text(json.dumps(training, ensure_ascii=False) + "\n", encoding="utf-8")


def _fit_again(untrained: Any, folder: Path, task: str) -> tuple[Any, Fitted]:
    training = json.loads((folder / TRAINING).read_text(encoding="utf-8"))
    features = training.get("features")
    if (folder / ARRAY).is_file():
        features = np.load(folder / ARRAY, allow_pickle=False)
    elif (folder / SPARSE).is_file():
        features = import_module("scipy.sparse").load_npz(folder / SPARSE)
    fitted = Fitted(features, training["labels"], training["weights"], training["seed"])
    model = fitted.fit(untrained, task)
    again = np.asarray(model.predict_proba(features[:_REMEMBERED]), dtype=np.float64)
    before = np.asarray(training["probabilities"])
    if again.shape != before.shape or not np.allclose(again, before, rtol=0, atol=1e-6):
        raise RunError(
            f"{folder}: task {task}, fitted again on the same examples, predicts something else than before;"
            " expected a model with the same settings, all of whose randomness comes from its random_state"
        )
    return model, fitted


def _is_json(features: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(features)) == features)
    except (TypeError, ValueError):
        return False


def _kind_of(model: Any) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _skops() -> Any:
    with naming_missing_packages():
        return import_module("skops.io")


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
            stacklevel=4,
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
    return [text_of(given) for given in inputs]


class Estimator:
    """A unit is an input, its label a class, its confidence the probability of that class.

    `model` needs `fit(X, y)`, `predict_proba(X)` and, after fitting, `classes_`; it is never touched itself.
    `features` makes X of inputs. Each `fit` begins with a copy of the untrained model: there is no way to go on from
    old weights, so it takes no steps, `steps`, `restart` and `patience` of a plan mean nothing here, and Base with the
    same steps is Base. Weights of pseudo-labels are passed on as `sample_weight`; a `random_state` that was not set
    gets the plan's seed.

    A checkpoint is a file of skops and a note of the types in it, all of which skops trusts. Where it does not trust
    them all, the checkpoint has what the model was fitted on, and loading fits the model again, to the same
    predictions. Nothing is pickled.

    `gold`, `dev` and `test` are for FriendTrainer: a file, a DataFrame, a Dataset or a list of dicts, with the text and
    its label in the columns `text` and `label`.
    """

    label_type: Any = str
    takes_steps = False

    def __init__(
        self,
        name: str,
        model: Any,
        *,
        features: Callable[[Sequence[Any]], Any] = texts,
        text: str = "text",
        label: str = "label",
        id: str | None = None,
        gold: Any = None,
        dev: Any = None,
        test: Any = None,
        metric: ClassMetric = "accuracy",
    ) -> None:
        if isinstance(model, type):
            raise ConfigError(f"task {name}: the model is the class {model.__name__}, expected an object of it")
        if missing := [verb for verb in ("fit", "predict_proba") if not callable(getattr(model, verb, None))]:
            raise ConfigError(
                f"task {name}: {type(model).__name__} has no {' and no '.join(missing)}; expected a model that can fit"
                " and predict_proba (scikit-learn's CalibratedClassifierCV gives probabilities to one that has none)"
            )
        self.name, self.features = name, features
        self.examples = GivenExamples(gold, dev, test, {"text": text, "label": label}, id)
        self.main_metric: str = metric
        self._untrained = model
        self._trained: Any = None
        self._fitted: Fitted | None = None

    @property
    def untrained(self) -> Any:
        """The model as it was given."""
        return self._untrained

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
        self._fitted = Fitted(self.features(inputs), labels, weights, plan.seed)
        self._trained = self._fitted.fit(self._untrained, self.name)
        return FitSummary(1, 1, self.evaluate(dev)[self.main_metric] if dev else math.nan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        if not inputs:
            return []
        classes = [str(label) for label in self.model.classes_]
        table = self.model.predict_proba(self.features(inputs))  # [inputs, classes]
        best = [(int(row.argmax()), min(1.0, float(row.max()))) for row in table]
        return [[Prediction(given.id, classes[place], sure)] for given, (place, sure) in zip(inputs, best, strict=True)]

    def n_best(self, inputs: Sequence[Any], k: int) -> list[list[list[Prediction]]]:
        """The k likeliest classes of every input (`core.friendship.Ranking`); of equals the first by name."""
        if not inputs:
            return []
        classes = [str(label) for label in self.model.classes_]
        table = np.asarray(self.model.predict_proba(self.features(inputs)), np.float64)  # [inputs, classes]
        order = np.argsort(-table, axis=1, kind="stable")[:, :k]
        return [
            [[Prediction(given.id, classes[place], min(1.0, float(row[place]))) for place in places.tolist()]]
            for given, row, places in zip(inputs, table, order, strict=True)
        ]

    def log_likelihood(
        self, inputs: Sequence[Any], labels: Sequence[Sequence[Sequence[Any]]]
    ) -> list[list[list[float]]]:
        """The log-probabilities of some classes of every input; -inf for a class that the model does not know."""
        if not inputs:
            return []
        places = {str(label): place for place, label in enumerate(self.model.classes_)}
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(self.model.predict_proba(self.features(inputs)), np.float64))
        return [
            [[float(row[places[label]]) if label in places else -math.inf for label in unit] for unit in units]
            for row, units in zip(logs, labels, strict=True)
        ]

    def evaluate(self, gold: Sequence[Labelled]) -> Mapping[str, float]:
        predicted = self.predict([given for given, _ in gold])
        return classification_scores([units[0].label for units in predicted], [label for _, label in gold])

    def save(self, folder: str | Path) -> None:
        save_model(self.model, self._fitted, Path(folder), task=self.name)

    def load(self, folder: str | Path) -> None:
        self._trained, self._fitted = load_model(Path(folder), task=self.name, untrained=self._untrained)
