"""--device, as a user types it; and a device that is too small."""

import json
import re
from pathlib import Path

import pytest
import torch
import yaml

from friend_training.nn import training
from helpers.command import FriendTrain


@pytest.fixture(autouse=True)
def _no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)


@pytest.mark.parametrize("command", ["run", "resume", "predict", "evaluate", "serve", "export"])
@pytest.mark.parametrize(
    ("device", "said"), [("cuda", "sees 0 CUDA card"), ("gpu", "expected auto, cpu, cuda, cuda:N")]
)
def test_a_device_that_cannot_be_is_refused_at_once(
    friend_train: FriendTrain,
    command: str,
    device: str,
    said: str,
    tiny: Path,
    copy: Path,
    labelled: dict[str, Path],
    tmp_path: Path,
) -> None:
    if command == "resume":
        (copy / "results.jsonl").unlink()  # there is something left to do
    given: dict[str, list[object]] = {
        "run": [tiny, "--out", tmp_path / "new"],
        "resume": [copy],
        "predict": [copy, labelled["csrl"], "--task", "csrl", "--out", tmp_path / "new"],
        "evaluate": [copy, labelled["csrl"], "--task", "csrl"],
        "serve": [copy, "--port", "0"],
        "export": [copy, "--task", "csrl", "--out", tmp_path / "new"],
    }
    refused = friend_train(command, *given[command], "--device", device)
    assert refused.code == 2
    assert said in refused.err
    assert "Traceback" not in refused.err
    assert refused.out == ""
    assert not (tmp_path / "new").exists()


def test_a_device_is_taken(friend_train: FriendTrain, finished: Path, labelled: dict[str, Path]) -> None:
    scores = [
        friend_train("evaluate", finished, labelled["csrl"], "--task", "csrl", "--json", *device)
        for device in ([], ["--device", "cpu"])
    ]
    assert [one.code for one in scores] == [0, 0]
    assert scores[0].out == scores[1].out


@pytest.mark.parametrize("command", ["run", "resume", "predict", "evaluate", "serve", "export"])
def test_help_teaches_it(friend_train: FriendTrain, command: str) -> None:
    words = " ".join(friend_train(command, "--help").out.replace("│", " ").split())
    assert "--device" in words
    assert "auto, cpu, cuda, cuda:N (a card) or mps" in words
    if command == "run":
        assert "config's `device`: auto (a graphics card where there is one)" in words
        assert "engine: {kind: local, workers: N}" in words


def test_a_full_device_is_one_line_that_says_how_to_go_on(
    friend_train: FriendTrain, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    backward = training.backward

    def full(*given: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 5:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore of it.")
        backward(*given)  # type: ignore[arg-type]

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(training, "backward", full)
        stopped = friend_train("run", tiny, "--out", folder, "--set", "methods=[base]", "--device", "cpu")
    assert stopped.code == 2
    assert "Traceback" not in stopped.err
    [line] = [line for line in stopped.err.splitlines() if line.startswith("error:")]
    assert "cpu has not enough memory with tasks.csrl.training.batch_size = 4." in line
    advice = re.search(r"friend-train (resume .*--set \S+=2),", line)
    assert advice is not None
    resumed = friend_train(*advice[1].split())
    assert resumed.code == 0, resumed.err
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    assert config["tasks"]["csrl"]["training"]["batch_size"] == 2
    assert config["tasks"]["rewriting"]["training"]["batch_size"] == 4
    [record] = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert record["changed_on_resume"] == ["tasks.csrl.training.batch_size=2"]


def test_what_has_been_trained_is_not_trained_otherwise(friend_train: FriendTrain, copy: Path) -> None:
    said = friend_train("resume", copy, "--set", "iterations=3")
    assert said.code == 2
    assert "iterations cannot change in a run that has begun" in said.err
