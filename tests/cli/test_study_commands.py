"""run, resume, show and demo, from the config to the tables."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from friend_training.cli import run as run_command
from friend_training.runs import files
from friend_training.study import config as shipped
from helpers import patience
from helpers.command import FriendTrain
from helpers.old_run import without_digests
from helpers.tiny_config import DRAWN_FROM

HEADS = ("P", "R", "F1", "ROUGE-L", "EM", "WER")


def test_show_prints_the_tables_of_a_run(friend_train: FriendTrain, finished: Path) -> None:
    said = friend_train("show", finished, "--examples", 1)
    assert said.code == 0
    assert all(head in said.out for head in HEADS)
    results = [json.loads(line) for line in (finished / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    for method, record in zip(("Base", "FDT"), results, strict=True):
        row = next(line.split() for line in said.out.splitlines() if line.split()[:1] == [method])
        assert row[6] == f"{record['metrics']['rewriting.wer']:.1f}"
    counts = results[1]["chosen"][0]["csrl"]
    row = next(line.split() for line in said.out.splitlines() if line.split()[:3] == ["FDT", "csrl", "1"])
    assert row[3:5] == [str(counts["units"]), str(counts["chosen"])]
    assert "Pseudo-labels of FDT, iteration 1" in said.out
    assert "confidence 0." in said.out
    assert "Not finished" not in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines() if line.isascii())


def test_show_says_what_examples_there_are(friend_train: FriendTrain, finished: Path) -> None:
    said = friend_train("show", finished, "--examples", 1, "--method", "base")
    assert said.code == 2
    assert "'base' has no pseudo-labels, only fdt" in said.err


def test_a_run_is_not_run_again_over_itself(friend_train: FriendTrain, tiny: Path, finished: Path) -> None:
    said = friend_train("run", tiny, "--out", finished)
    assert said.code == 2
    assert f"friend-train resume {finished}" in " ".join(said.err.split())


def test_a_finished_run_has_nothing_left_to_do(friend_train: FriendTrain, finished: Path) -> None:
    before = (finished / "results.jsonl").stat().st_mtime_ns
    for folder in (finished, finished / "methods" / "fdt"):  # messages may name a method's folder
        said = friend_train("resume", folder)
        assert said.code == 0
        assert "finished" in said.err
        assert "FDT" in said.out
    assert (finished / "results.jsonl").stat().st_mtime_ns == before


def test_settings_can_be_changed(
    friend_train: FriendTrain, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done: list[tuple[int, Path]] = []
    monkeypatch.setattr(run_command, "do_study", lambda config, folder, *, data_dir: done.append((config.seed, folder)))
    monkeypatch.setattr(run_command, "show_outcome", lambda folder: None)
    assert friend_train("run", tiny, "--set", "seed=7").code == 0
    assert done == [(7, Path("runs/tiny-seed7"))]


def test_a_dry_run_says_what_is_missing_and_trains_nothing(
    friend_train: FriendTrain, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = friend_train("run", tiny, "--dry-run")
    assert said.code == 0, said.err
    assert "Nothing is missing" in said.out
    assert "2 methods would take about" in said.out
    said = friend_train("run", tiny, "--dry-run", "--set", "encoder={kind: pretrained, source: no/such}")
    assert said.code == 2
    assert "missing  encoder no/such: " in said.out
    assert "1 of 3 things are missing. Nothing was trained." in said.out
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_and_resume_completes(
    friend_train: FriendTrain, tiny: Path, finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "stopped"
    program = (
        "import signal, sys, friend_training.study.data as data; from friend_training.cli.main import main; "
        # A shell starts what runs in the background with Ctrl-C ignored; then this test would wait for ever.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"data.SYNTHETIC_TRAIN = {DRAWN_FROM}; main(sys.argv[1:])"
    )
    # Far more steps than there is time for: it is stopped in the middle of training.
    arguments = ["run", str(tiny), "--out", str(folder), "--set", "tasks.rewriting.base_steps=100000"]
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("Base: scoring csrl on dev"):
            process.send_signal(signal.SIGINT)
            break
    rest = process.stderr.read()
    assert process.wait(patience.ANSWER) == 130
    assert rest.strip() == f"Stopped. Go on with: friend-train resume {folder}"
    assert any(line.startswith("pre-training the encoder: ") for line in lines)
    shown = friend_train("show", folder)
    assert "Nothing has been tested yet" in shown.out
    assert f"friend-train resume {folder}" in shown.out

    without_digests(folder)  # else the shorter training would be refused
    for path in (folder / "config.yaml", *folder.glob("methods/*/config.yaml")):
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        config["tasks"]["rewriting"]["base_steps"] = 12
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
    said = friend_train("resume", folder)
    assert said.code == 0, said.err
    assert "pre-training the encoder" not in said.err, "finished phases are not done again"
    assert "Base: training rewriting" in said.err
    assert _metrics(folder) == _metrics(finished)


def test_a_full_disk_is_explained_and_the_run_goes_on(
    friend_train: FriendTrain, tiny: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "full"
    replace, written = os.replace, []

    def full(source: Path, target: Path) -> None:
        written.append(target)
        if Path(target).name == "select-1.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        said = friend_train("run", tiny, "--out", folder)
    assert said.code == 2
    message = said.err.strip().splitlines()[-1]
    advice = folder / "methods" / "fdt"
    assert message == f"error: no space left on the disk of {advice}; free some and `friend-train resume {advice}`"
    assert friend_train("resume", advice).code == 0
    assert _metrics(folder) == _metrics(finished)


def test_the_demo_runs_once(
    friend_train: FriendTrain, tiny: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = friend_train("demo", "--out", finished)
    assert said.code == 0
    assert "has been run before" in said.err
    assert "Pseudo-labels of FDT" in said.out
    assert said.out.count("ROUGE-L") >= 1
    assert f"friend-train show {finished}" in said.out
    assert "made with seed 1, not 5" in friend_train("demo", "--out", finished, "--seed", 5).err

    new = tmp_path / "new"
    seeds: list[int] = []
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    (tmp_path / "demo.yaml").write_text(tiny.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(
        run_command, "do_study", lambda config, folder: seeds.append(config.seed) or folder.symlink_to(finished)
    )
    assert friend_train("demo", "--out", new, "--seed", 5).code == 0
    assert seeds == [5]


def _metrics(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["metrics"] for line in lines]
