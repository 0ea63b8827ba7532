"""The phases of Algorithm 1: what each does with a run folder, its tasks and its pool.

What a phase does depends only on the results of those before it, and its seed only on the run's seed, the task and the
iteration. So a phase that was cut off can be done again, by any process, and ends in the same bits.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from friend_training.core.bench import Bench
from friend_training.core.checkpoint import copy_checkpoint, load_checkpoint
from friend_training.core.corrections import GOLD_BY_HAND, digest, rulings
from friend_training.core.friendship import Friendship
from friend_training.core.in_shards import InShards
from friend_training.core.labeller import Labeller
from friend_training.core.labelling import Audit
from friend_training.core.picks import Nothing, Precision, Threshold
from friend_training.core.plan import LoopSettings, TaskPlan, Training
from friend_training.core.pool import Inputs, as_pool
from friend_training.core.probe import aimed, probed
from friend_training.core.processes import world
from friend_training.core.run import Run
from friend_training.core.same_fits import Fit
from friend_training.core.seeds import derived_seed
from friend_training.core.selecting import select_iteration
from friend_training.core.selector import Selector
from friend_training.core.task import FitPlan, PseudoLabel, Task
from friend_training.errors import ConfigError, FriendTrainingError

Advanced = Callable[[int, int], None]
"""Told within a phase how many of how many steps are done."""

Result = dict[str, Any]

PSEUDO_LABEL = ("input", "unit", "label", "weight")
"""The columns of the store that training looks at."""


class Phases:
    """One method per kind of phase; each returns what the run folder remembers of it."""

    def __init__(
        self,
        run: Run,
        plans: Mapping[str, TaskPlan],
        friendships: Sequence[Friendship],
        pool: Inputs,
        settings: LoopSettings,
        audit: Audit | None,
    ) -> None:
        self.run, self.plans, self.friendships, self.settings = run, plans, friendships, settings
        self.pool = as_pool(pool, settings.shard_size)
        self.shards = self.pool.shards
        self.bench = Bench(run, plans)
        self.labeller = Labeller(run, plans, friendships, self.pool, settings, audit, self.bench)

    def pretrain(self, name: str, advanced: Advanced) -> Result:
        """Train Base on gold, or take over one that several methods share."""
        plan = self.plans[name]
        self.bench.forget(name)
        if not isinstance(plan.base, Training):
            # Copied, so that the run folder is complete by itself.
            return {"digest": copy_checkpoint(plan.base, self.run.checkpoint(name, 0))}
        # The result must not depend on the state in which the task object was handed over: restart, or load.
        if plan.start is not None:
            load_checkpoint(plan.task, plan.start)
        fit_plan = plan.base.plan(derived_seed(self.settings.seed, name, 0), restart=plan.start is None)
        return self._fit(name, 0, plan.task, (), fit_plan, advanced)

    def label(self, iteration: int, shard: int, advanced: Advanced) -> Result:
        """Every task predicts and every friendship matches one shard of the pool (Eq. 4)."""
        return self.labeller.label(iteration, shard, advanced)

    def aims(self, iteration: int) -> list[str]:
        """The tasks whose selectors aim at a precision in this iteration."""
        return [name for name, plan in self.plans.items() if isinstance(plan.selector(iteration).pick, Precision)]

    def aim(self, iteration: int, advanced: Advanced) -> Result:
        """Find their thresholds: today's models label dev as they have just labelled the pool (core/aiming.py)."""
        self.labeller.close()
        names = self.aims(iteration)
        found: Result = {}
        for number, name in enumerate(names, start=1):
            plan = self.plans[name]
            assert plan.probe is not None, "check_plan has seen to that"
            tasks = {other: self.bench.at(other, iteration - 1) for other in self.plans}
            rows = probed(name, plan.probe, tasks, self.friendships, aggregate=self.settings.aggregate)
            found[name] = aimed(plan.selector(iteration), rows).as_dict()
            advanced(number, len(names))
        return {"tasks": found}

    def _aims(self, iteration: int) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        if self.aims(iteration):
            found = self.run.require(f"aim-{iteration}")["tasks"]
        return found

    def select(self, iteration: int, advanced: Advanced) -> Result:
        """Choose over the whole iteration (Eq. 5); what people said of units by then goes over it (corrections.py)."""
        self.labeller.close()
        found = self._aims(iteration)
        selectors = {
            name: _with_threshold(plan.selector(iteration), found.get(name)) for name, plan in self.plans.items()
        }
        by_hand = rulings(self.run.folder, {name: plan.task.label_type for name, plan in self.plans.items()})
        store, shards = self.run.store, self.shards
        tasks = select_iteration(store, iteration, shards, selectors, by_hand=by_hand, advanced=advanced)
        for name, aim in found.items():
            on_dev = {key: value for key, value in aim.items() if key != "threshold"}
            tasks[name] |= {"threshold": aim["threshold"], "on_dev": on_dev}
        result: Result = {"tasks": tasks}
        return result | ({"corrections": digest(by_hand)} if any(by_hand.values()) else {})

    def tidy(self, iteration: int, advanced: Advanced) -> Result:
        """A phase of its own: only when selection is on record is what it was made from no longer needed."""
        self.run.store.discard_labelled(iteration)
        return {}

    def update(self, name: str, iteration: int, teacher: str, advanced: Advanced) -> Result:
        """Train on gold and on what was chosen (Eq. 1) of the teacher's labels, which is mostly the task itself."""
        training = self.plans[name].update
        assert training is not None, "fixed friends have no such phase"
        task = self.bench.at(name, iteration - 1)
        fit_plan = training.plan(derived_seed(self.settings.seed, name, iteration))
        pseudo = self._chosen(teacher, iteration, fit_plan.pseudo_weight)
        same = self.settings.same_fits
        if same is None or world() > 1:
            return self._fit(name, iteration, task, pseudo, fit_plan, advanced)
        start = self.run.require(f"train-{name}-{iteration - 1}")["digest"]
        fit = Fit(task, self.plans[name].gold, self.plans[name].dev, start, fit_plan, pseudo)
        fit_digest = fit.digest()  # once: with many labels it takes a while
        if (done := same.found(fit_digest)) is not None:
            self.bench.forget(name)
            return done.result | {"digest": copy_checkpoint(done.checkpoint, self.run.checkpoint(name, iteration))}
        result = self._fit(name, iteration, task, pseudo, fit_plan, advanced)
        same.remember(fit_digest, fit, self.run.checkpoint(name, iteration), result)
        return result

    def evaluate(self, name: str, iteration: int, advanced: Advanced) -> Result:
        """Score an iteration on dev."""
        metrics = _measure(name, self.bench.at(name, iteration), self.plans[name].dev)
        return {"metrics": [{"task": name, "iteration": iteration, "split": "dev", "metrics": metrics}]}

    def test(self, name: str, advanced: Advanced) -> Result:
        """Of the iterations the best on dev is reported (the first of equals); test is looked at only here."""
        plan = self.plans[name]
        scores = [metrics[plan.task.main_metric] for metrics in dev_metrics(self.run, name)]
        best = scores.index(max(scores)) if scores else 0  # a fixed friend without dev is what it was
        rows = [
            {
                "task": name,
                "iteration": best,
                "split": f"test:{test_set}",
                "metrics": _measure(name, self.bench.at(name, best), examples, plan.test_by),
            }
            for test_set, examples in plan.test.items()
        ]
        return {"best_iteration": best, "metrics": rows}

    def _fit(
        self,
        name: str,
        iteration: int,
        task: Task,
        pseudo: Sequence[PseudoLabel],
        fit_plan: FitPlan,
        advanced: Advanced,
    ) -> Result:
        plan = self.plans[name]
        self.bench.forget(name)
        summary = task.fit(plan.gold, pseudo, dev=plan.dev, plan=fit_plan)
        advanced(1, 2)
        digest = self.bench.keep(name, iteration)
        return {
            "digest": digest,
            "gold": len(plan.gold),
            "pseudo": len(pseudo),
            "steps": summary.steps,
            "best_step": summary.best_step,
            "best_score": finite(summary.best_score),
        }

    def _chosen(self, name: str, iteration: int, pseudo_weight: float) -> Sequence[PseudoLabel]:
        """The chosen pseudo-labels, read back from the store: what was recorded is what is trained on.

        Several processes get them as shards, and each holds those it trains on (`nn.shares`).
        """
        shards = [partial(self._chosen_in, shard, name, iteration, pseudo_weight) for shard in range(self.shards)]
        if world() == 1:
            return [pseudo for read in shards for pseudo in read()]
        chosen = self.run.require(f"select-{iteration}")["tasks"][name]["chosen"] if shards else 0
        return InShards(shards, chosen)

    def _chosen_in(self, shard: int, name: str, iteration: int, pseudo_weight: float) -> list[PseudoLabel]:
        """Tasks multiply the weight by λ of Eq. 1. What is gold by hand must count as gold: λ is divided out of it."""
        from_json = TypeAdapter(self.plans[name].task.label_type).validate_json
        batches = self.run.store.chosen(iteration, shard, name, [*PSEUDO_LABEL, "reason"])
        rows = [row for batch in batches for row in batch.to_pylist()]
        inputs = {given.id: given for given in self.pool.shard(shard).read().inputs} if rows else {}
        pseudo = []
        for row in rows:
            label, weight = from_json(row["label"]), row["weight"]
            if row["reason"] in GOLD_BY_HAND:
                weight /= _not_zero(name, pseudo_weight)
            pseudo.append(PseudoLabel(inputs[row["input"]], row["unit"], label, weight))
        return pseudo


def dev_metrics(run: Run, name: str) -> list[dict[str, float]]:
    """The metrics of a task on dev, by iteration, as far as they are there."""
    found: list[dict[str, float]] = []
    while (result := run.result(f"evaluate-{name}-{len(found)}")) is not None:
        found.append(result["metrics"][0]["metrics"])
    return found


def _not_zero(name: str, pseudo_weight: float) -> float:
    if pseudo_weight == 0:
        raise ConfigError(f"task {name!r}: pseudo_weight is 0, so labels checked by hand could not count as gold")
    return pseudo_weight


def finite(value: float) -> float | None:
    """JSON knows no NaN: a score that is not defined is null."""
    return float(value) if math.isfinite(value) else None


def _with_threshold(selector: Selector, aim: Mapping[str, Any] | None) -> Selector:
    """A selector that aims, with the threshold that was found; without one it chooses nothing."""
    if aim is None:
        return selector
    return replace(selector, pick=Nothing() if aim["threshold"] is None else Threshold(aim["threshold"]))


def _measure(
    name: str,
    task: Task,
    examples: Sequence[Any],
    by: Callable[[Sequence[Any]], Mapping[str, float]] | None = None,
) -> dict[str, float | None]:
    metrics = {metric: finite(value) for metric, value in (by or task.evaluate)(examples).items()}
    if metrics.get(task.main_metric) is None:
        raise FriendTrainingError(f"task {name!r}: evaluate gave no {task.main_metric!r}, its main metric: {metrics}")
    return metrics
