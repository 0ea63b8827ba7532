"""Parsers as friends, few-shot on the Penn Treebank sample: the settings, and every method for one seed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from parsing_split import ParsedSentence, ParsingSplit
from pydantic import TypeAdapter

from friend_training.core.friendship import Aggregation, Friendship
from friend_training.core.selector import Selector, Share
from friend_training.core.task import Prediction
from friend_training.experiments.results import settings_id
from friend_training.friendships.parsing import Scoring, constituency_dependency, constituency_tagging, lexical_heads
from friend_training.loop.algorithm import Outcome
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.friend_training import fdt
from friend_training.methods.self_training import sst
from friend_training.nn.encoder import WordEncoderShape, pretrain_word_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_input import WORD_SETTINGS
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.files import atomic_folder
from friend_training.runs.run import Run
from friend_training.tasks.parsing.constituency.task import constituency_task, tree_names
from friend_training.tasks.parsing.dependency.metrics import Punctuation
from friend_training.tasks.parsing.dependency.task import dependency_task
from friend_training.tasks.parsing.tagging.task import tag_names, tagging_task
from friend_training.types import Heads, HeadsExample, TreeExample

PARSERS = ("constituency", "dependency")
TASKS = (*PARSERS, "tagging")
METHODS = (
    "base",
    "base-same-steps",
    "sst",
    "fdt",
    "fdt-three",
    "sst-as-many",
    "random-as-many",
    "fdt-shuffled",
    "converted",
    "rules",
)
"""In the order of running: the controls choose as many as FDT did.

`converted` is a dependency parser with twice the gold: its own, and the constituency parser's by head rules. `rules` is
the constituency parser of `base-same-steps` with head rules behind it. Both ask whether friend-training gives more
than the rules that it knows.
"""


@dataclass(frozen=True)
class Settings:
    """Everything that decides a result but the seed.

    `shares` say for each method that chooses which part of the pool it takes, the best by its own score. Each task and
    each method has a scale of its own: the same share compares how well they rank, at the same number chosen.
    """

    base_steps: int = 800
    update_steps: int = 300
    iterations: int = 2
    restart: bool = False
    pseudo_weight: float = 1.0
    confidence_weight: float = 0.2
    content: Literal["any", "only"] = "only"
    scoring: Scoring = "head-rules"
    aggregate: Aggregation = "mean"
    punctuation: Punctuation = "skipped"
    shares: Mapping[str, float] = field(default_factory=lambda: {"sst": 0.3, "fdt": 0.3, "fdt-three": 0.3})
    training: TrainingSettings = WORD_SETTINGS
    encoder: WordEncoderShape = field(default_factory=WordEncoderShape)

    def of(self, method: str) -> dict[str, Any]:
        """What a method depends on, written out: without the shares of other methods."""
        asked = {"sst": ("sst",), "fdt": ("fdt",), "fdt-three": ("fdt-three",), "fdt-shuffled": ("fdt",)}
        counted = {"sst-as-many": ("fdt", "fdt-three"), "random-as-many": ("fdt", "fdt-three")}
        used = (asked | counted).get(method, ())
        return asdict(self) | {"shares": {name: self.shares[name] for name in used}}

    def id_of(self, method: str) -> str:
        return settings_id(self.of(method))


class Study:
    """One seed: its gold, its pool, and the Base that all methods start from. `folder` holds the runs."""

    def __init__(self, split: ParsingSplit, settings: Settings, seed: int, folder: Path) -> None:
        self.split, self.settings, self.seed, self.folder = split, settings, seed, folder
        self.fingerprints = split.fingerprints
        self.pool = [sentence.words for sentence in split.pool]
        self.hidden = {sentence.words.id: sentence for sentence in split.pool}
        self.loop = LoopSettings(
            seed=seed,
            iterations=settings.iterations,
            shard_size=max(1, len(self.pool)),  # one shard: a shuffled friend may come from anywhere in the pool
            aggregate=settings.aggregate,
        )

    @cached_property
    def tasks(self) -> dict[str, TorchTask]:
        """The names of classes are those in the task's own gold; the words are those of all raw text there is."""
        split, training = self.split, self.settings.training
        folder = self.folder / f"encoder-{settings_id(asdict(self.settings.encoder))}"
        if not folder.is_dir():
            parts = (split.constituency, split.dependency, split.tagging, split.pool)
            text = [example.words.words for part in parts for example in part]
            with atomic_folder(folder) as new:
                pretrain_word_encoder(new, text, self.settings.encoder, seed=self.seed)
        return {
            "constituency": constituency_task(folder, training, **tree_names(split.constituency)),
            "dependency": dependency_task(folder, training, punctuation=self.settings.punctuation),
            "tagging": tagging_task(folder, training, **tag_names(split.tagging)),
        }

    def run(self, method: str) -> tuple[Run, dict[str, Outcome]]:
        """One method in a run folder of its own, or what is left of it; first those that it starts from."""
        run = self._folder_of(method)
        common: dict[str, Any] = {"settings": self.loop, "audit": self.audit}
        two = [constituency_dependency(self.settings.scoring)]
        match method:
            case "base":
                return run, base(run, self._plans(TASKS), settings=self.loop)
            case "base-same-steps":
                return run, base_same_steps(run, self._from_base(TASKS), settings=self.loop)
            case "sst":
                return run, sst(run, self._by_share("sst", TASKS), self.pool, **common)
            case "fdt":
                return run, fdt(run, self._by_share("fdt", PARSERS), two, self.pool, **common)
            case "fdt-three":
                three: list[Friendship] = [*two, constituency_tagging()]
                return run, fdt(run, self._by_share("fdt-three", TASKS), three, self.pool, **common)
            case "sst-as-many":
                return run, sst(run, self._as_many(TASKS), self.pool, **common)
            case "random-as-many":
                return run, sst(run, self._as_many(TASKS, at_random=True), self.pool, **common)
            case "fdt-shuffled":
                strangers = [shuffled(one, seed=self.seed) for one in two]
                return run, fdt(run, self._as_many(PARSERS), strangers, self.pool, **common)
            case "converted":
                return run, base_same_steps(run, self._converted(), settings=self.loop)
        raise ValueError(f"no method {method!r}")

    def _folder_of(self, method: str) -> Run:
        """Runs of other settings lie beside each other, so a changed setting never goes on with an old run."""
        folder = self.folder / f"{method}-{self.settings.id_of(method)}"
        if not folder.is_dir():
            return Run.create(folder, json.dumps(self.settings.of(method)) + "\n", self.fingerprints)
        run = Run.open(folder)
        run.check_fingerprints(self.fingerprints)
        return run

    def _plans(self, names: Sequence[str]) -> dict[str, TaskPlan]:
        update = Training(
            self.settings.update_steps, restart=self.settings.restart, pseudo_weight=self.settings.pseudo_weight
        )
        return {
            name: TaskPlan(
                task=self.tasks[name],
                gold=getattr(self.split, name),
                dev=gold_of(name, self.split.dev),
                test={"test": gold_of(name, self.split.test)},
                base=Training(self.settings.base_steps),
                update=update,
            )
            for name in names
        }

    def _from_base(self, names: Sequence[str]) -> dict[str, TaskPlan]:
        trained, _ = self.run("base")
        return {name: replace(plan, base=trained.checkpoint(name, 0)) for name, plan in self._plans(names).items()}

    def _converted(self) -> dict[str, TaskPlan]:
        """Another gold is another Base: it is trained from the encoder, with as many steps as the others in all."""
        plan = self._plans(["dependency"])["dependency"]
        return {"dependency": replace(plan, gold=[*plan.gold, *map(by_head_rules, self.split.constituency)])}

    def _selector(self, method: str, name: str) -> Selector:
        share = Share(self.settings.shares[method])
        return Selector(share, self.settings.confidence_weight, content=self.settings.content)

    def _by_share(self, method: str, names: Sequence[str]) -> dict[str, TaskPlan]:
        return {
            name: replace(plan, selectors=[self._selector(method, name)] * self.settings.iterations)
            for name, plan in self._from_base(names).items()
        }

    def _as_many(self, names: Sequence[str], *, at_random: bool = False) -> dict[str, TaskPlan]:
        """Parsers choose as many as with two friends; the tagger, who is none of them, as with three."""
        plans: dict[str, TaskPlan] = {}
        for name, plan in self._from_base(names).items():
            counted = "fdt" if name in PARSERS else "fdt-three"
            counts = chosen_counts(self.run(counted)[0], name, self.settings.iterations)
            selector = self._selector(counted, name)
            selectors = random_as_many(selector, counts, seed=self.seed) if at_random else as_many(selector, counts)
            plans[name] = replace(plan, selectors=selectors)
        return plans

    def audit(self, task: str, prediction: Prediction) -> bool:
        """Whether all of a sentence is right, as the task's own metric counts it."""
        gold = gold_of(task, [self.hidden[prediction.unit]])
        return self._score(task, gold, [prediction], "complete" if task == "constituency" else None) == 100

    def _score(self, name: str, gold: Sequence[Any], said: Sequence[Prediction], metric: str | None = None) -> float:
        task = self.tasks[name]
        return task.definition.score(gold, [[one] for one in said])[metric or task.main_metric]

    def test_labels(self, run: Run, name: str, iteration: int) -> list[Any]:
        """What the task says of the test sentences, with the weights of an iteration."""
        task = self.tasks[name]
        load_checkpoint(task, run.checkpoint(name, iteration))
        return [units[0].label for units in task.predict([sentence.words for sentence in self.split.test])]

    def chosen(self, run: Run) -> list[dict[str, Any]]:
        """For each iteration and task: how many, how good they are by the hidden gold, and the pool as a whole."""
        found = []
        for iteration in run.store.iterations():
            columns = ["task", "unit", "label", "chosen", "correct", "confidence", "match"]
            rows = run.store.read(iteration, columns).to_pylist()
            for name in dict.fromkeys(row["task"] for row in rows):
                own = [row for row in rows if row["task"] == name]
                picked = [row for row in own if row["chosen"]]
                line: dict[str, Any] = {"iteration": iteration, "task": name, "chosen": len(picked)}
                found.append(line | self._quality(name, picked) | {"pool": self._quality(name, own)})
        return found

    def _quality(self, name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
        """The share of sentences that are right as a whole, the task's metric, mean confidence and match, and length.

        None where there is nothing: no row, or no friend to match with.
        """
        from_json = TypeAdapter(self.tasks[name].label_type).validate_json
        sentences = [self.hidden[row["unit"]] for row in rows]
        said = [Prediction(row["unit"], from_json(row["label"]), row["confidence"]) for row in rows]
        return {
            "precision": _mean([row["correct"] for row in rows]),
            self.tasks[name].main_metric: self._score(name, gold_of(name, sentences), said) if rows else None,
            "confidence": _mean([row["confidence"] for row in rows]),
            "match": _mean([row["match"] for row in rows if row["match"] is not None]),
            "words": _mean([len(sentence.words.words) for sentence in sentences]),
        }


def gold_of(name: str, sentences: Sequence[ParsedSentence]) -> list[Any]:
    kind = {"constituency": "tree_example", "dependency": "heads_example", "tagging": "tags_example"}[name]
    return [getattr(sentence, kind) for sentence in sentences]


def by_head_rules(example: TreeExample) -> HeadsExample:
    return HeadsExample(example.words, Heads(lexical_heads(example.tree)))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
