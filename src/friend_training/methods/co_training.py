"""Two models of one task: by `scot` (co-training) each learns what the other chose, by `readers` both learn the surer.

The paper's friends are models of different tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from friend_training.core.friendship import Friendship, Match
from friend_training.core.pool import Inputs
from friend_training.core.selector import Nothing, Selector
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, Training, friend_train
from friend_training.loop.labelling import Audit
from friend_training.runs.progress import Listener
from friend_training.runs.run import Run


def partner_name(task: str) -> str:
    """How a run calls a task's second model: phases, checkpoints and pseudo-labels go by this name."""
    return f"{task}.second"


def check_partners(plans: Mapping[str, TaskPlan], partners: Mapping[str, TaskPlan], method: str) -> None:
    """Two models that are one have nothing to tell each other."""
    if set(plans) != set(partners):
        raise ConfigError(f"{method} needs a second model for each of {sorted(plans)}, given: {sorted(partners)}")
    for name, plan in plans.items():
        if partners[name].task is plan.task:
            raise ConfigError(f"{method}: the second model of task {name!r} is the same object as the first")
        bases = [one.base for one in (plan, partners[name]) if not isinstance(one.base, Training)]
        if len(bases) == 2 and Path(bases[0]) == Path(bases[1]):
            raise ConfigError(f"{method}: both models of task {name!r} begin as the same Base, {plan.base}")


def scot(
    run: Run,
    plans: Mapping[str, TaskPlan],
    partners: Mapping[str, TaskPlan],
    pool: Inputs,
    *,
    settings: LoopSettings,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Standard co-training (SCoT), Blum & Mitchell 1998: two different models of a task label the pool for each other.

    As published (from the abstract and from how others restate the algorithm; the text was not at hand): two
    classifiers that see a problem differently are trained on the same gold; in every round each labels unlabelled
    inputs, what it is surest of is added to training, and both are trained again.

    Ours: they split the features in two views, which a dialogue does not have; the views are two different models
    (another encoder or another head, not only another seed). In their algorithm both models' labels go to one common
    set; here a model gets the labels that the OTHER one chose, as co-training is mostly described, and which is what
    the argument rests on: its own it would only learn to repeat. They label a small random pool, refilled in every
    round, and add the surest few of every class; here each model's selector chooses from the whole pool, by its
    confidence alone, as for self-training. Pseudo-labels are made anew in every iteration, as in all our loops. The
    first model is the one reported.

    `partners` has a plan for each task's second model. Any task will do: only the four verbs are used.
    """
    check_partners(plans, partners, "co-training")
    everyone = {**plans, **{partner_name(name): partner for name, partner in partners.items()}}
    everyone = {
        name: replace(plan, selectors=[replace(selector, confidence_weight=1.0) for selector in plan.selectors])
        for name, plan in everyone.items()
    }
    teachers = {name: partner_name(name) for name in plans}
    students = {partner_name(name): name for name in plans}
    found = friend_train(
        run,
        everyone,
        (),
        pool,
        settings=settings,
        teachers={**teachers, **students},
        audit=None if audit is None else audit_partners(audit, students),
        listener=listener,
    )
    return {name: found[name] for name in plans}


def audit_partners(audit: Audit, task_of: Mapping[str, str]) -> Audit:
    """Second models answer for the same task."""

    def audit_both(name: str, prediction: Prediction) -> bool | None:
        return audit(task_of.get(name, name), prediction)

    return audit_both


Predictions = Sequence[Sequence[Prediction]]


_NOBODY = object()


def readers(
    run: Run,
    plans: Mapping[str, TaskPlan],
    seconds: Mapping[str, TaskPlan],
    friendships: Sequence[Friendship],
    pool: Inputs,
    *,
    settings: LoopSettings,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Two models of a task label the pool, and of their labels the surer one is learnt by both.

    A model that is trained on its own labels mostly learns what it predicts already. A second model of the same task
    that was trained differently, such as one whose encoder was shared with a friend (Multitask-Base), errs elsewhere:
    where the two differ one of them has something to learn, and the surer one is right more often than either is by
    itself. The two are joined like friends, in the task's own label space, so the store has their agreement; the first
    is reported.

    `seconds` has a plan for the second model of each task that has one; its own selectors are not used.

    With `friendships` it is friend-training, without any self-training.
    """
    check_partners({name: plans[name] for name in seconds}, seconds, "a second reader")
    nothing = [Selector(Nothing())] * settings.iterations
    others = {partner_name(name): replace(plan, selectors=nothing) for name, plan in seconds.items()}
    found = friend_train(
        run,
        {**plans, **others},
        [*friendships, *(two_readers(name) for name in seconds)],
        pool,
        settings=settings,
        teachers={partner_name(name): name for name in seconds},
        audit=None if audit is None else audit_partners(audit, {partner_name(name): name for name in seconds}),
        listener=listener,
    )
    return {name: found[name] for name in plans}


def two_readers(task: str) -> Friendship:
    """A task and its second model: they match where they give the same label, and of two labels the surer is taken."""
    return Friendship(
        name=f"{task}-readers",
        first=task,
        second=partner_name(task),
        translate_first=_labels,
        translate_second=_labels,
        matcher=_same,
        merge_first=surer,
    )


def surer(inputs: Sequence[Any], first: Predictions, second: Predictions) -> list[list[Prediction]]:
    """Unit by unit the prediction with the higher confidence; the first model's of equals."""
    return [
        [max(pair, key=lambda one: one.confidence) for pair in zip(mine, other, strict=True)]
        for mine, other in zip(first, second, strict=True)
    ]


def _labels(inputs: Sequence[Any], predictions: Predictions) -> list[tuple[Any, ...]]:
    return [tuple(unit.label for unit in units) for units in predictions]


def _same(first: Sequence[tuple[Any, ...]], second: Sequence[tuple[Any, ...]]) -> list[Match]:
    return [Match(_found_in(other, mine), _found_in(mine, other)) for mine, other in zip(first, second, strict=True)]


def _found_in(labels: tuple[Any, ...], mine: tuple[Any, ...]) -> tuple[float | None, ...]:
    """Inputs with other numbers of units only meet when readers are shuffled on purpose: the rest has no partner."""
    partners = [*labels, *[_NOBODY] * len(mine)]
    return tuple(None if other is _NOBODY else float(one == other) for one, other in zip(mine, partners, strict=False))
