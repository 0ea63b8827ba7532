"""An experiment from nothing to its table, and what its friends agreed on."""

import json
from pathlib import Path

import pytest
from tiny_study import TINY, FriendTrain


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "experiments" / "tiny"
    made.mkdir(parents=True)
    (made / "tiny.yaml").write_text(TINY, encoding="utf-8")
    (made / "experiment.yaml").write_text("title: Tiny\nconfig: tiny.yaml\nseeds: [1, 2]\n", encoding="utf-8")
    return made


def test_an_experiment_is_run_once_and_compared(folder: Path, tmp_path: Path, friend_train: FriendTrain) -> None:
    runs = tmp_path / "runs"
    planned = friend_train("experiment", folder, "--runs", runs, "--dry-run")
    assert "seed 2: base, fdt" in planned.err
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
    assert len(list((folder / "counts").iterdir())) == 4

    again = friend_train("experiment", folder, "--runs", runs)
    assert "seed 1: finished" in again.err
    assert len((folder / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 4

    table = friend_train("compare", folder, "--format", "markdown")
    assert "| FDT |" in table.out.replace("**", "")

    kept = tmp_path / "agreement.jsonl"
    measured = friend_train("agreement", runs / "tiny" / "seed-1", "--out", kept)
    assert measured.code == 0, measured.err
    assert measured.out.splitlines()[-1].startswith("| 1 | 1 |")
    assert friend_train("agreement", kept).out == measured.out


def test_no_experiment(tmp_path: Path, friend_train: FriendTrain) -> None:
    said = friend_train("experiment", tmp_path)
    assert said.code == 2
    assert "has no experiment.yaml" in said.err
