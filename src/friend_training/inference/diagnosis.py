"""Looking inside a finished run of any tasks: its models label dev as if it had no labels, and their friends along.

As for the paper's pair (study/diagnosis.py): for diagnosis only, each task is judged on its own dev. Nobody knows what
the friend should predict there; it is right about a unit where it means what gold means (a match of 1 with gold).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.analysis.agreement import AgreementReport, agreement_report, measured_epsilon
from friend_training.core.friendship import Friendship
from friend_training.core.task import Prediction, Task
from friend_training.loop.labelling import label_shard
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.files import write_text
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.runs.store import predictions_of, scores_of
from friend_training.study.config import FriendsConfig
from friend_training.study.diagnosis import ROUNDS, Choices, choices, dev_of, diagnose, strictness
from friend_training.study.diagnosis_page import FOLDER, keep_diagnosis
from friend_training.study.folders import files_of, method_folder, run_config
from friend_training.study.friends import saved_friendships
from friend_training.study.kinds import Given, is_trained, make_task
from friend_training.study.plans import probe_of, wanted_balance
from friend_training.study.run_data import RunData, gold_units
from friend_training.tasks.label_text import as_stored, label_line, turns_of

Progress = Callable[[int, int], None]

Labelled = Mapping[str, Sequence[Sequence[Prediction]]]


@dataclass(frozen=True, slots=True)
class TaskDiagnosis:
    """What the models that labelled the pool in `iteration` make of a task's dev; `pairs` is by friendship.

    `units` are the places of units: the number of the input, and of the unit in it.
    """

    task: str
    iteration: int
    choices: Choices
    pairs: Mapping[str, AgreementReport]
    inputs: Sequence[Any]
    gold: Mapping[str, Any]
    labelled: Labelled
    units: Sequence[tuple[int, int]]


def diagnose_tasks(
    study: Path,
    config: FriendsConfig,
    method: str,
    data_dir: Path | None,
    progress: Progress = lambda done, total: None,
) -> list[TaskDiagnosis]:
    """Every task with a dev of its own, iteration after iteration."""
    whole, run = Run.open(study), Run.open(method_folder(study, method))
    data = dev_of(study, config, files_of(study, data_dir))
    friendships = saved_friendships(whole, config, {})
    judged = [name for name in config.sections if is_trained(config, name) and data.tasks[name].dev]
    found = []
    for iteration in range(1, config.iterations + 1):
        tasks = {name: _task_at(config, study, run, name, iteration - 1) for name in config.sections}
        found += [_diagnosed(study, config, data, method, name, iteration, tasks, friendships) for name in judged]
        progress(iteration, config.iterations)
    return found


def _task_at(config: FriendsConfig, study: Path, run: Run, name: str, iteration: int) -> Task:
    at = iteration if is_trained(config, name) else 0
    checkpoint = run.checkpoint(name, at)
    task = make_task(config, name, Given(checkpoint, base=files_of(study, None) or Path()))
    load_checkpoint(task, checkpoint, digest=run.require(Train(name, at))["digest"])
    return task


def _diagnosed(
    study: Path,
    config: FriendsConfig,
    data: RunData,
    method: str,
    name: str,
    iteration: int,
    tasks: Mapping[str, Task],
    friendships: Sequence[Friendship],
) -> TaskDiagnosis:
    probe = probe_of(config, data, name)
    inputs = list(probe.inputs)
    rows = label_shard(tasks, friendships, inputs, aggregate=config.aggregate)
    labelled = predictions_of(rows, {one: task.label_type for one, task in tasks.items()}, [one.id for one in inputs])
    of_task = rows.filter(np.array(rows["task"].to_pylist()) == name)
    right = np.array([probe.right(unit) is True for units in labelled[name] for unit in units], np.bool_)
    made = choices(
        study,
        config,
        method,
        name,
        iteration,
        scores_of(of_task, labels=True),
        right,
        balance=wanted_balance(config, data, tasks[name]),
    )
    gold = dict(unit for example in data.tasks[name].dev for unit in gold_units(example))
    pairs = {
        one.name: report
        for one in friendships
        if name in (one.first, one.second)
        and (report := _pair(one, name, inputs, labelled, gold, right, seed=config.seed)) is not None
    }
    units = [(number, unit) for number, of_input in enumerate(labelled[name]) for unit in range(len(of_input))]
    return TaskDiagnosis(name, iteration, made, pairs, inputs, gold, labelled, units)


def _pair(
    friendship: Friendship,
    name: str,
    inputs: Sequence[Any],
    labelled: Labelled,
    gold: Mapping[str, Any],
    right: np.ndarray,
    *,
    seed: int,
) -> AgreementReport | None:
    """ε, the dependence of the two models and the error of what they agree on; None where nothing can be matched."""
    is_first = name == friendship.first
    first, second = labelled[friendship.first], labelled[friendship.second]
    own = [[Prediction(unit.unit, gold[unit.unit], 1.0) for unit in units] for units in labelled[name]]

    def scores(a: Any, b: Any) -> np.ndarray:
        found = friendship.match(inputs, a, b)
        return np.array([m for one in found for m in (one.first if is_first else one.second)], np.float64)

    match = scores(first, second)
    by_gold = scores(own, second) if is_first else scores(first, own)
    there = ~np.isnan(match) & ~np.isnan(by_gold)
    if not there.any():
        return None
    chance = measured_epsilon(friendship, inputs, first, second, seed=seed, rounds=ROUNDS)
    return agreement_report(
        correct_a=right[there].tolist(),
        correct_b=(by_gold[there] == 1.0).tolist(),
        agreed=(match[there] == 1.0).tolist(),
        epsilon=chance.epsilon or 0.0,
    )


def diagnosis_of(study: Path, method: str, data_dir: Path | None, progress: Progress, *, examples: int) -> str:
    """The page about a run of any kind; it and its numbers are kept in the run's folder."""
    config = run_config(study)
    if isinstance(config, FriendsConfig):
        found = diagnose_tasks(study, config, method, data_dir, progress)
        return keep_tasks(study, found, method, seed=config.seed, examples=examples)
    return keep_diagnosis(study, diagnose(study, method, data_dir, progress), method, examples=examples)


# The same as a page, which holds texts and so stays in the run folder, and as numbers, which may leave it.


def keep_tasks(study: Path, found: Sequence[TaskDiagnosis], method: str, *, seed: int, examples: int) -> str:
    """Write page and numbers into the run's folder; returns the page."""
    text = "\n".join(_page(found, method, examples)) + "\n"
    write_text(study / FOLDER / f"{method}.md", text)
    lines = [
        json.dumps(_numbers(one, method, seed), ensure_ascii=False, sort_keys=True, default=str) + "\n" for one in found
    ]
    write_text(study / FOLDER / f"{method}.jsonl", "".join(lines))
    return text


def _numbers(one: TaskDiagnosis, method: str, seed: int) -> dict[str, Any]:
    made = one.choices
    return {
        "method": method,
        "seed": seed,
        "task": one.task,
        "iteration": one.iteration,
        "units": len(made.right),
        "accuracy": float(made.right.mean()),
        "rules": {rule.rule: {"chosen": rule.count, "precision": rule.precision} for rule in made.rules},
        "errors_only_match_catches": len(made.caught_by_match()),
        "errors_only_confidence_catches": len(made.caught_by_confidence()),
        "right_lost_by_match": len(made.lost_by_match()),
        "strictness": [asdict(found) for found in strictness(made)],
        "friendships": {
            name: {"epsilon": pair.epsilon, "agreed": pair.agreed, "error": pair.error, "friend_right": pair.eta_b}
            for name, pair in one.pairs.items()
        },
    }


def _page(found: Sequence[TaskDiagnosis], method: str, examples: int) -> Iterator[str]:
    yield f"# Diagnosis of {method} on dev"
    yield ""
    yield "| Task | Iteration | units | right | rule | chosen | right of the chosen |"
    yield "|---|--:|--:|--:|---|--:|--:|"
    for one in found:
        right = one.choices.right
        for rule in one.choices.rules:
            start = f"| {one.task} | {one.iteration} | {len(right)} | {_percent(float(right.mean()))}"
            yield f"{start} | {rule.rule} | {rule.count} | {_percent(rule.precision)} |"
    yield ""
    yield "How many are right among the best few:"
    yield ""
    yield "| Task | Iteration | share | units | right, by match and confidence | right, by confidence |"
    yield "|---|--:|--:|--:|--:|--:|"
    for one in found:
        for few in strictness(one.choices):
            start = f"| {one.task} | {one.iteration} | {100 * few.share:.0f} % | {few.units}"
            yield f"{start} | {_percent(few.by_match)} | {_percent(few.by_confidence)} |"
    yield ""
    yield "The friend is right about a unit where it means what gold means."
    yield ""
    yield (
        "| Task | Friendship | Iteration | ε | task right | friend right | errors correlate (φ) | agree"
        " | error of the agreed | formula |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for one in found:
        for name, pair in one.pairs.items():
            phi = "" if pair.errors is None else f"{pair.errors.phi:.2f} ± {pair.errors.standard_error:.2f}"
            cells = [f"{pair.epsilon:.3f}", _percent(pair.eta_a), _percent(pair.eta_b), phi, _percent(pair.agreed)]
            cells += [_percent(pair.error), _percent(pair.corrected_error)]
            yield f"| {one.task} | {name} | {one.iteration} | {' | '.join(cells)} |"
    last = max((one.iteration for one in found), default=0)
    for one in found if examples else ():
        if one.iteration == last:
            yield from _cases(one, examples)


def _cases(one: TaskDiagnosis, count: int) -> Iterator[str]:
    lists = {
        "Errors that matching catches and confidence does not": one.choices.caught_by_match(),
        "Errors that confidence catches and matching does not": one.choices.caught_by_confidence(),
        "Right labels that matching throws away": one.choices.lost_by_match(),
    }
    for title, places in lists.items():
        yield ""
        yield f"## {one.task}, iteration {one.iteration}: {title} ({len(places)})"
        for place in places[:count]:
            yield ""
            yield from _case(one, place)


def _case(one: TaskDiagnosis, place: int) -> Iterator[str]:
    number, unit = one.units[place]
    given = as_stored(one.inputs[number])
    for speaker, text in turns_of(given):
        yield f"    {speaker}: {text}" if speaker else f"    {text}"
    said, made = one.labelled[one.task][number][unit], one.choices
    yield f"    says   {label_line(as_stored(said.label), given)}"
    yield f"    gold   {label_line(as_stored(one.gold[said.unit]), given)}"
    for name, labelled in one.labelled.items():
        for friend in labelled[number] if name != one.task else ():
            yield f"    {name} {label_line(as_stored(friend.label), given)}, confidence {friend.confidence:.2f}"
    match = made.scores.match[place]
    yield f"    match {match:.2f}, confidence {made.scores.confidence[place]:.2f}, overall {made.overall[place]:.2f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
