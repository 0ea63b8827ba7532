"""What each task of a method is given: its data, its trainings, and how its pseudo-labels are chosen.

A selector may keep a balance: as many labels with an argument in another turn, say, as gold has. Friends agree most
easily on what both leave out: CSRL does not find the argument in an earlier turn, the rewriter does not insert it, and
the two omissions match. Without balance a model is taught to leave it out. Where dev is of another domain than gold,
its balance is another one: in REWRITE every utterance needs a rewrite, in RESTORATION six of ten. `balance: dev` keeps
that of dev; of its labels nothing else is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from friend_training.analysis.three_friends import count_votes
from friend_training.core.friendship import Friendship
from friend_training.core.selector import Aim, Selector, Share, TotalAgreement
from friend_training.core.task import Task
from friend_training.loop.algorithm import TaskPlan, Training, fixed_friend
from friend_training.loop.thresholds import Probe
from friend_training.methods.controls import as_many, chosen_counts, random_as_many
from friend_training.methods.registry import METHODS, MethodSpec
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig, FriendsConfig
from friend_training.study.data import with_predicates
from friend_training.study.folders import method_folder
from friend_training.study.friends import taken_whole
from friend_training.study.kinds import is_trained
from friend_training.study.run_data import RunData, hidden_gold, input_of, label_shares
from friend_training.study.sections import Config, pick_of


def wanted_balance(config: Config, data: RunData, task: Task) -> dict[str, float] | None:
    """The shares that the config asks for, or None."""
    source = config.sections[task.name].balance
    if source == "none":
        return None
    if isinstance(source, dict):
        return source
    examples = data.tasks[task.name]
    return label_shares(task, examples.gold if source == "gold" else examples.dev)


def selectors(
    spec: MethodSpec, config: Config, data: RunData, study: Path, task: Task, *, every: bool
) -> list[Selector]:
    """How a method chooses among a task's pseudo-labels, one selector per iteration; with `every`, all labels are
    taken that have a part left, because each part was chosen."""
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
    if every:
        kept = balance if config.balances_parts else None
        return [replace(by_confidence, pick=Share(1.0), content="only", balance=kept)] * iterations
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
    friendships: Sequence[Friendship],
) -> dict[str, TaskPlan]:
    """What each task of a method is given. All but Base itself start from the checkpoint of the shared Base.

    `friendships` are the method's: they say whose labels are all taken, part by part, and what is found on dev. A
    friend that is never trained takes part only where friends do, and a task without friends only where nothing is
    done as friends do it. `starts` are checkpoints that a Base goes on from.
    """
    plans: dict[str, TaskPlan] = {}
    every = taken_whole(friendships)
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
            selectors=selectors(spec, config, data, study, task, every=name in every),
            start=starts.get(name),
            count=_count_votes if section.selection.score == "votes" else None,
            probe=probe_of(config, data, name) if _asks_dev(config, name, friendships) else None,
        )
    return plans


def _has_friend(config: Config, task: str) -> bool:
    friendships = config.friendships if isinstance(config, FriendsConfig) else None
    return friendships is None or any(task in (one.first, one.second) for one in friendships)


def _count_votes(opinions: Any, labels: int) -> tuple[Any, Any]:
    votes = count_votes(opinions, labels)
    return votes.posterior, votes.reliability[0]


# Dev as a pool would have it: what thresholds are found on, and what a finished run is diagnosed with.
#
# Gold of dev is of one task, so each task is probed on its own dev, where its friends label along. Of the paper's pair
# predicates are those that CSRL's gold is about; rewriting's dialogues get theirs from the finder that the pool's came
# from, because their corpus has none.


def probe_of(config: Config, data: RunData, task: str) -> Probe:
    gold = hidden_gold({task: data.tasks[task].dev})
    inputs, parts = probed_inputs(config, data, task), partial(gold.parts, task)
    return Probe(inputs, partial(gold, task), other_domain=config.pool_of_another_domain, parts=parts)


def probed_inputs(config: Config, data: RunData, task: str) -> list[Any]:
    inputs: list[Any] = [input_of(example) for example in data.tasks[task].dev]
    return with_predicates(inputs, config, task) if isinstance(config, CaseStudyConfig) else inputs


def _asks_dev(config: Config, task: str, friendships: Sequence[Friendship]) -> bool:
    """Whether something is found on dev: a threshold, by match or by confidence, the score, what a friend's word
    weighs, or when to stop."""
    section = config.sections[task]
    joints = [one.joint(task) for one in friendships]
    return (
        section.selection.score == "learned"
        or any(isinstance(pick_of(one), Aim) for one in (section.pick, section.sst_threshold))
        or any(joint is not None and joint.to_fit for joint in joints)
        or (config.stop is not None and bool(friendships))
    )
