"""An experiment from nothing to its table, and what its friends agreed on."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import friend_training.cli.experiment as command
from friend_training.experiments import experiment
from friend_training.experiments.experiment import Piece
from helpers.command import FriendTrain
from helpers.tiny_config import TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "experiments" / "tiny"
    made.mkdir(parents=True)
    (made / "tiny.yaml").write_text(TEXT, encoding="utf-8")
    (made / "experiment.yaml").write_text("title: Tiny\nconfig: tiny.yaml\nseeds: [1, 2]\n", encoding="utf-8")
    return made


def test_an_experiment_is_run_once_and_compared(folder: Path, tmp_path: Path, friend_train: FriendTrain) -> None:
    runs = tmp_path / "runs"
    planned = friend_train("experiment", folder, "--runs", runs, "--dry-run")
    assert "seed 2: base, fdt: about " in planned.err
    assert "encoder and bridge: about " in planned.err
    assert "in all (by steps and dialogues to label)" in planned.err
    assert not runs.exists()

    unknown = friend_train("experiment", folder, "--runs", runs, "--only", "fdt,mt")
    assert unknown.code == 2
    assert "--only: mt" in unknown.err

    assert friend_train("experiment", folder, "--runs", runs, "--only", "base").code == 0
    assert friend_train("experiment", folder, "--runs", runs).code == 0
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(record["method"], record["seed"]) for record in records] == [
        ("base", 1),
        ("base", 2),
        ("fdt", 1),
        ("fdt", 2),
    ]
    assert all(record["fingerprints"] and record["config"] and record["code"] for record in records)
    assert all(record["seconds"] > 0 for record in records)
    assert len(list((folder / "counts").iterdir())) == 4
    # The run was first asked for Base alone: it is shown, and counts as finished, with all that is in it now.
    shown = friend_train("show", runs / "tiny" / "seed-1").out
    assert all(any(line.split()[:1] == [name] for line in shown.splitlines()) for name in ("Base", "FDT"))
    assert "Not finished" not in shown
    own = (runs / "tiny" / "seed-1" / "results.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["method"] for line in own.splitlines()] == ["base", "fdt"]
    assert "seconds" not in own

    again = friend_train("experiment", folder, "--runs", runs)
    assert "seed 1: finished" in again.err
    assert len((folder / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 4

    told = friend_train("experiment", folder, "--runs", runs, "--seeds", "1,7", "--only", "fdt", "--dry-run").err
    assert "seed 1: finished" in told
    assert "seed 7: base, fdt: about " in told
    assert "(by 4 earlier results)" in told
    assert "numbers were expected" in friend_train("experiment", folder, "--seeds", "one").err

    table = friend_train("compare", folder, "--format", "markdown")
    assert "| FDT |" in table.out.replace("**", "")
    of_runs = friend_train("compare", runs / "tiny" / "seed-1", runs / "tiny" / "seed-2", "--format", "markdown")
    assert of_runs.out == table.out

    kept = tmp_path / "agreement.jsonl"
    measured = friend_train("agreement", runs / "tiny" / "seed-1", "--out", kept)
    assert measured.code == 0, measured.err
    assert measured.out.splitlines()[-1].startswith("| 1 | 1 |")
    assert friend_train("agreement", kept).out == measured.out


VARIED = """
title: Varied
config: tiny.yaml
seeds: [1]
figure: thresholds
vary:
  - {name: low, at: {csrl: 0.2, rewriting: 0.5}, set: [tasks.csrl.pick_threshold=0.2]}
  - {name: high, at: {csrl: 0.9}, set: [tasks.csrl.pick_threshold=0.9]}
"""


def test_variants_are_run_and_share_what_is_the_same(folder: Path, tmp_path: Path, friend_train: FriendTrain) -> None:
    (folder / "experiment.yaml").write_text(VARIED, encoding="utf-8")
    runs = tmp_path / "runs"
    assert friend_train("experiment", folder, "--runs", runs).code == 0
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(r["variant"]["name"], r["method"]) for r in records] == [
        ("low", "base"),
        ("low", "fdt"),
        ("high", "base"),
        ("high", "fdt"),
    ]
    assert records[0]["variant"]["at"] == {"csrl": 0.2, "rewriting": 0.5}
    assert records[0]["variant"]["set"] == ["tasks.csrl.pick_threshold=0.2"]
    assert records[2]["config"]["tasks"]["csrl"]["pick_threshold"] == 0.9
    # One encoder and bridge, one Base: the second variant took it over, and says so in no bit but its config.
    assert len(list((runs / "tiny").glob("resources-*"))) == 1
    low, high = (runs / "tiny" / name / "seed-1" / "methods" / "base" for name in ("low", "high"))
    trained = [json.loads((path / "phases" / "train-csrl-0.json").read_text())["result"] for path in (low, high)]
    assert trained[0] == trained[1]
    weights = [path / "checkpoints" / "csrl" / "iteration-000" / "model.safetensors" for path in (low, high)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert "pick_threshold: 0.9" in (high / "config.yaml").read_text(encoding="utf-8")
    assert records[0]["metrics"] == records[2]["metrics"]

    assert "low, seed 1: finished" in friend_train("experiment", folder, "--runs", tmp_path / "none", "--jobs", "2").err
    assert not (tmp_path / "none").exists(), "what has a result is not run again, wherever its run is"
    out = tmp_path / "thresholds.png"
    assert friend_train("figure", folder, "--out", out).code == 0
    assert out.is_file()
    table = friend_train("compare", folder, "--format", "markdown").out
    assert "**low**" in table


def test_jobs_are_processes_that_run_a_piece_each(
    folder: Path, tmp_path: Path, friend_train: FriendTrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "experiment.yaml").write_text(VARIED.replace("[1]", "[1, 2]"), encoding="utf-8")
    commands: list[list[str]] = []
    prepared: list[Piece] = []

    def pretend(arguments: list[str]) -> SimpleNamespace:
        commands.append(arguments)
        return SimpleNamespace(returncode=2 if "low" in arguments else 0)

    monkeypatch.setattr(command.subprocess, "run", pretend)
    monkeypatch.setattr(experiment, "prepare", lambda piece, **given: prepared.append(piece))
    said = friend_train("experiment", folder, "--runs", tmp_path / "runs", "--jobs", "2", "--only", "fdt")
    assert said.code == 1, "one of the runs failed"
    assert [piece.name for piece in prepared] == ["low, seed 1"], "encoder and bridge are the same for all"
    asked = sorted(arguments[arguments.index("--seeds") :] for arguments in commands)
    pieces = [(variant, seed) for seed in ("1", "2") for variant in ("high", "low")]
    assert asked == [["--seeds", seed, "--variants", variant] for variant, seed in pieces]
    assert all(arguments[arguments.index("--only") + 1] == "fdt" for arguments in commands)


def test_a_run_of_other_settings_is_not_gone_on_with(
    folder: Path, tmp_path: Path, friend_train: FriendTrain, finished: Path
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(finished, runs / "tiny" / "seed-1")
    (folder / "tiny.yaml").write_text(TEXT.replace("iterations: 1", "iterations: 2"), encoding="utf-8")
    said = friend_train("experiment", folder, "--runs", runs, "--seeds", "1")
    assert said.code == 2
    assert "was made with other settings of iterations; use another folder" in said.err
    assert not (folder / "results.jsonl").exists()


def test_no_experiment(tmp_path: Path, friend_train: FriendTrain) -> None:
    said = friend_train("experiment", tmp_path)
    assert said.code == 2
    assert "has no experiment.yaml" in said.err
