"""Standard co-training (SCoT), Blum & Mitchell 1998: two different models of a task label the pool for each other.

As published (from the abstract and from how others restate the algorithm; the text was not at hand): two classifiers
that see a problem differently are trained on the same gold; in every round each labels unlabelled inputs, what it is
surest of is added to training, and both are trained again.

Ours: they split the features in two views, which a dialogue does not have; the views are two different models (another
encoder or another head, not only another seed). In their algorithm both models' labels go to one common set; here a
model gets the labels that the OTHER one chose, as co-training is mostly described, and which is what the argument rests
on: its own it would only learn to repeat. They label a small random pool, refilled in every round, and add the surest
few of every class; here each model's selector chooses from the whole pool, by its confidence alone, as for
self-training. Pseudo-labels are made anew in every iteration and not kept forever, as in all our loops. The first model
is the one reported.
"""

from collections.abc import Mapping
from dataclasses import replace

from friend_training.core.labelling import Audit
from friend_training.core.listener import Listener
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.pool import Inputs
from friend_training.core.run import Run
from friend_training.core.task import Prediction
from friend_training.loop.algorithm import Outcome, friend_train
from friend_training.methods.partners import check_partners, partner_name


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
    """`partners` has a plan for each task's second model. Any task will do: only the four verbs are used."""
    check_partners(plans, partners, "co-training")
    everyone = {**plans, **{partner_name(name): partner for name, partner in partners.items()}}
    everyone = {
        name: replace(plan, selectors=[replace(selector, confidence_weight=1.0) for selector in plan.selectors])
        for name, plan in everyone.items()
    }
    teachers = {name: partner_name(name) for name in plans}
    pupils = {partner_name(name): name for name in plans}
    found = friend_train(
        run,
        everyone,
        (),
        pool,
        settings=settings,
        teachers={**teachers, **pupils},
        audit=None if audit is None else audit_partners(audit, pupils),
        listener=listener,
    )
    return {name: found[name] for name in plans}


def audit_partners(audit: Audit, task_of: Mapping[str, str]) -> Audit:
    """Second models answer for the same task."""

    def audit_both(name: str, prediction: Prediction) -> bool | None:
        return audit(task_of.get(name, name), prediction)

    return audit_both
