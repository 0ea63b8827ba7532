"""Base is trained once for runs that differ only in what comes after it, and the Base of all labels for all amounts."""

import json
from pathlib import Path
from typing import Any

import pytest

from friend_training.core.task import FitPlan, FitSummary
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.run import Run
from friend_training.study import data
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.folders import method_folder
from friend_training.study.methods import BUDGET
from friend_training.study.sections import Config
from friend_training.study.study import run_study
from helpers.tiny_config import tiny_config


def config(*overrides: str) -> Config:
    return tiny_config('methods=["base", "base-full", "fdt-sf"]', "data.target=film", "iterations=1", *overrides)


def digests(folder: Path, method: str) -> dict[str, str]:
    run = Run.open(method_folder(folder, method))
    return {task: checkpoint_digest(run.checkpoint(task, 0)) for task in TASKS}


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of every training that is really done."""
    done: list[int] = []
    fit = TorchTask.fit

    def counted(task: TorchTask, *given: Any, plan: FitPlan, **named: Any) -> FitSummary:
        done.append(plan.steps)
        return fit(task, *given, plan=plan, **named)

    monkeypatch.setattr(TorchTask, "fit", counted)
    return done


def test_runs_take_over_what_does_not_depend_on_how_they_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: list[int]
) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    shared = tmp_path / "resources"
    runs = {name: tmp_path / name for name in ("first", "stricter", "fewer", "fewer, alone")}
    steps = "tasks.csrl.base_steps=7", "tasks.rewriting.base_steps=7"
    base, full = 7, BUDGET * 7
    run_study(config(*steps), runs["first"], resources=shared)
    assert (fits.count(base), fits.count(full)) == (2, 2)

    stricter = ("tasks.csrl.pick_threshold=0.99", "data.pool=5")  # Base does not see the pool
    run_study(config(*steps, *stricter), runs["stricter"], resources=shared, others=[runs["first"]])
    assert (fits.count(base), fits.count(full)) == (2, 2)
    assert digests(runs["stricter"], "base") == digests(runs["first"], "base")

    fewer = "data.csrl_labels=3"
    run_study(config(*steps, fewer), runs["fewer"], resources=shared, others=[runs["first"]])
    assert (fits.count(base), fits.count(full)) == (3, 2), "rewriting has the same gold, and all labels are the same"
    run_study(config(*steps, fewer), runs["fewer, alone"], resources=shared)
    assert digests(runs["fewer"], "base") == digests(runs["fewer, alone"], "base") != digests(runs["first"], "base")
    assert digests(runs["fewer"], "base-full") == digests(runs["fewer, alone"], "base-full")
    again = run_study(config(*steps, fewer), runs["fewer"], resources=shared)  # its data are its own
    assert [record["fingerprints"]["csrl_gold"] for record in again] == [
        json.loads((runs["fewer"] / "fingerprints.json").read_text())["csrl_gold"]
    ] * 3
