"""Algorithm 1 of the paper, for any number of tasks and any friendship graph, in phases that are each done once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from friend_training.core.friendship import Friendship
from friend_training.core.labeller import label_phase
from friend_training.core.labelling import Audit
from friend_training.core.listener import Listener, Silence
from friend_training.core.pace import PaceKeeper
from friend_training.core.phases import Advanced, Phases, Result, dev_metrics
from friend_training.core.plan import LoopSettings, TaskPlan, check_plan
from friend_training.core.pool import Inputs
from friend_training.core.run import Run

Work = Callable[[Advanced], Result]

TRAINING = "train-"
"""How the names of phases begin that several processes do together; all others are the first one's (processes.py)."""


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

    `teachers` says for a task whose chosen pseudo-labels it is trained on, where these are not its own (co-training).
    A run that was killed goes on with its first unfinished phase and ends in the same bits as if it never was.
    """
    check_plan(plans, friendships, pool, settings)
    phases = Phases(run, plans, friendships, pool, settings, audit)
    with closing(phases.labeller):
        carry_out(run, list(algorithm(phases, settings.iterations, teachers or {})), listener)
    return {name: outcome(run, name) for name in plans}


def carry_out(run: Run, steps: Sequence[tuple[str, Work]], listener: Listener | None) -> None:
    """Do those phases of a run that are not done yet, in order."""
    listener = listener or Silence()
    with run.locked():
        finished = [name for name, _ in steps if run.result(name) is not None]
        listener.planned([name for name, _ in steps], finished)
        pace = PaceKeeper([name for name, _ in steps], finished, listener)
        for name, work in steps:
            listener.started(name)
            pace.started(name)
            together = name.startswith(TRAINING)
            result = run.phase(name, partial(work, partial(listener.advanced, name)), together=together)
            pace.finished(name, result)
            if "metrics" in result:
                run.write_metrics()
            listener.finished(name)


def algorithm(phases: Phases, iterations: int, teachers: Mapping[str, str]) -> Iterator[tuple[str, Work]]:
    """Algorithm 1, top to bottom: the name of each phase and the work it is."""
    updated = [name for name, plan in phases.plans.items() if plan.update is not None]
    for name, plan in phases.plans.items():
        yield f"train-{name}-0", partial(phases.pretrain, name)
        if plan.dev:  # a fixed friend may have none
            yield f"evaluate-{name}-0", partial(phases.evaluate, name, 0)
    for iteration in range(1, iterations + 1):
        for shard in range(phases.shards):
            yield label_phase(iteration, shard), partial(phases.label, iteration, shard)
        if phases.aims(iteration):
            yield f"aim-{iteration}", partial(phases.aim, iteration)
        yield f"select-{iteration}", partial(phases.select, iteration)
        yield f"tidy-{iteration}", partial(phases.tidy, iteration)
        for name in updated:
            yield f"train-{name}-{iteration}", partial(phases.update, name, iteration, teachers.get(name, name))
            yield f"evaluate-{name}-{iteration}", partial(phases.evaluate, name, iteration)
    for name in phases.plans:
        yield f"test-{name}", partial(phases.test, name)


def outcome(run: Run, name: str) -> Outcome:
    """What a finished run says of one task."""
    tested = run.require(f"test-{name}")
    return Outcome(
        best_iteration=tested["best_iteration"],
        dev=tuple(dev_metrics(run, name)),
        test={row["split"].removeprefix("test:"): row["metrics"] for row in tested["metrics"]},
    )
