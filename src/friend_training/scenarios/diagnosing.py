"""Looking inside a finished run where nobody knows the gold of its pool: its models label dev as if it had no labels.

For diagnosis only: dev is in no pool, and nothing here goes back into training. Each task is judged on its own dev. On
CSRL's dev nobody knows the right rewrite; a rewrite is right about a predicate where, through the bridge, it says what
the gold arguments say (m_k = 1 with gold).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from friend_training.core.agreement import AgreementReport, agreement_report
from friend_training.core.checkpoint import load_checkpoint
from friend_training.core.diagnostics import measured_epsilon
from friend_training.core.friendship import Friendship
from friend_training.core.probe import Probe
from friend_training.core.run import Run
from friend_training.core.selector import BoolColumn, Scores
from friend_training.core.task import Prediction
from friend_training.corpora.fingerprint import fingerprint
from friend_training.errors import RunError
from friend_training.examples import Dialogue
from friend_training.friends.csrl_rewriting import RoleMatcher, Sigma, csrl_rewriting
from friend_training.friends.merged_roles import MergedRoles
from friend_training.nn.torch_task import TorchTask
from friend_training.runs.steps import Train
from friend_training.scenarios.balancing import wanted_balance
from friend_training.scenarios.bridge_failures import BridgeFailures, bridge_failures
from friend_training.scenarios.choices import Choices, choices
from friend_training.scenarios.config import Config
from friend_training.scenarios.data import RunData, load_data
from friend_training.scenarios.data_sections import FileData
from friend_training.scenarios.folders import method_folder, run_config
from friend_training.scenarios.label_quality import LabelQuality, label_quality
from friend_training.scenarios.making import Progress
from friend_training.scenarios.open_bridge import open_bridge
from friend_training.scenarios.probes import probe_of
from friend_training.scenarios.resources import CACHED_ANSWERS
from friend_training.scenarios.tasks import TASKS, TaskName, make_task
from friend_training.tasks.srl.bridge import CachedBridge

ROUNDS = 5
"""How often dev is shuffled to see what agrees by chance."""

Predictions = Sequence[Sequence[Prediction]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A task's dev dialogues, labelled by both tasks as a pool would be, and both answers in the common space."""

    dialogues: Sequence[Dialogue]
    roles: Predictions
    rewrites: Predictions
    said_by_roles: Sequence[Sigma]
    said_by_rewrites: Sequence[Sigma]


@dataclass(frozen=True, slots=True)
class IterationDiagnosis:
    """What the models that labelled the pool in `iteration` make of dev; `pair` and `quality` are about CSRL."""

    iteration: int
    labelled: dict[TaskName, Labelled]
    choices: dict[TaskName, Choices]
    pair: AgreementReport
    quality: tuple[LabelQuality, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    config: Config
    data: RunData
    iterations: tuple[IterationDiagnosis, ...]
    bridge: BridgeFailures


def diagnose(
    study: str | Path, method: str, data_dir: str | Path | None, progress: Progress = lambda done, total: None
) -> Diagnosis:
    study = Path(study)
    data_dir = None if data_dir is None else Path(data_dir)
    config = run_config(study)
    run = Run.open(method_folder(study, method))
    data = _dev_of(study, config, data_dir)
    bridge = CachedBridge(open_bridge(study, config), max_entries=CACHED_ANSWERS)
    friendship = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    probes = {name: probe_of(config, data, name) for name in TASKS}
    found = []
    for iteration in range(1, config.iterations + 1):
        tasks = {name: _task_at(config, run, name, iteration - 1) for name in TASKS}
        labelled = {name: _labelled(probes[name].inputs, tasks, friendship) for name in TASKS}
        made = {
            name: choices(
                study,
                config,
                method,
                name,
                iteration,
                *_scored(name, labelled[name], probes[name], friendship),
                balance=wanted_balance(config, data, name),
            )
            for name in TASKS
        }
        pair = _pair(config, data, labelled["csrl"], made["csrl"], friendship)
        said = labelled["csrl"]
        merged = MergedRoles(bridge)(said.dialogues, said.roles, said.rewrites)
        quality = tuple(label_quality(said.roles, merged, data.csrl_dev, made["csrl"]))
        found.append(IterationDiagnosis(iteration, labelled, made, pair, quality))
        progress(iteration, config.iterations)
    return Diagnosis(config, data, tuple(found), bridge_failures(bridge, data.csrl_dev))


def _dev_of(study: Path, config: Config, data_dir: Path | None) -> RunData:
    """The data as the run had them, but for the pool, which takes longest to make and is not looked at."""
    small = (
        config
        if isinstance(config.data, FileData)
        else config.model_copy(update={"data": config.data.model_copy(update={"pool": 1})})
    )
    data = load_data(small, data_dir)
    before = Run.open(study).fingerprints
    for name, examples in (("csrl_dev", data.csrl_dev), ("rewriting_dev", data.rewriting_dev)):
        if before.get(name) != fingerprint(examples):
            raise RunError(f"{study} was made from other data: {name} is not what it was")
    return data


def _task_at(config: Config, run: Run, name: TaskName, iteration: int) -> TorchTask:
    checkpoint = run.checkpoint(name, iteration)
    task = make_task(config, name, checkpoint)
    load_checkpoint(task, checkpoint, digest=run.require(Train(name, iteration))["digest"])
    return task


def _scored(name: TaskName, labelled: Labelled, probe: Probe, friendship: Friendship) -> tuple[Scores, BoolColumn]:
    """What selection sees of the units of a task, and which of them are right, which it never sees."""
    matches = friendship.matcher(labelled.said_by_roles, labelled.said_by_rewrites)
    of_inputs = labelled.roles if name == "csrl" else labelled.rewrites
    units = [unit for of_input in of_inputs for unit in of_input]
    scores = Scores(
        unit=[unit.unit for unit in units],
        confidence=np.array([unit.confidence for unit in units], np.float64),
        match=np.array([m for match in matches for m in (match.first if name == "csrl" else match.second)], np.float64),
        content=np.array([unit.content for unit in units], np.bool_),
        label=[unit.kind or "" for unit in units],
    )
    return scores, np.array([probe.right(unit) is True for unit in units], np.bool_)


def _labelled(dialogues: Sequence[Dialogue], tasks: dict[TaskName, TorchTask], friendship: Friendship) -> Labelled:
    roles, rewrites = tasks["csrl"].predict(dialogues), tasks["rewriting"].predict(dialogues)
    said_by_roles = friendship.translate_first(dialogues, roles)
    return Labelled(dialogues, roles, rewrites, said_by_roles, friendship.translate_second(dialogues, rewrites))


def _pair(config: Config, data: RunData, labelled: Labelled, made: Choices, friendship: Friendship) -> AgreementReport:
    """ε, the dependence of the two models and the error of what they agree on, on CSRL's dev."""
    gold = [
        [Prediction(unit.unit, label, 1.0) for unit, label in zip(units, example.roles, strict=True)]
        for units, example in zip(labelled.roles, data.csrl_dev, strict=True)
    ]
    by_gold = friendship.matcher(friendship.translate_first(labelled.dialogues, gold), labelled.said_by_rewrites)
    friend_right = np.array([score for match in by_gold for score in match.first], float) == 1.0
    there = ~np.isnan(made.scores.match)
    again = replace(friendship, translate_second=lambda inputs, predictions: labelled.said_by_rewrites)
    chance = measured_epsilon(
        again, labelled.dialogues, labelled.roles, labelled.rewrites, seed=config.seed, rounds=ROUNDS
    )
    return agreement_report(
        correct_a=made.right[there].tolist(),
        correct_b=friend_right[there].tolist(),
        agreed=(made.scores.match[there] == 1.0).tolist(),
        epsilon=chance.epsilon or 0.0,
    )
