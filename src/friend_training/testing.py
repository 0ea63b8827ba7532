"""Conformance suites for tasks, matchers and friendships of your own, as scikit-learn has for estimators.

`check_task`: does a task keep the promises that the loop, the store and resuming rely on? `check_matcher` and
`check_friendship`: are matching scores what the selector and the store take them for?
"""

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from friend_training.core.friendship import Friendship, Match, Matcher
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel, Task
from friend_training.errors import ConfigError, FriendTrainingError

__all__ = ["ConformanceError", "MatchCase", "Violation", "check_friendship", "check_matcher", "check_task"]

T = TypeVar("T")


BATCH_TOLERANCE = 1e-4
"""How far a confidence or score may move when the batch around it changes: floating point sums in another order."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and the first fault that was found."""

    rule: str
    fault: str


class ConformanceError(FriendTrainingError):
    """All the rules that a task, matcher or friendship breaks, in one message."""

    def __init__(self, subject: str, violations: Sequence[Violation]) -> None:
        listed = "".join(f"\n  {violation.rule}: {violation.fault}" for violation in violations)
        super().__init__(f"{subject} breaks {len(violations)} rule(s):{listed}")
        self.violations = tuple(violations)

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(violation.rule for violation in self.violations)


def try_rules(subject: T, stages: Sequence[Sequence[Callable[[T], Iterator[str]]]]) -> list[Violation]:
    """The broken rules of the first stage that has any: later stages build on what earlier ones have established.

    A rule is a function that yields the faults it finds; its name is the rule's name.
    """
    for stage in stages:
        faults = {rule.__name__: _first_fault(rule, subject) for rule in stage}
        violations = [Violation(rule, fault) for rule, fault in faults.items() if fault is not None]
        if violations:
            return violations
    return []


def _first_fault(rule: Callable[[T], Iterator[str]], subject: T) -> str | None:
    try:
        return next(rule(subject), None)
    except Exception as error:  # whatever the code under test raises is its fault, and belongs in the report
        return f"raised {type(error).__name__}: {error}"


Faults = Iterator[str]


@dataclass(frozen=True, slots=True)
class MatchCase:
    """Two translations of one input, how many units each covers, and whether they are known to agree entirely."""

    first: Any
    second: Any
    first_units: int
    second_units: int
    agree: bool = False


@dataclass(frozen=True, slots=True)
class MatcherTrial:
    matcher: Matcher
    cases: Sequence[MatchCase]

    def match(self, cases: Sequence[MatchCase]) -> Sequence[Match]:
        return self.matcher([case.first for case in cases], [case.second for case in cases])


def check_matcher(matcher: Matcher, *, cases: Sequence[MatchCase], symmetric: bool = False) -> None:
    """Raise ConformanceError with every broken rule, or return in peace.

    At least one of the cases must be known to agree (the translations of gold labels, say). `symmetric` asks for the
    same scores when the two sides change places.
    """
    if violations := _broken_by_matcher(matcher, cases, symmetric):
        raise ConformanceError("the matcher", violations)


def _broken_by_matcher(matcher: Matcher, cases: Sequence[MatchCase], symmetric: bool) -> list[Violation]:
    if len(cases) < 2 or not any(case.agree for case in cases):
        raise ConfigError("check_matcher needs at least two cases, one of them known to agree")
    stages = [*_MATCHER_STAGES, *([(matching_is_symmetric,)] if symmetric else [])]
    return try_rules(MatcherTrial(matcher, cases), stages)


def check_friendship(
    friendship: Friendship,
    *,
    inputs: Sequence[Any],
    first: Sequence[Sequence[Prediction]],
    second: Sequence[Sequence[Prediction]],
    agreeing: Sequence[int],
    symmetric: bool = False,
) -> None:
    """Raise ConformanceError with every broken rule of its translations, matcher and proposals, or return in peace.

    `agreeing` are the places of inputs whose predictions of both tasks are known to agree (gold labels, say).
    """
    trial = FriendshipTrial(friendship, inputs, first, second)
    violations = try_rules(trial, _TRANSLATION_STAGES)
    if violations:
        raise ConformanceError(_described(friendship), violations)
    outer = [
        MatchCase((x, a), (x, b), first_units=len(a), second_units=len(b), agree=place in agreeing)
        for place, (x, a, b) in enumerate(zip(inputs, first, second, strict=True))
    ]
    inner = [
        MatchCase(a, b, case.first_units, case.second_units, case.agree)
        for a, b, case in zip(
            friendship.translate_first(inputs, first), friendship.translate_second(inputs, second), outer, strict=True
        )
    ]

    def match_with_translation(left: Sequence[Any], right: Sequence[Any], /) -> Sequence[Match]:
        return friendship.match([x for x, _ in left], [a for _, a in left], [b for _, b in right])

    violations = (
        _broken_by_matcher(friendship.matcher, inner, symmetric)
        or try_rules(MatcherTrial(match_with_translation, outer), _FRIENDSHIP_STAGES)
        or try_rules(trial, _PROPOSAL_STAGES)
    )
    if violations:
        raise ConformanceError(_described(friendship), violations)


def _described(friendship: Friendship) -> str:
    return f"friendship {friendship.name!r} of {friendship.first} and {friendship.second}"


@dataclass(frozen=True, slots=True)
class FriendshipTrial:
    """A friendship on trial, and predictions of its two tasks for the same inputs."""

    friendship: Friendship
    inputs: Sequence[Any]
    first: Sequence[Sequence[Prediction]]
    second: Sequence[Sequence[Prediction]]

    @property
    def translations(self) -> list[tuple[str, Any, Sequence[Sequence[Prediction]]]]:
        """The name of each task, how its predictions are translated, and these."""
        friendship = self.friendship
        return [
            (friendship.first, friendship.translate_first, self.first),
            (friendship.second, friendship.translate_second, self.second),
        ]

    @property
    def proposals(self) -> list[tuple[str, Any, Sequence[Sequence[Prediction]], Sequence[Sequence[Prediction]]]]:
        """What is proposed to whom: its own predictions, and the friend's."""
        friendship = self.friendship
        both = [
            (friendship.first, friendship.propose_first, self.first, self.second),
            (friendship.second, friendship.propose_second, self.second, self.first),
        ]
        return [(task, propose, own, friends) for task, propose, own, friends in both if propose is not None]


def translations_give_one_element_per_input(trial: FriendshipTrial) -> Faults:
    for task, translate, predictions in trial.translations:
        try:
            found = translate(trial.inputs, predictions)
        except Exception as error:
            yield f"the translation of {task} raised {type(error).__name__}: {error}"
            continue
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            yield f"the translation of {task} gave {found!r}, not one element of Σ for each input"
        elif len(found) != len(trial.inputs):
            yield f"the translation of {task} gave {len(found)} elements for {len(trial.inputs)} inputs"


def translations_accept_no_input(trial: FriendshipTrial) -> Faults:
    for task, translate, _ in trial.translations:
        if len(answer := translate([], [])) != 0:
            yield f"the translation of {task} gives {answer!r} for no input"


def proposals_are_one_per_unit(trial: FriendshipTrial) -> Faults:
    """Each is None, or a prediction for the unit that stands there, with a label of its kind."""
    for task, propose, own, friends in trial.proposals:
        found = propose(trial.inputs, own, friends)
        if (given := list(map(len, found))) != (wanted := list(map(len, own))):
            yield f"{given} proposals to {task}, which has {wanted} units"
        for units, proposed in zip(own, found, strict=False):
            yield from _wrong_proposals(task, units, proposed)


def _wrong_proposals(task: str, units: Sequence[Prediction], proposed: Sequence[Any]) -> Faults:
    for unit, proposal in zip(units, proposed, strict=False):
        if proposal is None:
            continue
        if not isinstance(proposal, Prediction) or proposal.unit != unit.unit:
            yield f"{proposal!r} is proposed to {task} for unit {unit.unit!r}, expected a Prediction for it or None"
        elif not isinstance(proposal.label, type(unit.label)):
            yield f"{proposal.label!r} is proposed to {task}, whose label there is {unit.label!r}"
        elif not 0.0 <= proposal.confidence <= 1.0:
            yield f"unit {unit.unit!r} is proposed to {task} with confidence {proposal.confidence}"


def proposing_does_not_depend_on_the_batch(trial: FriendshipTrial) -> Faults:
    for task, propose, own, friends in trial.proposals:
        together = propose(trial.inputs, own, friends)
        for place, given in enumerate(trial.inputs):
            alone = propose([given], [own[place]], [friends[place]])[0]
            if list(alone) != list(together[place]):
                yield f"{alone} is proposed to {task} when input {given.id} is alone, {together[place]} among others"


_TRANSLATION_STAGES: Sequence[Sequence[Callable[[FriendshipTrial], Faults]]] = (
    (translations_give_one_element_per_input,),
    (translations_accept_no_input,),
)

_PROPOSAL_STAGES: Sequence[Sequence[Callable[[FriendshipTrial], Faults]]] = (
    (proposals_are_one_per_unit,),
    (proposing_does_not_depend_on_the_batch,),
)


def match_gives_one_score_per_unit(trial: MatcherTrial) -> Faults:
    matches = trial.match(trial.cases)
    if wrong := [match for match in matches if not isinstance(match, Match)]:
        yield f"{wrong[0]!r} is not a Match, which has a score for each unit of either side"
        return
    if len(matches) != len(trial.cases):
        yield f"{len(matches)} matches for {len(trial.cases)} pairs"
    for place, (case, match) in enumerate(zip(trial.cases, matches, strict=False)):
        if (given := (len(match.first), len(match.second))) != (wanted := (case.first_units, case.second_units)):
            yield f"pair {place}: {given} scores for {wanted} units"


def scores_are_in_the_unit_interval(trial: MatcherTrial) -> Faults:
    for place, match in enumerate(trial.match(trial.cases)):
        yield from _out_of_range(place, (*match.first, *match.second))


def matching_repeats_itself(trial: MatcherTrial) -> Faults:
    yield from _match_differences(trial.match(trial.cases), trial.match(trial.cases), 0.0, "at the second call")


def matching_does_not_depend_on_the_batch(trial: MatcherTrial) -> Faults:
    together = trial.match(trial.cases)
    backwards = trial.match(trial.cases[::-1])[::-1]
    alone = [trial.match([case])[0] for case in trial.cases]
    yield from _match_differences(together, backwards, BATCH_TOLERANCE, "in a batch in reverse order")
    yield from _match_differences(together, alone, BATCH_TOLERANCE, "when matched alone")


def matching_accepts_no_pairs(trial: MatcherTrial) -> Faults:
    if len(answer := trial.match([])) != 0:
        yield f"no pairs give {answer!r}"


def agreeing_pairs_score_one(trial: MatcherTrial) -> Faults:
    agreeing = [place for place, case in enumerate(trial.cases) if case.agree]
    matches = trial.match(trial.cases)
    scores = [(place, score) for place in agreeing for score in (*matches[place].first, *matches[place].second)]
    if all(score is None for _, score in scores):
        yield "not a single unit of the agreeing pairs has a score"
    for place, score in scores:
        if score is not None and score != 1.0:
            yield f"pair {place} agrees but scores {score}"


def foreign_translations_are_scored(trial: MatcherTrial) -> Faults:
    """Measuring ε, and the control with a shuffled friend, pair translations of different inputs."""
    firsts, seconds = [case.first for case in trial.cases], [case.second for case in trial.cases]
    for place, (case, match) in enumerate(
        zip(trial.cases, trial.matcher(firsts, [*seconds[1:], seconds[0]]), strict=True)
    ):
        if len(match.first) != case.first_units:
            yield f"pair {place} with the friend of another input: {len(match.first)} scores, {case.first_units} units"
        yield from _out_of_range(place, match.first)


def matching_is_symmetric(trial: MatcherTrial) -> Faults:
    swapped = trial.matcher([case.second for case in trial.cases], [case.first for case in trial.cases])
    turned_back = [Match(first=match.second, second=match.first) for match in swapped]
    yield from _match_differences(trial.match(trial.cases), turned_back, BATCH_TOLERANCE, "with the sides swapped")


_MATCHER_STAGES: Sequence[Sequence[Callable[[MatcherTrial], Faults]]] = (
    (match_gives_one_score_per_unit,),
    (
        scores_are_in_the_unit_interval,
        matching_repeats_itself,
        matching_does_not_depend_on_the_batch,
        matching_accepts_no_pairs,
        agreeing_pairs_score_one,
        foreign_translations_are_scored,
    ),
)

_FRIENDSHIP_STAGES: Sequence[Sequence[Callable[[MatcherTrial], Faults]]] = (
    (match_gives_one_score_per_unit,),
    (matching_repeats_itself, matching_does_not_depend_on_the_batch, matching_accepts_no_pairs),
)


def _out_of_range(place: int, scores: Sequence[float | None]) -> Faults:
    for score in scores:
        if score is not None and not 0.0 <= score <= 1.0:  # also out of range for NaN
            yield f"pair {place} scores {score}"


def _match_differences(these: Sequence[Match], those: Sequence[Match], tolerance: float, when: str) -> Faults:
    if len(these) != len(those):
        yield f"{len(these)} matches, but {len(those)} {when}"
    for place, (left, right) in enumerate(zip(these, those, strict=False)):
        if not _same(left.first, right.first, tolerance) or not _same(left.second, right.second, tolerance):
            yield f"pair {place} gives {left}, but {right} {when}"


def _same(left: Sequence[float | None], right: Sequence[float | None], tolerance: float) -> bool:
    return len(left) == len(right) and all(
        a == b if a is None or b is None else abs(a - b) <= tolerance for a, b in zip(left, right, strict=True)
    )


@dataclass(frozen=True)
class TaskTrial:
    """A task on trial: how to make one, what to train and try it on, and one that is trained, once, when first needed.

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
            yield f"input {x.id} has the units {alone} when given alone, and {together} in its place among others"


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
