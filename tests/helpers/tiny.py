"""CSRL and rewriting at their smallest: an encoder of one layer, a few synthetic dialogues, a handful of steps."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import torch

from friend_training.core.selector import Selector, Threshold
from friend_training.data.synthetic import Domain, csrl_examples, generate, rewriting_examples
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training
from friend_training.methods.base import multitask_base
from friend_training.methods.co_training import readers, scot
from friend_training.methods.cross_pseudo_supervision import cps
from friend_training.methods.mean_teacher import mt
from friend_training.methods.self_teaching import stea
from friend_training.methods.self_training import stbr
from friend_training.nn.encoder import EncoderShape, make_encoder
from friend_training.nn.training import TrainingSettings
from friend_training.runs.run import Run
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from helpers.toy_runs import Killer

SETTINGS = LoopSettings(seed=3, iterations=2, shard_size=6)
TRAINING = TrainingSettings(batch_size=4, encoder_rate=1e-3, look_every=2)
METHODS = ("multitask-base", "mt", "cps", "scot", "readers", "stbr", "stea")


@cache
def dialogues():
    return generate(40, seed=1, domain=Domain.FILM)


def pool():
    return [made.dialogue for made in dialogues()[30:]]


def prepare(folder):
    """Write the encoder that all tasks of a test begin with."""
    torch.set_num_threads(1)
    texts = ["".join(turn.text for turn in made.dialogue.turns) for made in dialogues()]
    folder.mkdir()
    make_encoder(folder, texts, EncoderShape(layers=1, width=32, heads=2), seed=0)
    return folder


def task(encoder, name, mark="after"):
    if name == "csrl":
        return csrl_task(encoder, TRAINING, mark=mark)
    return rewriting_task(encoder, TRAINING)


def plan(encoder, name, mark="after", **changes):
    made = csrl_examples(dialogues()) if name == "csrl" else rewriting_examples(dialogues())
    made = [example for example in made if name != "csrl" or example.roles]
    return replace(
        TaskPlan(
            task=task(encoder, name, mark),
            gold=made[:12],
            dev=made[12:18],
            base=Training(steps=4),
            update=Training(steps=3, pseudo_weight=0.5),
            selectors=[Selector(Threshold(0.01))] * SETTINGS.iterations,
            test={"test": made[18:24]},
        ),
        **changes,
    )


def run_method(run: Run, encoder: Path, method: str, listener=None):
    """Every method in its smallest form. SCoT's second model is another one: told of its predicate in the input."""
    csrl, rewriting = plan(encoder, "csrl"), plan(encoder, "rewriting")
    common = {"settings": SETTINGS, "listener": listener}
    match method:
        case "multitask-base":
            return multitask_base(run, {"csrl": csrl, "rewriting": rewriting}, **common)
        case "mt":
            return mt(run, {"csrl": csrl, "rewriting": rewriting}, pool(), **common)
        case "cps":
            return cps(run, {"csrl": csrl}, {"csrl": plan(encoder, "csrl")}, pool(), **common)
        case "scot":
            return scot(run, {"csrl": csrl}, {"csrl": plan(encoder, "csrl", "input")}, pool(), **common)
        case "readers":
            return readers(run, {"csrl": csrl}, {"csrl": plan(encoder, "csrl", "input")}, (), pool(), **common)
        case "stbr":
            return stbr(run, {"csrl": csrl, "rewriting": rewriting}, pool(), **common)
        case "stea":
            return stea(run, {"csrl": csrl, "rewriting": rewriting}, pool(), **common)


def be_killed(folder: str, encoder: str, method: str, event: str) -> None:
    torch.set_num_threads(1)
    run_method(Run.open(Path(folder)), Path(encoder), method, Killer(event))
