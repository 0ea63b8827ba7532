"""Algorithm 1 of the paper, for any number of tasks and any friendship graph.

`algorithm` is the whole of it, top to bottom. Every line of it is a step that is done once: its result is a file in the
run folder. What a step does depends only on the results of those before it, and its seed only on the run's seed, the
task and the iteration. So a run that was killed goes on with its first unfinished step, in any process, and ends in the
same bits as if it never was.

What it is given comes first: the plan of each task (data, selectors, training), and the settings that all tasks share.
"""

import json
import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pydantic import TypeAdapter

from friend_training.core.friendship import Aggregation, Friendship
from friend_training.core.pool import Inputs, InShards, Pool, as_pool, check_ids, is_empty
from friend_training.core.selector import Aim, Nothing, Selector
from friend_training.core.task import Evaluation, FitPlan, PseudoLabel, Task, derived_seed
from friend_training.errors import ConfigError, FriendTrainingError
from friend_training.loop.labelling import Audit, Checkpoint, Engine, FirstLabels, Labelled, Labels, LabelWork
from friend_training.loop.selection import Count, LearnedScore, Voted, count_opinions, opinions_of, select_iteration
from friend_training.loop.thresholds import (
    Probe,
    agreement_on_dev,
    considered,
    copying,
    decided,
    find_on_dev,
    friends_of,
    probed,
    weigh_friends,
    with_weights,
)
from friend_training.runs.checkpoints import (
    TRAINING,
    EqualTrainings,
    Fit,
    Identified,
    checkpoint_digest,
    copy_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from friend_training.runs.corrections import GOLD_BY_HAND, digest, rulings
from friend_training.runs.files import world, write_text
from friend_training.runs.inputs import add_counts
from friend_training.runs.progress import Listener, Silence, Teller
from friend_training.runs.run import Run, digest_on_record
from friend_training.runs.steps import (
    Evaluate,
    FindThresholds,
    Label,
    MeasureAgreement,
    Select,
    Step,
    Test,
    Tidy,
    Train,
    WeighFriends,
)
from friend_training.runs.store import predictions_of


@dataclass(frozen=True, slots=True)
class Training:
    """A FitPlan without its seed, which each step derives anew. `pseudo_weight` is λ of Eq. 1."""

    steps: int
    restart: bool = False
    patience: int | None = None
    pseudo_weight: float = 1.0

    def plan(self, seed: int, *, restart: bool | None = None) -> FitPlan:
        return FitPlan(
            seed=seed,
            steps=self.steps,
            restart=self.restart if restart is None else restart,
            patience=self.patience,
            pseudo_weight=self.pseudo_weight,
        )


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task of a run.

    `base` pre-trains the task on gold, or is the checkpoint of a Base that was trained once for several methods.
    `update` trains it in each iteration; a task without `update` is a friend with fixed parameters (FDT-SF).
    `selectors` has one selector per iteration; a fixed friend needs none, and without `dev` it is not scored either.
    `start` is a checkpoint that a Base which is trained goes on from, instead of beginning anew. `probe` is what
    selectors that need dev are tried on, `count` counts votes for those that go by them.
    """

    task: Task
    gold: Sequence[Any]
    dev: Sequence[Any]
    base: Training | str | Path
    update: Training | None
    selectors: Sequence[Selector] = ()
    test: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    start: str | Path | None = None
    probe: Probe | None = None
    count: Count | None = None

    def selector(self, iteration: int) -> Selector:
        return Selector(Nothing()) if self.update is None else self.selectors[iteration - 1]

    def doubts(self) -> list[str]:
        """What speaks against promises that rest on this task's dev."""
        found = []
        trained = [one for one in (self.base, self.update) if isinstance(one, Training)]
        if any(one.patience is not None for one in trained):
            found.append("training was stopped by dev too: what dev promises is a little too good")
        if self.probe is not None and self.probe.other_domain:
            found.append("dev is of another domain than the pool: what dev promises need not hold there")
        return found

    def checkpoint_of(self, iteration: int) -> int:
        """The iteration whose weights this task has after `iteration`: a fixed friend stays what it was."""
        return 0 if self.update is None else iteration


def fixed_friend(task: Task, *, dev: Sequence[Any] = (), test: Mapping[str, Sequence[Any]] | None = None) -> TaskPlan:
    """The plan of a friend that came finished (a rule, a service, a file of predictions): no gold and no training."""
    return TaskPlan(task, gold=(), dev=dev, base=Training(steps=0), update=None, test=test or {})


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """`shard_size` is in inputs; `aggregate` makes one matching score of those with several friends.

    `stop` "agreement" ends before `iterations` where dev shows that friends agree more often because they copy each
    other (loop/thresholds.py); the tasks that learn need a probe.
    `engine` says who labels the pool; None is this process. Nothing but the time it takes depends on it, nor on
    `first_labels` and `equal_trainings`, which the methods of a study share.
    """

    seed: int
    iterations: int
    shard_size: int = 1000
    aggregate: Aggregation = "mean"
    stop: Literal["agreement"] | None = None
    engine: Engine | None = None
    first_labels: FirstLabels | None = None
    equal_trainings: EqualTrainings | None = None


def check_plan(
    plans: Mapping[str, TaskPlan], friendships: Sequence[Friendship], pool: Inputs, settings: LoopSettings
) -> None:
    """Refuse, before anything is trained, what would fail or mean nothing later."""
    if settings.iterations < 0 or settings.shard_size < 1:
        raise ConfigError(f"{settings}: expected iterations ≥ 0 and shard_size ≥ 1")
    if settings.stop not in (None, "agreement"):
        raise ConfigError(f"stop is {settings.stop!r}, expected 'agreement' or None")
    for friendship in friendships:
        for name in (friendship.first, friendship.second):
            if name not in plans:
                raise ConfigError(f"friendship {friendship.name!r}: no task {name!r}; there are {', '.join(plans)}")
        if friendship.first == friendship.second:
            raise ConfigError(f"friendship {friendship.name!r} joins task {friendship.first!r} with itself")
    if len({friendship.name for friendship in friendships}) < len(friendships):
        raise ConfigError(f"two friendships of the same name: {[friendship.name for friendship in friendships]}")
    for name, plan in plans.items():
        _check_task(name, plan, friendships, pool, settings)
    check_ids(pool)


def _check_task(
    name: str, plan: TaskPlan, friendships: Sequence[Friendship], pool: Inputs, settings: LoopSettings
) -> None:
    if not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(f"task {name!r}: a name of letters, digits, '_', '-' and '.' was expected, it names files")
    if plan.update is None:
        return
    if not plan.dev:
        raise ConfigError(f"task {name!r} has no dev examples: by them the best of its iterations is found")
    if len(plan.selectors) != settings.iterations:
        raise ConfigError(f"task {name!r}: {len(plan.selectors)} selectors for {settings.iterations} iterations")
    has_friend = any(name in (friendship.first, friendship.second) for friendship in friendships)
    if settings.stop is not None and has_friend and (plan.probe is None or not plan.probe.inputs):
        raise ConfigError(f"task {name!r}: to stop by agreement its plan needs a probe, dev inputs whose gold is known")
    joints = [one.joint(name) for one in friendships if one.joint(name) is not None]
    if any(joint is not None and joint.to_fit for joint in joints) and (plan.probe is None or not plan.probe.inputs):
        raise ConfigError(
            f"task {name!r}: what a friend's word weighs is found on dev, so its plan needs a probe, dev inputs whose"
            " gold is known"
        )
    friends = sum(name in (friendship.first, friendship.second) for friendship in friendships)
    for selector in plan.selectors:
        if selector.score == "votes" and (friends < 2 or plan.count is None):
            raise ConfigError(f"task {name!r} goes by votes: it needs two friends or more, and there are {friends}")
        if selector.needs_dev:
            _check_probe(name, plan, selector)
        if selector.needs_match and not has_friend:
            raise ConfigError(f"task {name!r} has no friend, so nothing can match: confidence_weight must be 1")
        if is_empty(pool) and not isinstance(selector.pick, Nothing):
            raise ConfigError(f"task {name!r} selects pseudo-labels, but the pool of unlabeled inputs is empty")


def _check_probe(name: str, plan: TaskPlan, selector: Selector) -> None:
    aims = isinstance(selector.pick, Aim)
    if plan.probe is None or not plan.probe.inputs:
        what = "aims at a precision" if aims else "learns its score"
        raise ConfigError(f"task {name!r} {what}: its plan needs a probe, dev inputs whose gold is known")
    if aims and selector.balance is not None:
        raise ConfigError(f"task {name!r}: a selector that aims at a precision cannot balance labels as well")


Result = dict[str, Any]
"""What the run folder remembers of a step."""

Advanced = Callable[[int, int], None]
"""Told within a step how many of how many parts are done."""

Work = Callable[[Advanced], Result]

Once = Callable[[Step, Work], None]
"""Does a step, unless it has been done before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run made of one task: metrics on dev by iteration (0 is Base), and on test of the best of them.

    `dev` has one entry for a fixed friend, and none for one that has no dev examples.
    """

    best_iteration: int
    dev: tuple[Mapping[str, float], ...]
    test: Mapping[str, Mapping[str, float]]


def friend_train(
    run: Run,
    plans: Mapping[str, TaskPlan],
    friendships: Sequence[Friendship],
    pool: Inputs,
    *,
    settings: LoopSettings,
    teachers: Mapping[str, str] | None = None,
    audit: Audit | None = None,
    listener: Listener | None = None,
) -> dict[str, Outcome]:
    """Do Algorithm 1 in a run folder, or what is left of it; without friendships it is standard self-training.

    `teachers` names the task whose chosen pseudo-labels a task is trained on, where these are not its own
    (co-training).
    """
    check_plan(plans, friendships, pool, settings)
    loop = Loop(run, plans, friendships, pool, settings, audit)
    with closing(loop):
        carry_out(run, partial(algorithm, loop=loop, teachers=teachers or {}), listener)
    return {task: outcome(run, task) for task in plans}


def algorithm(once: Once, *, loop: "Loop", teachers: Mapping[str, str]) -> None:
    """Algorithm 1: what the paper writes stands above each of its lines."""
    updated = [task for task, plan in loop.plans.items() if plan.update is not None]
    # Pre-train f_τ with L_τ (τ ∈ a, b)
    for task, plan in loop.plans.items():
        once(Train(task, 0), partial(loop.pretrain, task))
        if plan.dev:  # a fixed friend may have none
            once(Evaluate(task, 0), partial(loop.evaluate, task, 0))
    # while not until the maximum iteration
    for iteration in range(1, loop.settings.iterations + 1):
        # Neither of these two is in the paper, and both are off by default.
        if loop.with_friends_to_weigh():
            once(WeighFriends(iteration), partial(loop.weigh_friends, iteration))
        if loop.settings.stop == "agreement" and loop.friendships:
            once(MeasureAgreement(iteration), partial(loop.measure_agreement, iteration))
            if loop.told_to_stop(iteration):
                break
        # for z in U: generate f_a(z), f_b(z) and c_a, c_b; m_a,b ← Equation 4
        for shard in loop.shards:
            once(Label(iteration, shard), partial(loop.label, iteration, shard))
        # q_a, q_b ← Equation 5; L^u_τ = L^u_τ + {z, v_τ} where q_τ = 1
        if loop.with_thresholds_to_find(iteration):
            once(FindThresholds(iteration), partial(loop.find_thresholds, iteration))
        once(Select(iteration), partial(loop.select, iteration))
        once(Tidy(iteration), partial(loop.tidy, iteration))
        # Update f_τ with L_τ, L^u_τ by Equation 1
        for task in updated:
            once(Train(task, iteration), partial(loop.update, task, iteration, teachers.get(task, task)))
            once(Evaluate(task, iteration), partial(loop.evaluate, task, iteration))
    # Return f_a, f_b: of the iterations the one that was best on dev
    for task in loop.plans:
        once(Test(task), partial(loop.test, task))


def carry_out(run: Run, procedure: Callable[[Once], None], listener: Listener | None) -> None:
    """Do those steps of a procedure that are not done yet, in order.

    The procedure is gone through twice: the first time nothing is done, to know for whoever watches what is to come.
    """
    steps: list[Step] = []
    procedure(lambda step, work: steps.append(step))
    with run.locked():
        finished = [step for step in steps if run.result(step) is not None]
        teller = Teller(listener or Silence(), steps, finished)

        def once(step: Step, work: Work) -> None:
            result = run.do(step, partial(work, teller.started(step)))
            if "metrics" in result:
                run.write_metrics()
            teller.finished(step, result)

        procedure(once)


def outcome(run: Run, task: str) -> Outcome:
    """The outcome of one task in a finished run."""
    tested = run.require(Test(task))
    return Outcome(
        best_iteration=tested["best_iteration"],
        dev=tuple(dev_metrics(run, task)),
        test={row["split"].removeprefix("test:"): row["metrics"] for row in tested["metrics"]},
    )


def dev_metrics(run: Run, task: str) -> list[dict[str, float]]:
    """The metrics of a task on dev, by iteration, as far as they are there."""
    found: list[dict[str, float]] = []
    while (result := run.result(Evaluate(task, len(found)))) is not None:
        found.append(result["metrics"][0]["metrics"])
    return found


class Loop:
    """The work of every step: one method each, which returns what the run folder remembers of it."""

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
        self.shards = range(self.pool.shards)
        self.models = Models(run, plans)
        self.labeller = Labeller(run, plans, self.pool, settings, audit, self.models)

    def close(self) -> None:
        self.labeller.close()

    def pretrain(self, name: str, advanced: Advanced) -> Result:
        """Train Base on gold, or take over one that several methods share."""
        plan = self.plans[name]
        self.models.forget(name)
        if not isinstance(plan.base, Training):
            # Copied, so that the run folder is complete by itself.
            digest = digest_on_record(plan.base)
            return {"digest": copy_checkpoint(plan.base, self.models.folder(name, 0), digest=digest)}
        # The result must not depend on the state in which the task object was handed over: restart, or load.
        if plan.start is not None:
            load_checkpoint(plan.task, plan.start)
        fit_plan = plan.base.plan(derived_seed(self.settings.seed, name, 0), restart=plan.start is None)
        start = None if plan.start is None else checkpoint_digest(plan.start)
        return self._train(name, 0, plan.task, (), fit_plan, start, advanced)

    def label(self, iteration: int, shard: int, advanced: Advanced) -> Result:
        """Every task predicts and every friendship matches one shard of the pool (Eq. 4)."""
        return self.labeller.label(iteration, shard, self.friendships_in(iteration), advanced)

    def measure_agreement(self, iteration: int, advanced: Advanced) -> Result:
        """What the friends, as they are now, agree on where gold is known, task by task; and whether they copy."""
        before = self.run.require(MeasureAgreement(iteration - 1))["tasks"] if iteration > 1 else {}
        found = {}
        names = [name for name, plan in self.plans.items() if plan.update is not None and plan.probe is not None]
        for number, name in enumerate(names, start=1):
            found[name] = agreement_on_dev(self._probed(name, iteration))
            advanced(number, len(names))
        return {"tasks": found, "stop": copying(before, found)}

    def told_to_stop(self, iteration: int) -> bool:
        return bool((self.run.result(MeasureAgreement(iteration)) or {}).get("stop", False))

    def with_friends_to_weigh(self) -> list[str]:
        """The tasks whose labels are decided on together with friends, by weights that are found on dev."""
        joints = {
            name: [one.joint(name) for one in self.friendships if one.joint(name) is not None] for name in self.plans
        }
        return [name for name, found in joints.items() if any(joint is not None and joint.to_fit for joint in found)]

    def weigh_friends(self, iteration: int, advanced: Advanced) -> Result:
        """What each friend's word is worth by now: tried on dev, anew in each iteration, as the friends improve."""
        tasks = {other: self.models.at(other, iteration - 1) for other in self.plans}
        names, found = self.with_friends_to_weigh(), {}
        for number, name in enumerate(names, start=1):
            probe = self.plans[name].probe
            assert probe is not None, "check_plan has seen to that"
            found[name] = asdict(weigh_friends(considered(name, probe, tasks, self.friendships), probe.count))
            advanced(number, len(names))
        return {"tasks": found}

    def friendships_in(self, iteration: int) -> Sequence[Friendship]:
        """The friendships with the weights that were found for this iteration, if any had to be."""
        if not self.with_friends_to_weigh():
            return self.friendships
        return with_weights(self.friendships, self.run.require(WeighFriends(iteration))["tasks"])

    def with_thresholds_to_find(self, iteration: int) -> list[str]:
        """The tasks whose selectors need dev in this iteration: for a threshold, or for a score that is learned."""
        return [name for name, plan in self.plans.items() if plan.selector(iteration).needs_dev]

    def find_thresholds(self, iteration: int, advanced: Advanced) -> Result:
        """Find what they need: today's models label dev as they have just labelled the pool (loop/thresholds.py)."""
        self.labeller.close()
        names = self.with_thresholds_to_find(iteration)
        found: Result = {}
        for number, name in enumerate(names, start=1):
            plan, rows = self.plans[name], self._probed(name, iteration)
            found[name] = find_on_dev(plan.selector(iteration), rows, warnings=plan.doubts()).as_dict()
            advanced(number, len(names))
        return {"tasks": found}

    def _probed(self, name: str, iteration: int) -> pa.Table:
        """The task's own dev as the models that label in this iteration label it."""
        probe = self.plans[name].probe
        assert probe is not None, "check_plan has seen to that"
        tasks = {other: self.models.at(other, iteration - 1) for other in self.plans}
        return probed(name, probe, tasks, self.friendships_in(iteration), aggregate=self.settings.aggregate)

    def select(self, iteration: int, advanced: Advanced) -> Result:
        """Choose over the whole iteration (Eq. 5); what people decided about units goes over it (corrections.py)."""
        self.labeller.close()
        found: dict[str, Mapping[str, Any]] = {}
        if self.with_thresholds_to_find(iteration):
            found = self.run.require(FindThresholds(iteration))["tasks"]
        store, shards = self.run.store, len(self.shards)
        selectors = {name: plan.selector(iteration) for name, plan in self.plans.items()}
        scores: dict[str, LearnedScore] = {}
        for name, record in found.items():
            pool = partial(store.labelled_scores, iteration, shards, name)
            ready = decided(selectors[name], record, pool)
            selectors[name], found[name] = ready.selector, ready.summary
            if ready.score is not None:
                scores[name] = ready.score
        votes = {name: self.voted(name, iteration) for name, one in selectors.items() if one.score == "votes"}
        by_hand = rulings(self.run.folder, {name: plan.task.label_type for name, plan in self.plans.items()})
        tasks = select_iteration(
            store, iteration, shards, selectors, learned={**scores, **votes}, by_hand=by_hand, advanced=advanced
        )
        for name, summary in found.items():
            tasks[name] |= summary
        for name, voted in votes.items():
            tasks[name] |= {"votes": dict(voted.sources)}
        result: Result = {"tasks": tasks}
        return result | ({"corrections": digest(by_hand)} if any(by_hand.values()) else {})

    def voted(self, name: str, iteration: int) -> Voted:
        """What the opinions of a task and its friends on the whole pool come to."""
        between, types = friends_of(name, self.friendships), dict[str, Any]()
        for friendship in between:
            types |= {task: self.plans[task].task.label_type for task in (friendship.first, friendship.second)}
        opinions: dict[str, list[Any]] = {}
        for shard in range(self.pool.shards):
            inputs = self.pool.shard(shard).read().inputs
            rows = self.run.store.labelled(iteration, shard)
            said = predictions_of(rows, types, [given.id for given in inputs])
            opinions |= opinions_of(name, between, inputs, said)
        others = [one.second if name == one.first else one.first for one in between]
        count = self.plans[name].count
        assert count is not None, "check_plan has seen to that"
        return count_opinions(opinions, [name, *others], count)

    def tidy(self, iteration: int, advanced: Advanced) -> Result:
        """A step of its own: only when selection is on record is what it was made from no longer needed."""
        self.run.store.discard_labelled(iteration)
        return {}

    def update(self, name: str, iteration: int, teacher: str, advanced: Advanced) -> Result:
        """Train on gold and on what was chosen (Eq. 1) of the teacher's labels, which is mostly the task itself."""
        training = self.plans[name].update
        assert training is not None, "fixed friends have no such step"
        task = self.models.at(name, iteration - 1)
        fit_plan = training.plan(derived_seed(self.settings.seed, name, iteration))
        pseudo = self._chosen(teacher, iteration, fit_plan.pseudo_weight)
        start = self.models.saved(name, iteration - 1).digest
        return self._train(name, iteration, task, pseudo, fit_plan, start, advanced)

    def evaluate(self, name: str, iteration: int, advanced: Advanced) -> Result:
        """Score an iteration on dev."""
        metrics = _checked(name, self.plans[name].task, self.models.at(name, iteration).evaluate(self.plans[name].dev))
        return {"metrics": [{"task": name, "iteration": iteration, "split": "dev", "metrics": metrics}]}

    def test(self, name: str, advanced: Advanced) -> Result:
        """Of the iterations the best on dev is reported (the first of equals); only that one is evaluated on test."""
        plan = self.plans[name]
        scores = [metrics[plan.task.main_metric] for metrics in dev_metrics(self.run, name)]
        best = scores.index(max(scores)) if scores else 0  # a fixed friend without dev is what it was
        rows = []
        kinds: Result = {}
        for test_set, examples in plan.test.items():
            found = self.models.at(name, best).evaluate(examples)
            metrics = _checked(name, plan.task, found)
            rows.append({"task": name, "iteration": best, "split": f"test:{test_set}", "metrics": metrics})
            if isinstance(found, Evaluation) and found.counts is not None:
                add_counts(self.run.folder, name if test_set == "test" else f"{name}:{test_set}", found.counts)
            if isinstance(found, Evaluation) and found.kinds:
                kinds[test_set] = {kind: [prf.correct, prf.predicted, prf.gold] for kind, prf in found.kinds.items()}
        return {"best_iteration": best, "metrics": rows} | ({"kinds": kinds} if kinds else {})

    def _train(
        self,
        name: str,
        iteration: int,
        task: Task,
        pseudo: Sequence[PseudoLabel],
        fit_plan: FitPlan,
        start: str | None,
        advanced: Advanced,
    ) -> Result:
        """Fit a task, or take over a training that ended in the same bits; `start` is the digest it goes on from."""
        equal, plan = self.settings.equal_trainings, self.plans[name]
        if equal is None or world() > 1 or not isinstance(task, Identified):
            return self._fit(name, iteration, task, pseudo, fit_plan, advanced)
        digest = Fit(task, task.label_type, plan.gold, plan.dev, start, fit_plan, pseudo).digest()
        checkpoint = self.models.folder(name, iteration)
        if (done := equal.find(digest)) is not None:
            self.models.forget(name)
            return done.result | {"digest": copy_checkpoint(done.checkpoint, checkpoint)}
        result = self._fit(name, iteration, task, pseudo, fit_plan, advanced) | {TRAINING: digest}
        equal.remember(digest, checkpoint, result)
        return result

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
        self.models.forget(name)
        summary = task.fit(plan.gold, pseudo, dev=plan.dev, plan=fit_plan)
        advanced(1, 2)
        digest = self.models.save(name, iteration)
        return {
            "digest": digest,
            "gold": len(plan.gold),
            "pseudo": len(pseudo),
            "steps": summary.steps,
            "best_step": summary.best_step,
            "best_score": finite(summary.best_score),
        } | ({"curve": [[step, finite(score)] for step, score in summary.curve]} if summary.curve else {})

    def _chosen(self, name: str, iteration: int, pseudo_weight: float) -> Sequence[PseudoLabel]:
        """The chosen pseudo-labels, read back from the store: what was recorded is what is trained on.

        Several processes get them as shards, and each holds those it trains on (`nn.training`).
        """
        shards = [partial(self._chosen_in, shard, name, iteration, pseudo_weight) for shard in self.shards]
        if world() == 1:
            return [pseudo for read in shards for pseudo in read()]
        chosen = self.run.require(Select(iteration))["tasks"][name]["chosen"] if shards else 0
        return InShards(shards, chosen)

    def _chosen_in(self, shard: int, name: str, iteration: int, pseudo_weight: float) -> list[PseudoLabel]:
        """Weights have λ of Eq. 1 in them (`pseudo_weight`), but for labels that a person gave: they count as gold."""
        from_json = TypeAdapter(self.plans[name].task.label_type).validate_json
        batches = self.run.store.chosen(iteration, shard, name, ["input", "unit", "label", "weight", "reason"])
        rows = [row for batch in batches for row in batch.to_pylist()]
        inputs = {given.id: given for given in self.pool.shard(shard).read().inputs} if rows else {}
        return [
            PseudoLabel(
                inputs[row["input"]],
                row["unit"],
                from_json(row["label"]),
                row["weight"] * (1.0 if row["reason"] in GOLD_BY_HAND else pseudo_weight),
            )
            for row in rows
        ]


class Models:
    """The tasks in memory, and which checkpoint each of them is just now: one is loaded only when it has to be.

    Whoever trains calls `forget` before and `save` after. `save` also loads again: so the task in memory is exactly
    what a resumed run will find on disk, also for a task that saves less than it holds. A process that does not write
    has forgotten the task instead: it loads what the first one saved, once that is on record.
    """

    def __init__(self, run: Run, plans: Mapping[str, TaskPlan]) -> None:
        self._run, self._plans = run, plans
        self._current: dict[str, int | None] = dict.fromkeys(plans)

    def at(self, name: str, iteration: int) -> Task:
        """The task as it was after this iteration's training."""
        task = self._plans[name].task
        iteration = self._plans[name].checkpoint_of(iteration)
        if self._current[name] != iteration:
            self.forget(name)
            saved = self.saved(name, iteration)
            load_checkpoint(task, saved.folder, digest=saved.digest)
            self._current[name] = iteration
        return task

    def folder(self, name: str, iteration: int) -> Path:
        return self._run.checkpoint(name, iteration)

    def saved(self, name: str, iteration: int) -> Checkpoint:
        """What this iteration's training left, as it is on record."""
        return Checkpoint(self.folder(name, iteration), self._run.require(Train(name, iteration))["digest"])

    def forget(self, name: str) -> None:
        """The task is about to change: if that is interrupted, it is no checkpoint at all."""
        self._current[name] = None

    def save(self, name: str, iteration: int) -> str:
        """Save the task as this iteration's checkpoint; returns its digest."""
        task, folder = self._plans[name].task, self.folder(name, iteration)
        digest = save_checkpoint(task, folder)
        if not digest:  # the first process has written it
            return digest
        load_checkpoint(task, folder)
        self._current[name] = iteration
        return digest


class Labeller:
    """Labels the shards of a pool, in this process or by the engine of its settings, and writes each of them once."""

    def __init__(
        self,
        run: Run,
        plans: Mapping[str, TaskPlan],
        pool: Pool,
        settings: LoopSettings,
        audit: Audit | None,
        models: Models,
    ) -> None:
        self._run, self._plans, self._pool = run, plans, pool
        self._settings, self._audit, self._models = settings, audit, models
        self._results: Generator[Labelled] | None = None

    def label(self, iteration: int, shard: int, friendships: Sequence[Friendship], advanced: Advanced) -> Result:
        """Label one shard and write it to the store; shards are labelled in their order."""
        if self._settings.engine is None:
            readers = {name: self._reader(name, iteration, shard) for name in self._plans}
            labelled = self._work({}, friendships).label(self._pool.shard(shard), advanced, readers)
        else:
            if self._results is None:
                self._results = self._begin(self._settings.engine, iteration, shard, friendships)
            labelled = next(self._results)
        self._run.store.write_labelled(iteration, shard, labelled.rows)
        result = {"inputs": labelled.inputs, "units": len(labelled.rows)}
        if not labelled.set_aside:
            return result
        lines = [json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in labelled.set_aside]
        path = set_aside_path(self._run.folder, shard)
        write_text(path, "".join(lines))
        self._run.wrote(path)
        return result | {"set_aside": len(lines)}

    def close(self) -> None:
        """The workers of an engine are not needed any more: all shards are labelled, or the run is being stopped."""
        if self._results is not None:
            self._results.close()
            self._results = None

    def _begin(
        self, engine: Engine, iteration: int, first: int, friendships: Sequence[Friendship]
    ) -> Generator[Labelled]:
        """The results of all shards from this one on that are not on record yet."""
        checkpoints = {
            name: self._models.saved(name, plan.checkpoint_of(iteration - 1)) for name, plan in self._plans.items()
        }
        left = [n for n in range(first, self._pool.shards) if self._run.result(Label(iteration, n)) is None]
        return engine.labelled(self._work(checkpoints, friendships), (self._pool.shard(number) for number in left))

    def _reader(self, name: str, iteration: int, shard: int) -> Labels:
        """The task as it is in this iteration; what Base predicts for a shard is remembered between methods."""
        task = self._models.at(name, iteration - 1)
        remembered = self._settings.first_labels
        if iteration > 1 or remembered is None:
            return task
        return remembered.queried(task, self._models.saved(name, 0).digest, shard)

    def _work(self, checkpoints: Mapping[str, Checkpoint], friendships: Sequence[Friendship]) -> LabelWork:
        tasks = {name: plan.task for name, plan in self._plans.items()}
        return LabelWork(tasks, checkpoints, friendships, self._settings.aggregate, self._audit)


def set_aside_path(run: Path, shard: int) -> Path:
    """The inputs of a shard that could not be read, one JSON object per line; no file where there are none."""
    return run / "set-aside" / f"shard-{shard:05d}.jsonl"


def finite(value: float) -> float | None:
    """JSON knows no NaN: a score that is not defined is null."""
    return float(value) if math.isfinite(value) else None


def _checked(name: str, task: Task, evaluation: Mapping[str, float]) -> dict[str, float | None]:
    """The metrics as JSON can hold them; the main one must be among them."""
    metrics = {metric: finite(value) for metric, value in evaluation.items()}
    if metrics.get(task.main_metric) is None:
        raise FriendTrainingError(f"task {name!r}: evaluate gave no {task.main_metric!r}, its main metric: {metrics}")
    return metrics
