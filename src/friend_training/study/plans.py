"""What each task of a method is given: its data, its trainings, and how its pseudo-labels are chosen.

A selector may keep a balance: as many labels with an argument in another turn, say, as gold has. Friends agree most
easily on what both leave out: CSRL does not find the argument in an earlier turn, the rewriter does not insert it, and
the two omissions match. Without balance a model is taught to leave it out. Where dev is of another domain than gold,
its balance is another one: in REWRITE every utterance needs a rewrite, in RESTORATION six of ten. `balance: dev` keeps
that of dev; of its labels nothing else is used.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from friend_training.core.selector import Selector, Share, TotalAgreement
from friend_training.core.task import Task
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import TaskPlan, Training, fixed_friend
from friend_training.loop.thresholds import Probe
from friend_training.methods.controls import as_many, chosen_counts, random_as_many
from friend_training.methods.registry import METHODS, MethodSpec
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, FriendsConfig
from friend_training.study.data import with_found_predicates
from friend_training.study.folders import method_folder
from friend_training.study.kinds import is_trained
from friend_training.study.run_data import RunData, hidden_gold, input_of, label_shares
from friend_training.study.sections import (
    Config,
    ExpectedPrecisionConfig,
    FalseDiscoveryConfig,
    PrecisionThresholdConfig,
    PublicDataConfig,
    pick_of,
)


def wanted_balance(config: Config, data: RunData, task: Task) -> dict[str, float] | None:
    """The shares that the config asks for, or None."""
    source = config.sections[task.name].balance
    if source == "none":
        return None
    if isinstance(source, dict):
        return source
    examples = data.tasks[task.name]
    return label_shares(task, examples.gold if source == "gold" else examples.dev)


def selectors(spec: MethodSpec, config: Config, data: RunData, study: Path, task: Task) -> list[Selector]:
    """How a method chooses among a task's pseudo-labels, one selector per iteration."""
    section, iterations = config.sections[task.name], config.iterations
    balance = wanted_balance(config, data, task)
    by_match = Selector(
        pick_of(section.pick),
        section.confidence_weight,
        content=section.content,
        balance=balance,
        score=section.selection.score,
    )
    by_confidence = Selector(pick_of(section.sst_threshold), 1.0, content=section.content, balance=balance)
    if spec.labels == "bridge":
        by_confidence = replace(by_confidence, balance=None)  # it has no label with an argument in another turn
    if spec.labels == "friend":
        by_confidence = replace(by_confidence, content="only")  # where the friend has nothing to say, nothing is learnt
    if spec.part_by_part and task.name == "csrl":  # arguments are chosen one by one: whatever has one left is learnt
        assert isinstance(config, CaseStudyConfig), "only the paper's pair has such labels"
        kept = balance if config.checked_labels == "balanced" else None
        return [replace(by_confidence, pick=Share(1.0), content="only", balance=kept)] * iterations
    if spec.edit_by_edit and task.name == "rewriting":  # so with edits
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
    counts = chosen_counts(Run.open(method_folder(study, spec.like)), task.name, iterations)
    if spec.choice == "as-many":
        return as_many(by_confidence, counts)
    drawn_from = by_match if spec.choice == "random-of-matched" else by_confidence
    return random_as_many(drawn_from, counts, seed=config.seed)


def task_plans(
    config: Config,
    data: RunData,
    study: Path,
    tasks: Mapping[str, Task],
    method: str,
    *,
    starts: Mapping[str, Path],
) -> dict[str, TaskPlan]:
    """What each task of a method is given. All but Base itself start from the checkpoint of the shared Base.

    A friend that is never trained takes part only where friends do, and a task without friends only where nothing is
    done as friends do it. `starts` are checkpoints that a Base goes on from.
    """
    plans: dict[str, TaskPlan] = {}
    for name, task in tasks.items():
        examples, section, spec = data.tasks[name], config.sections[name], METHODS[method]
        if not _has_friend(config, name) and (spec.friend != "none" or spec.like is not None):
            continue
        if not is_trained(config, name):
            if spec.friend != "none":
                test = {"test": examples.test} if examples.test else {}
                plans[name] = fixed_friend(task, dev=examples.dev, test=test)
            continue
        shared = method_folder(study, "base") / "checkpoints" / name / "iteration-000"
        plans[name] = TaskPlan(
            task=task,
            gold=examples.gold,
            dev=examples.dev,
            test={"test": examples.test},
            base=Training(section.base_steps, patience=section.base_patience) if method == "base" else shared,
            update=Training(section.update_steps, restart=section.restart, pseudo_weight=section.pseudo_weight),
            selectors=selectors(spec, config, data, study, task),
            start=starts.get(name),
            probe=probe_of(config, data, name) if _aims(config, name) else None,
        )
    return plans


def _has_friend(config: Config, task: str) -> bool:
    friendships = config.friendships if isinstance(config, FriendsConfig) else None
    return friendships is None or any(task in (one.first, one.second) for one in friendships)


# Dev as a pool would have it: what thresholds are found on, and what a finished run is diagnosed with.
#
# Gold of dev is of one task, so each task is probed on its own dev, where its friends label along. Of the paper's pair
# predicates are those that CSRL's gold is about; rewriting's dialogues get theirs from the finder that the pool's came
# from, because their corpus has none.


def probe_of(config: Config, data: RunData, task: str) -> Probe:
    right = partial(hidden_gold({task: data.tasks[task].dev}), task)
    return Probe(probed_inputs(config, data, task), right)


def probed_inputs(config: Config, data: RunData, task: str) -> list[Any]:
    inputs: list[Any] = [input_of(example) for example in data.tasks[task].dev]
    if not isinstance(config, CaseStudyConfig):
        return inputs
    if isinstance(config.data, PublicDataConfig) and task == "rewriting":
        inputs = with_found_predicates(inputs, config, lambda done, total: None)
    if not any(dialogue.predicates for dialogue in inputs):
        raise ConfigError(
            f"the dev dialogues of {task} give no predicates, so friends have nothing to match there and no threshold"
            " can be found for a precision; name the predicates, or set tasks.*.pick_threshold to a number or a share"
        )
    return inputs


def _aims(config: Config, task: str) -> bool:
    """Whether something of the selection is found on dev: a threshold, by match or by confidence, or the score."""
    section = config.sections[task]
    aims = (PrecisionThresholdConfig, ExpectedPrecisionConfig, FalseDiscoveryConfig)
    return section.selection.score == "learned" or any(
        isinstance(one, aims) for one in (section.pick, section.sst_threshold)
    )
