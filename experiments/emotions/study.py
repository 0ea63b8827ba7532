"""Polarity and emotion as friends on real dialogues: the data, the models and every method of the comparison."""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from friend_training.core.friendship import Friendship
from friend_training.core.selector import Selector, TopN, gold_shares
from friend_training.core.task import Prediction
from friend_training.data.catalogue import locate
from friend_training.data.readers.emotions import (
    FeltUtterance,
    FewShot,
    emotion_examples,
    few_shot,
    polarity_examples,
    read_cped_emotions,
    read_meld,
    split_by_dialogue,
)
from friend_training.data.text_io import Problems
from friend_training.friendships.polarity import CPED, MELD, POLARITIES, PolaritySets, polarity_friends
from friend_training.loop.algorithm import Outcome
from friend_training.loop.plan import LoopSettings, TaskPlan, Training, fixed_friend
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.friend_training import fdt
from friend_training.methods.self_training import sst
from friend_training.runs.checkpoints import load_checkpoint
from friend_training.runs.run import Run
from friend_training.tasks.estimators.task import Estimator, texts
from friend_training.tasks.sources import Rule, read_lexicon

LABELS, POOL, ITERATIONS = 100, 6000, 3
TASKS = ("polarity", "emotion")
SETS: Mapping[str, PolaritySets] = {"meld": MELD, "cped": CPED}
METHODS = ("base", "base-same-steps", "sst", "fdt", "fdt-three", "sst-as-many", "random-as-many", "fdt-shuffled")
"""In the order of running: the controls choose as many as FDT did."""


@dataclass(frozen=True)
class Corpus:
    name: str
    train: Sequence[FeltUtterance]
    dev: Sequence[FeltUtterance]
    test: Sequence[FeltUtterance]


def corpus(name: str, data_dir: Path) -> Corpus:
    """MELD as its authors split it. Of CPED two files are at hand, and each is split anew by dialogue: dev is of the
    first, on which the Chinese lexicon was looked at too, test of the second."""
    if name == "meld":
        parts = [_read(data_dir, f"emo_meld/{part}_sent_emo.csv", read_meld) for part in ("train", "dev", "test")]
        return Corpus(name, *parts)
    valid, test = (_read(data_dir, f"cped/{part}_split.csv", read_cped_emotions) for part in ("valid", "test"))
    first = split_by_dialogue(valid, {"dev": 300, "train": None})
    second = split_by_dialogue(test, {"test": 800, "train": None})
    return Corpus(name, [*first["train"], *second["train"]], first["dev"], second["test"])


def _read(data_dir: Path, path: str, read: Callable[..., Any]) -> list[FeltUtterance]:
    found = locate(path, data_dir)
    assert found is not None, f"{path} is not in {data_dir}"
    return list(read(found, Problems(found, strict=True)))


class Study:
    """One corpus and one seed: its gold, its pool and the Base that all methods start from."""

    def __init__(self, data: Corpus, seed: int, folder: Path) -> None:
        self.data, self.seed, self.folder = data, seed, folder
        shutil.rmtree(folder, ignore_errors=True)  # it takes a minute: what was stopped half-way is done again
        self.shot: FewShot = few_shot(data.train, LABELS, pool=POOL, seed=seed)
        self.pool = [one.text for one in self.shot.pool]
        self.settings = LoopSettings(seed=seed, iterations=ITERATIONS)
        self.hidden = {one.text.id: one for one in self.shot.pool}
        self.base_plans = {name: self._plan(name) for name in TASKS}
        self.base_run = Run.create(folder / "base", "", {})
        self.base_outcome = base(self.base_run, self.base_plans, settings=self.settings)
        self.plans = {
            name: replace(plan, base=self.base_run.checkpoint(name, 0)) for name, plan in self.base_plans.items()
        }

    def _plan(self, name: str) -> TaskPlan:
        """The vectorizer is made from the pool, which every method may see; the classes are weighed alike."""
        vectorizer = _vectorizer(self.data.name).fit([text.text for text in self.pool])
        model = LogisticRegression(C=10, max_iter=200, tol=1e-3, class_weight="balanced")
        task = Estimator(name, model, features=lambda inputs: vectorizer.transform(texts(inputs)), metric="macro_f1")
        pairs = polarity_examples if name == "polarity" else emotion_examples
        gold = pairs(self.shot.polarity_gold if name == "polarity" else self.shot.emotion_gold)
        test = {"test": pairs(self.data.test)}
        return TaskPlan(task, gold, pairs(self.data.dev), Training(steps=1), Training(steps=1), (), test)

    def selectors(self, name: str, count: int) -> list[Selector]:
        """The best so many, each label no more than its share of gold: for every method."""
        shares = gold_shares([label for _, label in self.plans[name].gold])
        return [Selector(TopN(count), confidence_weight=0.2, balance=shares)] * ITERATIONS

    def choosing(self, count: int) -> dict[str, TaskPlan]:
        return {name: replace(plan, selectors=self.selectors(name, count)) for name, plan in self.plans.items()}

    def as_many(self, fdt_run: Run, make: Callable[..., list[Selector]], **more: Any) -> dict[str, TaskPlan]:
        plans = {}
        for name, plan in self.plans.items():
            counts = chosen_counts(fdt_run, name, ITERATIONS)
            plans[name] = replace(plan, selectors=make(self.selectors(name, 0)[0], counts, **more))
        return plans

    def friendships(self, *, lexicon: bool) -> list[Friendship]:
        three = {"polarity": POLARITIES, "emotion": SETS[self.data.name], "lexicon": POLARITIES}
        return polarity_friends(three if lexicon else {name: three[name] for name in TASKS})

    def lexicon(self, undecided: str | None) -> Rule:
        """A list of words in the corpus' language that lies beside this file."""
        language = {"meld": "english", "cped": "chinese"}[self.data.name]
        words = read_lexicon(Path(__file__).parent / f"{language}.txt", spaced=language == "english")
        return Rule("lexicon", replace(words, undecided=undecided), version=language)

    def run(self, method: str, *, count: int = 0, undecided: str | None = "neutral") -> tuple[Run, dict[str, Outcome]]:
        """One method, in a run folder of its own."""
        if method == "base":
            return self.base_run, self.base_outcome
        run = Run.create(self.folder / f"{method}-{count}-{undecided}", "", {})
        common: dict[str, Any] = {"settings": self.settings, "audit": self.audit}
        two, pool = self.friendships(lexicon=False), self.pool
        if method == "base-same-steps":
            return run, base_same_steps(run, self.plans, settings=self.settings)
        if method == "sst":
            return run, sst(run, self.choosing(count), pool, **common)
        if method == "fdt":
            return run, fdt(run, self.choosing(count), two, pool, **common)
        if method == "fdt-shuffled":
            return run, fdt(run, self.choosing(count), [shuffled(one, seed=self.seed) for one in two], pool, **common)
        if method == "fdt-three":
            plans = {**self.choosing(count), "lexicon": fixed_friend(self.lexicon(undecided))}
            return run, fdt(run, plans, self.friendships(lexicon=True), pool, **common)
        fdt_run = Run.open(self.folder / f"fdt-{count}-neutral")
        if method == "sst-as-many":
            return run, sst(run, self.as_many(fdt_run, as_many), pool, **common)
        plans = self.as_many(fdt_run, random_as_many, seed=self.seed)
        return run, sst(run, plans, pool, **common)

    def audit(self, task: str, prediction: Prediction) -> bool:
        one = self.hidden[prediction.unit]
        return bool(prediction.label == (one.emotion if task == "emotion" else one.polarity))

    def right_in_sigma(self, task: str, id: str, label: str) -> bool:
        """Whether a label allows the polarity that the text has."""
        return self.hidden[id].polarity in (SETS[self.data.name] if task == "emotion" else POLARITIES)[label]

    def answers(self, run: Run, name: str, iteration: int) -> list[str]:
        """What a task says of the test utterances, with the weights of an iteration."""
        plan = self.plans[name]
        load_checkpoint(plan.task, run.checkpoint(name, iteration))
        return [units[0].label for units in plan.task.predict([given for given, _ in plan.test["test"]])]


def what_was_chosen(run: Run) -> list[dict[str, Any]]:
    """For each iteration and task: how many, how many of them right, and of which labels."""
    found = []
    for iteration in run.store.iterations():
        rows = run.store.read(iteration, ["task", "label", "chosen", "correct"]).to_pylist()
        for task in TASKS:
            chosen = [row for row in rows if row["task"] == task and row["chosen"]]
            labelled = [row for row in rows if row["task"] == task]
            found.append(
                {
                    "iteration": iteration,
                    "task": task,
                    "chosen": len(chosen),
                    "precision": sum(row["correct"] for row in chosen) / max(1, len(chosen)),
                    "accuracy_on_pool": sum(row["correct"] for row in labelled) / max(1, len(labelled)),
                    "labels": dict(sorted(Counter(row["label"].strip('"') for row in chosen).items())),
                }
            )
    return found


def _vectorizer(corpus_name: str) -> TfidfVectorizer:
    """Words and pairs of words for English, with the marks that carry feeling; characters and pairs for Chinese."""
    if corpus_name == "meld":
        return TfidfVectorizer(sublinear_tf=True, token_pattern=r"[\w']+|[!?.]", ngram_range=(1, 2), min_df=2)
    return TfidfVectorizer(sublinear_tf=True, analyzer="char", ngram_range=(1, 2), min_df=3)
