"""What each task of a method is given: its data, its trainings, and how its pseudo-labels are chosen.

A selector may keep a balance: as many labels with an argument in another turn, say, as gold has. Friends agree most
easily on what both leave out: CSRL does not find the argument in an earlier turn, the rewriter does not insert it, and
the two omissions match. Without balance a model is taught to leave it out. Where dev is of another domain than gold,
its balance is another one: in REWRITE every utterance needs a rewrite, in RESTORATION six of ten. `balance: dev` keeps
that of dev; of its labels nothing else is used.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from friend_training.core.selector import Selector, Share, TotalAgreement, shares_of_kinds
from friend_training.loop.plan import TaskPlan, Training
from friend_training.methods.controls import as_many, chosen_counts, random_as_many
from friend_training.methods.registry import METHODS, MethodSpec
from friend_training.runs.run import Run
from friend_training.study.config import Config, pick_of
from friend_training.study.data import RunData
from friend_training.study.folders import method_folder
from friend_training.study.setup import Setup
from friend_training.study.tasks import TASKS
from friend_training.tasks.csrl.task import kind_of_roles
from friend_training.tasks.rewriting.task import kind_of_text
from friend_training.types import CsrlExample, RewritingExample


def wanted_balance(config: Config, data: RunData, task: str) -> dict[str, float] | None:
    """The shares that the config asks for, or None."""
    source = getattr(config.tasks, task).balance
    if source == "none":
        return None
    if task == "csrl":
        return csrl_shares(data.csrl_gold if source == "gold" else data.csrl_dev)
    return rewriting_shares(data.rewriting_gold if source == "gold" else data.rewriting_dev)


def csrl_shares(gold: Sequence[CsrlExample]) -> dict[str, float]:
    """Of the gold labels that say something: where their arguments stand."""
    found = [kind_of_roles(roles, len(e.dialogue.turns) - 1) for e in gold for roles in e.roles if roles.arguments]
    return shares_of_kinds(found)


def rewriting_shares(gold: Sequence[RewritingExample]) -> dict[str, float]:
    """How many utterances need a rewrite."""
    return shares_of_kinds([kind_of_text(example.rewrite, example.dialogue) for example in gold])


def selectors(spec: MethodSpec, config: Config, data: RunData, study: Path, task: str) -> list[Selector]:
    """How a method chooses among a task's pseudo-labels, one selector per iteration."""
    section, iterations = getattr(config.tasks, task), config.iterations
    balance = wanted_balance(config, data, task)
    by_match = Selector(
        pick_of(section.pick_threshold), section.confidence_weight, content=section.content, balance=balance
    )
    by_confidence = Selector(pick_of(section.sst_threshold), 1.0, content=section.content, balance=balance)
    if spec.labels == "bridge":
        by_confidence = replace(by_confidence, balance=None)  # it has no label with an argument in another turn
    if spec.part_by_part and task == "csrl":  # arguments are chosen one by one: whatever has one left is learnt
        kept = balance if config.checked_labels == "balanced" else None
        return [replace(by_confidence, pick=Share(1.0), content="only", balance=kept)] * iterations
    if spec.edit_by_edit and task == "rewriting":  # so with edits
        return [replace(by_confidence, pick=Share(1.0), content="only", balance=None)] * iterations
    if spec.friend == "oracle":  # exactly what is right; labels that say nothing are left out where they always are
        return [replace(by_match, pick=TotalAgreement())] * iterations
    match spec.choice:
        case "by-match":
            return [by_match] * iterations
        case "by-confidence":
            return [by_confidence] * iterations
        case "everything":
            return [replace(by_confidence, pick=Share(1.0))] * iterations
    assert spec.like is not None, f"{spec.title}: as many as which method?"
    counts = chosen_counts(Run.open(method_folder(study, spec.like)), task, iterations)
    if spec.choice == "as-many":
        return as_many(by_confidence, counts)
    drawn_from = by_match if spec.choice == "random-of-matched" else by_confidence
    return random_as_many(drawn_from, counts, seed=config.seed)


# Dev dialogues as a pool would have them: what thresholds are found on, and what a finished run is diagnosed with.
#
# Dev of CSRL has gold arguments and no rewrites, dev of rewriting the reverse: each task is probed on its own dev,
# where its friend labels along. Predicates are those that CSRL's gold is about; rewriting's dialogues get theirs from
# the finder that the pool's came from, because their corpus has none.


def task_plans(setup: Setup, method: str) -> dict[str, TaskPlan]:
    """What each task of a method is given. All but Base itself start from the checkpoint of the shared Base."""
    data = setup.data
    examples: dict[str, tuple[Sequence[Any], Sequence[Any], Sequence[Any]]] = {
        "csrl": (data.csrl_gold, data.csrl_dev, data.csrl_test),
        "rewriting": (data.rewriting_gold, data.rewriting_dev, data.rewriting_test),
    }
    plans: dict[str, TaskPlan] = {}
    for name in TASKS:
        gold, dev, test = examples[name]
        section = getattr(setup.config.tasks, name)
        shared = method_folder(setup.run.folder, "base") / "checkpoints" / name / "iteration-000"
        plans[name] = TaskPlan(
            task=setup.tasks[name],
            gold=gold,
            dev=dev,
            test={"test": test},
            base=Training(section.base_steps, patience=section.base_patience) if method == "base" else shared,
            update=Training(section.update_steps, restart=section.restart, pseudo_weight=section.pseudo_weight),
            selectors=selectors(METHODS[method], setup.config, data, setup.run.folder, name),
            start=setup.start if name == "csrl" else None,
            probe=setup.probes.get(name),
        )
    return plans
