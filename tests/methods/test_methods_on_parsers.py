"""Every method on the parsers, which share one encoder of words: two heads, soft labels, weights and teachers alike."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from friend_training.core.selector import Selector, Threshold
from friend_training.friendships.parsing import constituency_dependency
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, Training
from friend_training.methods.base import multitask_base
from friend_training.methods.co_training import scot
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.friend_training import fdt
from friend_training.methods.mean_teacher import mt
from friend_training.methods.self_teaching import stea
from friend_training.methods.self_training import sst, stbr
from friend_training.nn.encoder import WordEncoderShape, pretrain_word_encoder
from friend_training.nn.task import WEIGHTS
from friend_training.nn.word_input import WORD_SETTINGS
from friend_training.runs.run import Run
from friend_training.tasks.parsing.constituency.task import constituency_task, tree_names
from friend_training.tasks.parsing.dependency.task import dependency_task, relation_names
from friend_training.types import Words
from helpers import little_grammar as grammar
from helpers.toy_runs import start

SETTINGS = LoopSettings(seed=3, iterations=1, shard_size=6)
TRAINING = replace(WORD_SETTINGS, batch_size=4, look_every=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("words")
    shape = WordEncoderShape(word=8, affix=4, width=8, layers=1)
    pretrain_word_encoder(made, [tree.words.words for tree in grammar.trees(60, seed=2)], shape, seed=0)
    return made


def plans(folder: Path) -> dict[str, TaskPlan]:
    trees, heads = grammar.trees(12, seed=2), grammar.heads(12, seed=2)
    tasks = {
        "constituency": (constituency_task(folder, TRAINING, **tree_names(trees)), trees),
        "dependency": (dependency_task(folder, TRAINING, **relation_names(heads)), heads),
    }
    return {
        name: TaskPlan(
            task=task,
            gold=gold[:6],
            dev=gold[6:9],
            base=Training(steps=3),
            update=Training(steps=2, pseudo_weight=0.5),
            selectors=[Selector(Threshold(0.0))],
            test={"test": gold[9:]},
        )
        for name, (task, gold) in tasks.items()
    }


def pool() -> list[Words]:
    return [tree.words for tree in grammar.trees(8, seed=4)]


METHODS: dict[str, Callable[[Run, Path], dict[str, Outcome]]] = {
    "fdt": lambda run, at: fdt(run, plans(at), [constituency_dependency()], pool(), settings=SETTINGS),
    "sst": lambda run, at: sst(run, plans(at), pool(), settings=SETTINGS),
    "multitask-base": lambda run, at: multitask_base(run, plans(at), settings=SETTINGS),
    "mt": lambda run, at: mt(run, plans(at), pool(), settings=SETTINGS),
    "cps": lambda run, at: cps(run, plans(at), plans(at), pool(), settings=SETTINGS),
    "scot": lambda run, at: scot(run, plans(at), plans(at), pool(), settings=SETTINGS),
    "stbr": lambda run, at: stbr(run, plans(at), pool(), settings=SETTINGS),
    "stea": lambda run, at: stea(run, plans(at), pool(), settings=SETTINGS),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_trains_both_parsers(method: str, folder: Path, tmp_path: Path) -> None:
    run: Any = start(tmp_path / "run")
    outcomes = METHODS[method](run, folder)
    iterations = {"multitask-base": 0, "stea": 2}.get(method, 1)
    for name, metric in (("constituency", "f1"), ("dependency", "uas")):
        outcome = outcomes[name]
        assert len(outcome.dev) == iterations + 1
        assert all(math.isfinite(scores[metric]) for scores in (*outcome.dev, outcome.test["test"]))
        for iteration in range(1, iterations + 1):  # what was learnt is not what it was
            before, after = (run.checkpoint(name, number) for number in (iteration - 1, iteration))
            assert (before / WEIGHTS).read_bytes() != (after / WEIGHTS).read_bytes()
