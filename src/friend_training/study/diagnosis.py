"""Looking inside a finished run where nobody knows the gold of its pool: its models label dev as if it had no labels.

For diagnosis only: dev is in no pool, and nothing here goes back into training. Each task is judged on its own dev. On
CSRL's dev nobody knows the right rewrite; a rewrite is right about a predicate where, through the bridge, it says what
the gold arguments say (m_k = 1 with gold).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from friend_training.analysis.agreement import AgreementReport, agreement_report, measured_epsilon
from friend_training.bridges.bridge import CachedBridge
from friend_training.core.friendship import Friendship
from friend_training.core.selector import BoolColumn, Scores, Selector, Threshold, TopN
from friend_training.core.task import Prediction, Task
from friend_training.data.summary import fingerprint
from friend_training.errors import RunError
from friend_training.friendships.bridge_quality import BridgeFailures, bridge_failures
from friend_training.friendships.csrl_rewriting import RoleMatcher, Sigma, csrl_rewriting
from friend_training.friendships.joint_labels import MergedRoles
from friend_training.loop.thresholds import Probe
from friend_training.runs.checkpoints import check_checkpoint
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.config import case_study
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.data import load_data
from friend_training.study.folders import files_of, method_folder, methods_there, run_config
from friend_training.study.kinds import Given, make_task
from friend_training.study.open import threshold_at
from friend_training.study.plans import probe_of, wanted_balance
from friend_training.study.resources import CACHED_ANSWERS, open_bridge
from friend_training.study.run_data import Progress, RunData
from friend_training.study.sections import Config, ShareThresholdConfig, TaskConfig, pick_of
from friend_training.tasks.csrl.metrics import score
from friend_training.types import CsrlExample, Dialogue

# What matching and confidence would choose of the same labelled units, and which errors each of them catches.


@dataclass(frozen=True, slots=True)
class Choice:
    """One rule: which units it chooses, and how many of them are right."""

    rule: str
    chosen: BoolColumn
    right: int

    @property
    def count(self) -> int:
        return int(self.chosen.sum())

    @property
    def precision(self) -> float | None:
        return self.right / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class Choices:
    """All rules over the units of one task; `overall` is friend-training's score of each, NaN without a match."""

    scores: Scores
    right: BoolColumn
    overall: np.ndarray
    by_match: Choice
    by_confidence: Choice | None
    as_many: Choice

    @property
    def rules(self) -> list[Choice]:
        return [rule for rule in (self.by_match, self.by_confidence, self.as_many) if rule is not None]

    def caught_by_match(self) -> list[int]:
        """Errors that as many by confidence would take in and matching keeps out, the surest first."""
        wrong = self.as_many.chosen & ~self.by_match.chosen & ~self.right
        return _ordered(wrong, -self.scores.confidence)

    def caught_by_confidence(self) -> list[int]:
        """The reverse: errors on which the friends agree and that are not among the surest, best agreement first."""
        wrong = self.by_match.chosen & ~self.as_many.chosen & ~self.right
        return _ordered(wrong, -self.overall)

    def lost_by_match(self) -> list[int]:
        """Right labels that say something and that matching throws away, the surest first."""
        lost = self.right & self.scores.content & ~self.by_match.chosen
        return _ordered(lost, -self.scores.confidence)


def choices(
    study: Path,
    config: Config,
    method: str,
    task: str,
    iteration: int,
    scores: Scores,
    right: BoolColumn,
    balance: Mapping[str, float] | None = None,
) -> Choices:
    """By match with the thresholds of `method`, by confidence with self-training's own, and by confidence as many.

    Where self-training finds its threshold while it runs and was not run here, nobody knows it: that rule is left out.
    With a `balance` each kind of label has a threshold of its own, so shares are taken of these units themselves.
    """
    section = config.sections[task]
    if balance is not None and isinstance(section.pick, ShareThresholdConfig):
        return _balanced(section, scores, right, balance)
    friends = threshold_at(study, method, task, iteration, section.pick)
    matching = Selector(Threshold(friends), section.confidence_weight, content=section.content)
    by_match = _choice(f"match and confidence ≥ {friends:.2f}", matching, scores, right)
    alone = None
    if isinstance(section.sst_threshold, float) or "sst" in methods_there(study):
        own = threshold_at(study, "sst", task, iteration, section.sst_threshold)
        by_own = Selector(Threshold(own), 1.0, content=section.content)
        alone = _choice(f"confidence ≥ {own:.2f}", by_own, scores, right)
    surest = Selector(TopN(by_match.count), 1.0, content=section.content)
    return Choices(
        scores=scores,
        right=right,
        overall=matching.overall(scores),
        by_match=by_match,
        by_confidence=alone,
        as_many=_choice("confidence, as many", surest, scores, right),
    )


def _balanced(section: TaskConfig, scores: Scores, right: BoolColumn, balance: Mapping[str, float]) -> Choices:
    share = pick_of(section.pick)
    matching = Selector(share, section.confidence_weight, content=section.content, balance=balance)
    by_match = _choice("match and confidence, a balanced share", matching, scores, right)
    surest = Selector(TopN(by_match.count), 1.0, content=section.content, balance=balance)
    as_many = _choice("confidence, as many", surest, scores, right)
    return Choices(scores, right, matching.overall(scores), by_match, None, as_many)


def _choice(rule: str, selector: Selector, scores: Scores, right: BoolColumn) -> Choice:
    chosen = selector.decide(scores, selector.cutoff([scores])).chosen
    return Choice(rule, chosen, int((chosen & right).sum()))


def _ordered(holds: BoolColumn, key: np.ndarray) -> list[int]:
    found = np.flatnonzero(holds)
    return [int(place) for place in found[np.argsort(key[found], kind="stable")]]


# How good CSRL's chosen labels are, argument by argument, and how much in them is new to the model.
#
# As a whole a label is right or wrong, and after a hundred gold labels hardly any is right; their F1 tells more. And a
# label that the model gives by itself teaches it nothing but to be surer: new is what only its friend says.


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """Of the units that a rule chooses: F1 of CSRL's own labels and of the merged ones, and what is new in these.

    `new` is the share of merged arguments that CSRL does not give by itself; numbers are percentages.
    """

    rule: str
    units: int
    own: float
    merged: float
    new: float


def label_quality(
    own: Sequence[Sequence[Prediction]],
    merged: Sequence[Sequence[Prediction]],
    gold: Sequence[CsrlExample],
    made: Choices,
) -> list[LabelQuality]:
    rules = [("all", np.ones_like(made.right)), *((rule.rule, rule.chosen) for rule in made.rules)]
    dialogues = [example.dialogue for example in gold for _ in example.roles]
    right = [roles for example in gold for roles in example.roles]
    alone, both = ([unit.label for units in said for unit in units] for said in (own, merged))

    def measured(rule: str, chosen: BoolColumn) -> LabelQuality:
        of = [place for place, holds in enumerate(chosen) if holds]
        asked = [dialogues[place] for place in of]
        a, b, g = ([labels[place] for place in of] for labels in (alone, both, right))
        new = 100 - score(b, a, asked).as_dict()["precision"]
        return LabelQuality(rule, len(of), score(a, g, asked).as_dict()["f1"], score(b, g, asked).as_dict()["f1"], new)

    return [measured(rule, chosen) for rule, chosen in rules if chosen.any()]


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
    labelled: dict[str, Labelled]
    choices: dict[str, Choices]
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
    config = case_study(run_config(study))
    run = Run.open(method_folder(study, method))
    data = dev_of(study, config, data_dir)
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
                balance=wanted_balance(config, data, tasks[name]),
            )
            for name in TASKS
        }
        pair = _pair(config, data, labelled["csrl"], made["csrl"], friendship)
        said = labelled["csrl"]
        merged = MergedRoles(bridge)(said.dialogues, said.roles, said.rewrites)
        quality = tuple(label_quality(said.roles, merged, data.tasks["csrl"].dev, made["csrl"]))
        found.append(IterationDiagnosis(iteration, labelled, made, pair, quality))
        progress(iteration, config.iterations)
    return Diagnosis(config, data, tuple(found), bridge_failures(bridge, data.tasks["csrl"].dev))


def dev_of(study: Path, config: Config, data_dir: Path | None) -> RunData:
    """The data as the run had them, but for the pool, which is not looked at."""
    data = load_data(config, files_of(study, data_dir), pool=False)
    before = Run.open(study).fingerprints
    for name, examples in data.tasks.items():
        if before.get(f"{name}_dev") != fingerprint(examples.dev):
            raise RunError(f"{study} was made from other data: {name}_dev is not what it was")
    return data


def _task_at(config: Config, run: Run, name: str, iteration: int) -> Task:
    checkpoint = run.checkpoint(name, iteration)
    check_checkpoint(checkpoint, run.require(Train(name, iteration))["digest"])  # making a task reads of it too
    task = make_task(config, name, Given(checkpoint))
    task.load(checkpoint)
    return task


def _scored(name: str, labelled: Labelled, probe: Probe, friendship: Friendship) -> tuple[Scores, BoolColumn]:
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


def _labelled(dialogues: Sequence[Dialogue], tasks: Mapping[str, Task], friendship: Friendship) -> Labelled:
    roles, rewrites = tasks["csrl"].predict(dialogues), tasks["rewriting"].predict(dialogues)
    said_by_roles = friendship.translate_first(dialogues, roles)
    return Labelled(dialogues, roles, rewrites, said_by_roles, friendship.translate_second(dialogues, rewrites))


def _pair(config: Config, data: RunData, labelled: Labelled, made: Choices, friendship: Friendship) -> AgreementReport:
    """ε, the dependence of the two models and the error of what they agree on, on CSRL's dev."""
    gold = [
        [Prediction(unit.unit, label, 1.0) for unit, label in zip(units, example.roles, strict=True)]
        for units, example in zip(labelled.roles, data.tasks["csrl"].dev, strict=True)
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


# How many labels are right among the best few: what a stricter choice would gain, by match and by confidence.


SHARES = (0.05, 0.1, 0.2, 0.3)
"""Of the units whose labels say something."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """The best `units` by friend-training's score and by confidence: how many of each are right, as a share."""

    share: float
    units: int
    by_match: float
    by_confidence: float


def strictness(made: Choices) -> list[Strictness]:
    """For each share that has units; shares with more units than have a match are left out."""
    said = made.scores.content
    agreed = np.flatnonzero(said & ~np.isnan(made.overall))
    sure = np.flatnonzero(said)
    best = agreed[np.argsort(-made.overall[agreed], kind="stable")]
    surest = sure[np.argsort(-made.scores.confidence[sure], kind="stable")]
    counts = [(share, round(share * len(sure))) for share in SHARES]
    return [
        Strictness(share, count, float(made.right[best[:count]].mean()), float(made.right[surest[:count]].mean()))
        for share, count in counts
        if 0 < count <= len(best)
    ]
