"""What is labelled and trained: real dialogues, or synthetic ones where there are none; and the task that does it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from friend_training.data.read import open_corpus
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.study.config import load_config
from friend_training.study.data import load_data
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.types import CsrlExample, RewritingExample, Roles

SAMPLE_SEED = 1
CONFIGS = Path(__file__).parent.parent / "configs"


@dataclass(frozen=True, slots=True)
class Workload:
    """Gold examples for one task. `one_by_one` takes an example apart into those of one unit each."""

    data: str
    examples: Sequence[Any]
    make_task: Callable[[str | Path, TrainingSettings], TorchTask]
    one_by_one: Callable[[Any], list[Any]]


def each_predicate(example: CsrlExample) -> list[CsrlExample]:
    """The same dialogue once for every predicate that is asked for."""
    return [CsrlExample(replace(example.dialogue, predicates=(roles.predicate,)), (roles,)) for roles in example.roles]


def each_utterance(example: RewritingExample) -> list[RewritingExample]:
    """A rewriting example has one unit already."""
    return [example]


def real_workloads(data_dir: Path, dialogues: int) -> list[Workload]:
    """So many dialogues of DuConv dev and of REWRITE, drawn with a fixed seed; all predicates of each.

    CSRL comes twice: told of its predicate after the encoder, and in the encoder's input, where ours too takes one pass
    for each predicate.
    """
    csrl = open_corpus("duconv/dev", "csrl", data_dir=data_dir).examples
    rewriting = open_corpus("rewrite/all", "rewriting", data_dir=data_dir).examples
    return [
        Workload("duconv/dev", _drawn(csrl, dialogues), csrl_task, each_predicate),
        Workload(
            "duconv/dev, marked in the input",
            _drawn(csrl, dialogues),
            partial(csrl_task, mark="input"),
            each_predicate,
        ),
        *pool_workloads(data_dir, dialogues),
        Workload("rewrite/all", _drawn(rewriting, dialogues), rewriting_task, each_utterance),
    ]


def pool_workloads(data_dir: Path, dialogues: int) -> list[Workload]:
    """What a run labels and mostly trains on: dialogues of the real few-shot pool, CSRL marked in the input.

    Their predicates are found, their labels are none: for speed it does not matter what is said of them.
    """
    config = load_config(CONFIGS / "few-shot.yaml", [f"data.pool={dialogues}"])
    pool = load_data(config, data_dir).pool
    csrl = [
        CsrlExample(dialogue, tuple(Roles(predicate, ()) for predicate in dialogue.predicates))
        for dialogue in pool
        if dialogue.predicates
    ]
    rewriting = [RewritingExample(dialogue, dialogue.turns[-1].text) for dialogue in pool]
    return [
        Workload("few-shot pool, marked in the input", csrl, partial(csrl_task, mark="input"), each_predicate),
        Workload("few-shot pool", rewriting, rewriting_task, each_utterance),
    ]


def synthetic_workloads(dialogues: int) -> list[Workload]:
    """Our own dialogues: for trying the benchmark out where there are no others."""
    made = generate(2 * dialogues, seed=SAMPLE_SEED, domain=Domain.FILM)
    csrl = [example for example in csrl_examples(made) if example.roles]
    return [
        Workload("synthetic", csrl[:dialogues], csrl_task, each_predicate),
        Workload("synthetic", rewriting_examples(made)[:dialogues], rewriting_task, each_utterance),
    ]


def synthetic_texts() -> list[str]:
    """What an encoder made from scratch needs to have seen."""
    made = generate(400, seed=SAMPLE_SEED, domain=Domain.FILM)
    return ["".join(turn.text for turn in one.dialogue.turns) for one in made]


def _drawn(examples: Sequence[Any], count: int) -> list[Any]:
    return random.Random(SAMPLE_SEED).sample(list(examples), min(count, len(examples)))
