"""Weights of examples, and seeds, for models that may or may not know what to do with them."""

import inspect
import warnings
from collections.abc import Sequence
from typing import Any


def fit_weighted(model: Any, features: Any, labels: Sequence[str], weights: Sequence[float], *, task: str) -> None:
    """Fit with `sample_weight` where weights differ from 1 and the model takes them; else say that they are lost."""
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
