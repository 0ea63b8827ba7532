"""Rewriting and coreference as friends on MuDoCo: the data of the few-shot study, the models and every method."""

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.core.friendship import Friendship, Match
from friend_training.core.selector import Selector, TopN
from friend_training.core.task import FitPlan, Prediction, PseudoLabel
from friend_training.data.catalogue import part_path
from friend_training.data.read import read_examples
from friend_training.data.readers.english import USER, rewrites_of
from friend_training.data.splits import split
from friend_training.friendships.coreference_rewriting import coreference_rewriting, propose_rewrites
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, Training
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.friend_training import fdt
from friend_training.methods.self_training import sst
from friend_training.nn.training import TrainingSettings
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.run import Run
from friend_training.tasks.coreference.mentions import gold_links, without_speakers
from friend_training.tasks.coreference.task import coreference_task, unit_of
from friend_training.tasks.rewriting.word_task import word_rewriting_task
from friend_training.types import CoreferenceExample, Dialogue, RewritingExample, dialogue_group

DOMAINS = ("calling", "messaging", "music", "news", "reminders", "weather")
TASKS = ("rewriting", "coreference")
GOLD, POOL, SHARE = 100, 1500, 0.25
ITERATIONS = 1
MAX_LENGTH = 96
MATCH_WEIGHT = 2.0
METHODS = (
    *("base", "base-same-steps", "sst", "fdt", "fdt-merged", "fdt-joint"),
    *("fdt-shuffled", "random-as-many", "sst-as-many", "friends-labels", "fdt-perfect-friend"),
)
"""In the order of running: the controls choose as many as FDT did."""


@dataclass(frozen=True)
class Data:
    """Cuts of MuDoCo dialogues by part; every part has other dialogues, and the parts of dev are split by dialogue."""

    rewrites: Mapping[str, RewritingExample]  # by id
    links: Mapping[str, CoreferenceExample]  # by id
    gold: Sequence[str]  # ids of user turns
    dev: Sequence[str]
    half: Sequence[str]  # the half of dev that is test
    test: Sequence[str]  # the test file
    train: Sequence[str]


def mudoco(data_dir: Path) -> Data:
    links: dict[str, CoreferenceExample] = {}
    parts: dict[str, list[str]] = {}
    rewrites: dict[str, RewritingExample] = {}
    for part in ("train", "dev", "test"):
        cuts = [cut for domain in DOMAINS for cut in _read(f"mudoco/{domain}-{part}", "coreference", data_dir)]
        parts[part] = [cut.dialogue.id for cut in cuts if cut.dialogue.utterance.speaker == USER]
        links |= {cut.dialogue.id: cut for cut in cuts}
        if part != "train":
            rewrites |= rewrites_of(cuts, _read(f"mudoco-qr/{part}", "rewriting", data_dir))
    dialogues = [links[id].dialogue for id in parts["dev"]]
    quarter = len({dialogue_group(id) for id in parts["dev"]}) // 4
    sides = {
        name: [dialogue.id for dialogue in found if dialogue.id in rewrites]
        for name, found in split(dialogues, {"gold": quarter, "dev": quarter, "half": None}).items()
    }
    test = [id for id in parts["test"] if id in rewrites]
    return Data(rewrites, links, sides["gold"], sides["dev"], sides["half"], test, parts["train"])


def _read(name: str, kind: Any, data_dir: Path) -> list[Any]:
    return read_examples(part_path(name, data_dir), kind).examples


class Study:
    """One seed: its gold, its pool and the Base that all methods start from."""

    def __init__(
        self, data: Data, seed: int, folder: Path, encoder: Path, *, steps: int = 300, update: int = 150
    ) -> None:
        self.data, self.seed, self.folder = data, seed, folder
        draw = random.Random(seed)
        written = _dialogues(data.gold, GOLD, draw)
        linked = _dialogues(data.train, GOLD, draw)
        self.gold = {
            "rewriting": [data.rewrites[id] for id in data.gold if dialogue_group(id) in written],
            "coreference": [data.links[id] for id in data.train if dialogue_group(id) in linked],
        }
        known = {*data.gold, *data.dev, *data.half, *data.test}
        seen = _texts([data.links[id].dialogue for id in known]) | _texts(
            [e.dialogue for e in self.gold["coreference"]]
        )
        pool = [
            data.links[id].dialogue
            for id in data.train
            if dialogue_group(id) not in linked and len(data.links[id].dialogue.turns) > 1
        ]
        draw.shuffle(pool)
        self.pool = [dialogue for dialogue in pool if _text(dialogue) not in seen][:POOL]
        self.settings = LoopSettings(seed=seed, iterations=ITERATIONS)
        settings = TrainingSettings(
            batch_size=8, encoder_rate=2e-4, head_rate=1e-3, look_every=100, early_stopping_units=250, precision="bf16"
        )
        self.tasks = {
            "rewriting": word_rewriting_task(encoder, settings, max_length=MAX_LENGTH, main_metric="edit_f1"),
            "coreference": coreference_task(encoder, settings, max_length=MAX_LENGTH),
        }
        self.update = update
        self.base_plans = {name: self._plan(name, steps) for name in TASKS}
        shutil.rmtree(folder, ignore_errors=True)  # what was stopped half-way is done again
        self.base_run = Run.create(folder / "base", "", {})
        self.base_outcome = base(self.base_run, self.base_plans, settings=self.settings)
        self.plans = {
            name: replace(plan, base=self.base_run.checkpoint(name, 0)) for name, plan in self.base_plans.items()
        }

    def _plan(self, name: str, steps: int) -> TaskPlan:
        dev = self.examples(name, self.data.dev)
        return TaskPlan(self.tasks[name], self.gold[name], dev, Training(steps=steps), Training(steps=self.update))

    def examples(self, name: str, ids: Sequence[str]) -> list[Any]:
        return [(self.data.rewrites if name == "rewriting" else self.data.links)[id] for id in ids]

    def selector(self, name: str, count: int, weight: float) -> Selector:
        """The best so many. Of rewriting half the chosen are changed, as many as in gold would be a quarter; of
        coreference links alone."""
        shares = {"changed": 0.5, "unchanged": 0.5} if name == "rewriting" else {"linked": 0.9, "none": 0.1}
        return Selector(TopN(count), confidence_weight=weight, balance=shares)

    def choosing(self, weight: float = 0.2) -> dict[str, TaskPlan]:
        counts = {"rewriting": 300, "coreference": 400}
        return {
            name: replace(plan, selectors=[self.selector(name, counts[name], weight)] * ITERATIONS)
            for name, plan in self.plans.items()
        }

    def controlled(self, fdt_run: Run, make: Any, **more: Any) -> dict[str, TaskPlan]:
        plans = {}
        for name, plan in self.plans.items():
            counts = chosen_counts(fdt_run, name, ITERATIONS)
            plans[name] = replace(plan, selectors=make(self.selector(name, 0, 0.2), counts, **more))
        return plans

    def run(self, method: str) -> tuple[Run | None, dict[str, Outcome]]:
        """One method, in a run folder of its own."""
        if method == "base":
            return self.base_run, self.base_outcome
        run = Run.create(self.folder / method, "", {})
        common: dict[str, Any] = {"settings": self.settings, "audit": self.audit}
        friends = coreference_rewriting()
        if method == "base-same-steps":
            return run, base_same_steps(run, self.plans, settings=self.settings)
        if method == "sst":
            return run, sst(run, self.choosing(1.0), self.pool, **common)
        if method in ("fdt", "fdt-merged", "fdt-joint"):
            chosen = coreference_rewriting(
                merged=method == "fdt-merged", joint=MATCH_WEIGHT if method == "fdt-joint" else None
            )
            return run, fdt(run, self.choosing(), [chosen], self.pool, **common)
        if method == "fdt-shuffled":
            return run, fdt(run, self.choosing(), [shuffled(friends, seed=self.seed)], self.pool, **common)
        if method == "fdt-perfect-friend":
            return run, fdt(run, self.choosing(), [self.perfect(friends)], self.pool, **common)
        fdt_run = Run.open(self.folder / "fdt")
        if method == "sst-as-many":
            return run, sst(run, self.controlled(fdt_run, as_many), self.pool, **common)
        return run, sst(run, self.controlled(fdt_run, random_as_many, seed=self.seed), self.pool, **common)

    def perfect(self, friends: Friendship) -> Friendship:
        """The friendship as it would be if coreference were never wrong: rewriting meets the gold links.

        The pool is of MuDoCo's own training dialogues, so their links are known, though not their rewrites.
        """

        def gold_links_of(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]]) -> list[Any]:
            labels = [
                [Prediction(unit_of(given, link.mention), link, 1.0) for link in self.true_links(given)]
                for given in inputs
            ]
            counts = [len(units) for units in predictions]
            return list(zip(friends.translate_second(inputs, labels), counts, strict=True))

        def match(first: Sequence[Any], second: Sequence[Any]) -> list[Match]:
            """The friend's own units, which are found mentions, have nothing to match."""
            found = friends.matcher(first, [said for said, _ in second])
            return [Match(one.first, (None,) * count) for one, (_, count) in zip(found, second, strict=True)]

        return replace(friends, translate_second=gold_links_of, matcher=match)

    def true_links(self, dialogue: Dialogue) -> Any:
        return gold_links(without_speakers(self.data.links[dialogue.id]))

    def audit(self, task: str, prediction: Prediction) -> bool | None:
        """Whether a pseudo-label is right, where gold is known: of the pool only links are."""
        if task == "rewriting":
            return None
        example = without_speakers(self.data.links[prediction.unit.split("#")[0]])
        mention, antecedent = prediction.label.mention, prediction.label.antecedent
        clusters = [
            cluster
            for cluster in example.clusters
            if any(_overlap(one, mention) and one.turn == mention.turn for one in cluster)
        ]
        if antecedent is None:
            return not any(one < mention and not _overlap(one, mention) for cluster in clusters for one in cluster)
        return any(one.turn == antecedent.turn and _overlap(one, antecedent) for c in clusters for one in c)

    def friends_labels(self, count: int = 300) -> dict[str, float]:
        """The control: rewriting trained on the rewrites that its friend's links propose, the surest so many."""
        tasks, plan = self.tasks, self.plans["rewriting"]
        load_checkpoint(tasks["coreference"], self.base_run.checkpoint("coreference", 0))
        load_checkpoint(tasks["rewriting"], self.base_run.checkpoint("rewriting", 0))
        links = tasks["coreference"].predict(self.pool)
        own = tasks["rewriting"].predict(self.pool)
        proposed = [
            (found.confidence, given, found)
            for given, (found,) in zip(self.pool, propose_rewrites(self.pool, own, links), strict=True)
            if found is not None
        ]
        proposed.sort(key=lambda one: -one[0])
        unchanged = [
            (units[0].confidence, given, units[0])
            for given, units, of in zip(self.pool, own, links, strict=True)
            if not of and not units[0].content
        ]
        unchanged.sort(key=lambda one: -one[0])
        chosen = [
            PseudoLabel(given, found.unit, found.label)
            for _, given, found in [*proposed[: count // 2], *unchanged[: count - count // 2]]
        ]
        tasks["rewriting"].fit(plan.gold, chosen, dev=plan.dev, plan=FitPlan(seed=self.seed, steps=self.update))
        return {"chosen": len(chosen), "proposed": len(proposed)}


def _overlap(one: Any, other: Any) -> bool:
    return bool(min(one.end, other.end) > max(one.start, other.start))


def _dialogues(ids: Sequence[str], count: int, draw: random.Random) -> set[str]:
    """So many dialogues with at least two turns of a user."""
    groups: dict[str, int] = {}
    for id in ids:
        groups[dialogue_group(id)] = groups.get(dialogue_group(id), 0) + 1
    return set(draw.sample(sorted(group for group, turns in groups.items() if turns > 1), count))


def _text(dialogue: Dialogue) -> str:
    return "\n".join(turn.text for turn in dialogue.turns)


def _texts(dialogues: Sequence[Dialogue]) -> set[str]:
    return {_text(dialogue) for dialogue in dialogues}
