"""A run folder as a finished study leaves it, but nobody trained its models: made in a second, and as sure as dice."""

from pathlib import Path

import torch

from friend_training.nn.encoder import open_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.runs.checkpoints import save_checkpoint
from friend_training.runs.inputs import save_inputs
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Test, Train
from friend_training.study.config import config_text
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.folders import method_folder
from friend_training.study.kinds import Given, make_task
from friend_training.tasks.csrl.task import srl_task
from friend_training.types import Dialogue, Predicate, Turn
from helpers.tiny_config import tiny_config

METRICS = {"csrl": {"f1": 12.5}, "rewriting": {"em": 25.0}}
FINGERPRINTS = {"csrl_gold": "0123456789abcdef" * 4}

POOL = [
    Dialogue("1", (Turn("A", "你喜欢喝茶吗？"), Turn("B", "我喜欢茶。")), (Predicate(1, 3),)),
    Dialogue("2", (Turn("A", "他来了。"), Turn("B", "他来看你。")), (Predicate(1, 2), Predicate(2, 3))),
]
"""The words 喜欢, 来 and 看 are predicates here."""


def make_run(folder: Path, encoder: Path, *changes: str) -> Path:
    """Both tasks as methods base (iteration 0) and fdt (iteration 1) would have left them, and a bridge.

    `changes` are settings of the tiny config that are not as usual.
    """
    config = tiny_config("name=untrained", *changes)
    text = config_text(config)
    Run.create(folder, text, FINGERPRINTS)
    save_inputs(folder, POOL)
    for seed, (method, iteration) in enumerate({"base": 0, "fdt": 1}.items()):
        run = Run.create(method_folder(folder, method), text, FINGERPRINTS)
        for name in TASKS:
            task = _with_weights(make_task(config, name, Given(encoder)), encoder, seed)
            digest = save_checkpoint(task, run.checkpoint(name, iteration))
            run.do(Train(name, iteration), lambda digest=digest: {"digest": digest})  # type: ignore[misc]
            scored = {"task": name, "iteration": iteration, "metrics": METRICS[name]}
            tested = {"best_iteration": iteration, "metrics": [scored | {"split": "test:test"}]}
            run.do(Evaluate(name, iteration), lambda row=scored: {"metrics": [row | {"split": "dev"}]})  # type: ignore[misc]
            run.do(Test(name), lambda tested=tested: tested)  # type: ignore[misc]
        run.write_metrics()
    bridge = _with_weights(srl_task(encoder, TrainingSettings()), encoder, 3)
    (folder / "bridge").mkdir()
    bridge.save(folder / "bridge")
    return folder


def _with_weights(task: TorchTask, encoder: Path, seed: int) -> TorchTask:
    torch.manual_seed(seed)
    task.network = task.definition.network(open_encoder(encoder))
    return task
