"""Base is trained once for runs that differ only in what comes after it, and the Base of all labels for all amounts."""

import json
from pathlib import Path

import pytest
from small import small_config

from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.run import Run
from friend_training.study import data
from friend_training.study.config import Config
from friend_training.study.folders import method_folder
from friend_training.study.study import run_study
from friend_training.study.tasks import TASKS


def config(*overrides: str) -> Config:
    return small_config('methods=["base", "base-full", "fdt-sf"]', "data.target=film", "iterations=1", *overrides)


def digests(folder: Path, method: str) -> dict[str, str]:
    run = Run.open(method_folder(folder, method))
    return {task: checkpoint_digest(run.checkpoint(task, 0)) for task in TASKS}


def times(folder: Path, method: str) -> list[str]:
    """A phase that was taken over took as long as it did where it was done."""
    return [path.read_text() for path in sorted(method_folder(folder, method).glob("phases/train-*"))]


def test_runs_take_over_what_does_not_depend_on_how_they_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    shared = tmp_path / "resources"
    runs = {name: tmp_path / name for name in ("first", "stricter", "fewer", "fewer, alone")}
    run_study(config(), runs["first"], resources=shared)
    stricter = ("tasks.csrl.pick_threshold=0.99", "data.pool=5")  # Base does not look at the pool
    run_study(config(*stricter), runs["stricter"], resources=shared, base_from=[runs["first"]])
    assert times(runs["stricter"], "base") == times(runs["first"], "base")

    fewer = "data.csrl_labels=3"
    run_study(config(fewer), runs["fewer"], resources=shared, base_from=[runs["first"]])
    run_study(config(fewer), runs["fewer, alone"], resources=shared)
    assert digests(runs["fewer"], "base") == digests(runs["fewer, alone"], "base") != digests(runs["first"], "base")
    assert digests(runs["fewer"], "base-full") == digests(runs["fewer, alone"], "base-full")
    assert times(runs["fewer"], "base-full") == times(runs["first"], "base-full")
    assert times(runs["fewer"], "base") != times(runs["first"], "base")
    again = run_study(config(fewer), runs["fewer"], resources=shared)  # its data are its own, not those of the first
    assert [record["fingerprints"]["csrl_gold"] for record in again] == [
        json.loads((runs["fewer"] / "fingerprints.json").read_text())["csrl_gold"]
    ] * 3
