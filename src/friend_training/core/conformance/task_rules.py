"""check_task: does a task keep the promises that the loop, the store and resuming rely on?"""

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from friend_training.core.conformance.rules import BATCH_TOLERANCE, ConformanceError, try_rules
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import ConfigError

Faults = Iterator[str]


@dataclass(frozen=True)
class TaskTrial:
    """A task on trial: how to make one, what to train and try it on, and one that is trained, once, when first asked.

    What the task returns is `Any` here: whether it keeps to the types of the protocol is what is being tried.
    """

    make: Callable[[], Task]
    gold: Sequence[Any]
    dev: Sequence[Any]
    inputs: Sequence[Any]
    plan: FitPlan

    @cached_property
    def fitted(self) -> tuple[Task, Any]:
        task = self.make()
        return task, task.fit(self.gold, [], dev=self.dev, plan=self.plan)

    @property
    def task(self) -> Task:
        return self.fitted[0]

    @cached_property
    def predictions(self) -> Any:
        return self.task.predict(self.inputs)

    @property
    def units(self) -> list[Any]:
        return [prediction for predictions in self.predictions for prediction in predictions]


def check_task(
    task_factory: Callable[[], Task],
    *,
    gold: Sequence[Any],
    dev: Sequence[Any],
    inputs: Sequence[Any],
    steps: int = 20,
) -> None:
    """Raise ConformanceError with every broken rule, or return in peace.

    `task_factory` makes a new, untrained task each time. It is trained on `gold` five times, `steps` steps each, so
    give it little; `inputs` are unlabeled, with ids that differ.
    """
    ids = [x.id for x in inputs]
    if len(ids) < 2 or len(set(ids)) < len(ids) or not gold or not dev:
        raise ConfigError("check_task needs some gold, some dev and at least two inputs, whose ids all differ")
    trial = TaskTrial(make=task_factory, gold=gold, dev=dev, inputs=inputs, plan=FitPlan(seed=7, steps=steps))
    violations = try_rules(trial, _STAGES)
    if violations:
        raise ConformanceError(f"task {getattr(task_factory(), 'name', '?')!r}", violations)


def has_the_members_of_a_task(trial: TaskTrial) -> Faults:
    task: Any = trial.make()
    members = ("name", "label_type", "main_metric", "fit", "predict", "evaluate", "save", "load")
    if missing := [member for member in members if not hasattr(task, member)]:
        yield f"it has no {', '.join(missing)}"


def fit_accepts_no_pseudo_labels(trial: TaskTrial) -> Faults:
    summary = trial.fitted[1]
    if not isinstance(summary, FitSummary):
        yield f"fit returned {summary!r}, not a FitSummary"


def predict_gives_one_list_per_input(trial: TaskTrial) -> Faults:
    if len(trial.predictions) != len(trial.inputs):
        yield f"{len(trial.predictions)} lists for {len(trial.inputs)} inputs"
    for unit in trial.units:
        if not isinstance(unit, Prediction):
            yield f"{unit!r} is not a Prediction"


def predict_keeps_the_order_of_inputs(trial: TaskTrial) -> Faults:
    for x, predictions in zip(trial.inputs, trial.predictions, strict=True):
        alone = [p.unit for p in trial.task.predict([x])[0]]
        if alone != (together := [p.unit for p in predictions]):
            yield f"input {x.id} has the units {alone} when asked alone, and {together} in its place among others"


def units_are_unique(trial: TaskTrial) -> Faults:
    seen: set[str] = set()
    for prediction in trial.units:
        if prediction.unit in seen:
            yield f"unit {prediction.unit!r} occurs twice"
        seen.add(prediction.unit)


def confidence_is_in_the_unit_interval(trial: TaskTrial) -> Faults:
    for prediction in trial.units:
        if not 0.0 <= prediction.confidence <= 1.0:  # also false for NaN
            yield f"unit {prediction.unit!r} has confidence {prediction.confidence}"


def labels_survive_json(trial: TaskTrial) -> Faults:
    adapter = TypeAdapter[Any](trial.task.label_type)
    for prediction in trial.units:
        with warnings.catch_warnings(action="ignore"):  # a label of another type: said below, in our words
            written = adapter.dump_json(prediction.label)
        if (read := adapter.validate_json(written)) != prediction.label:
            yield f"unit {prediction.unit!r}: label {prediction.label!r} is read back as {read!r}"


def predict_repeats_itself(trial: TaskTrial) -> Faults:
    yield from _differences(trial.predictions, trial.task.predict(trial.inputs), "at the first call", "at the second")


def predict_does_not_depend_on_the_batch(trial: TaskTrial) -> Faults:
    """Sharding, resuming and another batch size must not change what is chosen."""
    backwards = trial.task.predict(trial.inputs[::-1])[::-1]
    alone = [trial.task.predict([x])[0] for x in trial.inputs]
    pairs = [
        ({p.unit: p for p in together}.get(prediction.unit, prediction), prediction)
        for elsewhere in (backwards, alone)
        for together, predictions in zip(trial.predictions, elsewhere, strict=True)
        for prediction in predictions
    ]
    for other, prediction in pairs:
        if (other.label, other.content) != (prediction.label, prediction.content):
            yield f"unit {prediction.unit!r} is {other.label!r} in one batch and {prediction.label!r} in another"
        if abs(other.confidence - prediction.confidence) > BATCH_TOLERANCE:
            yield (
                f"unit {prediction.unit!r} has confidence {other.confidence} in one batch "
                f"and {prediction.confidence} in another"
            )


def predict_accepts_no_input(trial: TaskTrial) -> Faults:
    if len(answer := trial.task.predict([])) != 0:
        yield f"predict([]) gives {answer!r}"


def evaluate_gives_finite_numbers(trial: TaskTrial) -> Faults:
    metrics: Any = trial.task.evaluate(trial.dev)
    if not isinstance(metrics, Mapping):
        yield f"evaluate returned {metrics!r}, not a mapping of names to numbers"
    for name, value in metrics.items():
        if not isinstance(value, float | int) or not math.isfinite(value):
            yield f"{name} is {value!r}"


def evaluate_gives_the_main_metric(trial: TaskTrial) -> Faults:
    names = sorted(trial.task.evaluate(trial.dev))
    if trial.task.main_metric not in names:
        yield f"main_metric is {trial.task.main_metric!r}, but evaluate gives {names}"


def fit_accepts_its_own_pseudo_labels(trial: TaskTrial) -> Faults:
    pseudo = [
        PseudoLabel(input=x, unit=prediction.unit, label=prediction.label, weight=0.5)
        for x, predictions in zip(trial.inputs, trial.predictions, strict=True)
        for prediction in predictions
    ]
    task = trial.make()
    task.fit(trial.gold, pseudo, dev=trial.dev, plan=trial.plan)
    if (lists := len(task.predict(trial.inputs))) != len(trial.inputs):
        yield f"after training on pseudo-labels predict gives {lists} lists for {len(trial.inputs)} inputs"


def fit_repeats_with_the_same_seed(trial: TaskTrial) -> Faults:
    twin = trial.make()
    summary = twin.fit(trial.gold, [], dev=trial.dev, plan=trial.plan)
    if summary != trial.fitted[1]:
        yield f"one training ends with {trial.fitted[1]}, the same again with {summary}"
    yield from _differences(trial.predictions, twin.predict(trial.inputs), "after training", "after the same again")


def load_restores_what_was_saved(trial: TaskTrial) -> Faults:
    yield from _differences(trial.predictions, _reloaded(trial).predict(trial.inputs), "before saving", "after loading")


def training_goes_on_after_loading(trial: TaskTrial) -> Faults:
    """A resumed run must give the same bits as one that never stopped. Trains the shared task on: the last rule."""
    loaded, original, plan = _reloaded(trial), trial.task, replace(trial.plan, seed=trial.plan.seed + 1)
    for task in (loaded, original):
        task.fit(trial.gold, [], dev=trial.dev, plan=plan)
    yield from _differences(
        original.predict(trial.inputs), loaded.predict(trial.inputs), "trained on", "loaded and trained on"
    )


_STAGES: Sequence[Sequence[Callable[[TaskTrial], Faults]]] = (
    (has_the_members_of_a_task,),
    (fit_accepts_no_pseudo_labels,),
    (predict_gives_one_list_per_input,),
    (
        predict_keeps_the_order_of_inputs,
        units_are_unique,
        confidence_is_in_the_unit_interval,
        labels_survive_json,
        predict_repeats_itself,
        predict_does_not_depend_on_the_batch,
        predict_accepts_no_input,
        evaluate_gives_finite_numbers,
        evaluate_gives_the_main_metric,
        fit_accepts_its_own_pseudo_labels,
        fit_repeats_with_the_same_seed,
        load_restores_what_was_saved,
    ),
    (training_goes_on_after_loading,),
)


def _reloaded(trial: TaskTrial) -> Task:
    fresh = trial.make()
    with tempfile.TemporaryDirectory() as folder:
        trial.task.save(Path(folder))
        fresh.load(Path(folder))
    return fresh


def _differences(
    these: Sequence[Sequence[Prediction]], those: Sequence[Sequence[Prediction]], when_these: str, when_those: str
) -> Faults:
    if len(these) != len(those):
        yield f"{len(these)} lists {when_these}, {len(those)} {when_those}"
    for left, right in zip(these, those, strict=False):
        if list(left) != list(right):
            yield f"{left} {when_these}, {right} {when_those}"
