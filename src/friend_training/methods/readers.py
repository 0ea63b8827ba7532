"""Two models of a task read the pool, and of their labels the surer one is learnt by both.

A model that is trained on its own labels is mostly told what it says already. A second model of the same task that
has learnt with other eyes, such as one whose encoder was shared with a friend (Multitask-Base), errs elsewhere: where
the two differ one of them has something to learn, and the surer one is right more often than either is by itself. The
two are joined like friends, in the task's own label space, so the store says how they agree; the first is reported.

(The paper's friends are of different tasks; of two models of one task, co-training lets each learn what the other is
sure of, right or wrong: `scot.py`.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from friend_training.core.friendship import Friendship, Match
from friend_training.core.labelling import Audit
from friend_training.core.listener import Listener
from friend_training.core.picks import Nothing
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.pool import Inputs
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.core.task import Prediction
from friend_training.loop.algorithm import Outcome, friend_train
from friend_training.methods.partners import check_partners, partner_name
from friend_training.methods.scot import audit_partners

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
    """`seconds` has a plan for the second model of each task that has one; its own selectors are not used.

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
    """A task and its second model: they match where they give the same label, and of two labels the surer is kept."""
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
