"""Kill a whole study (SIGKILL) in every phase, resume it, and compare every byte with the one that was never killed."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from friend_training.errors import RunError
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study import data
from friend_training.study.study import run_study
from helpers import lives
from helpers.study_contents import contents
from helpers.tiny_config import DRAWN_FROM

METHODS = lives.METHODS


@dataclass(frozen=True)
class Lives:
    folder: Path
    whole: int
    again: int
    killed: Sequence[int]

    def events(self, name: str) -> list[str]:
        return (self.folder / f"{name}.events").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    """All three studies of lives.py: in a process of its own, which forks with a torch that has never computed."""
    folder = tmp_path_factory.mktemp("lives")
    program, tests = [sys.executable, "-m", lives.__name__, str(folder)], Path(__file__).parents[1]
    done = subprocess.run(program, cwd=tests, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    ends = json.loads((folder / "ends.json").read_text())
    assert (ends["whole"], ends["again"], ends["killed"][-1]) == (0, 0, 0), done.stderr[-3000:]
    return Lives(folder, **ends)


def test_equal_studies_have_equal_bits(after: Lives) -> None:
    whole, again = (contents(after.folder / name) for name in ("whole", "again"))
    assert whole == again
    for name in ("encoder/model.safetensors", "bridge/model.safetensors", "results.jsonl"):
        assert name in whole
    for method in METHODS:
        assert f"methods/{method}/metrics.jsonl" in whole
        last = "iteration-000" if method == "base" else "iteration-001"
        for task in ("csrl", "rewriting"):
            assert f"methods/{method}/checkpoints/{task}/{last}/model.safetensors" in whole
    for shard in (0, 1):
        assert f"methods/fdt/store/iteration-001/shard-0000{shard}.parquet" in whole


def test_killed_anywhere_a_study_ends_in_the_same_bits(after: Lives) -> None:
    whole, killed = (contents(after.folder / name) for name in ("whole", "killed"))
    assert [name for name in whole | killed if whole.get(name) != killed.get(name)] == []
    assert not list((after.folder / "killed").rglob("*.tmp"))


def test_it_died_at_every_event_of_every_phase(after: Lives) -> None:
    """Once at each event that the undisturbed study met: at the start of every phase, within it, and as it ended."""
    events = after.events("killed")

    def comparable(events: list[str]) -> list[str]:
        """But for steps within FDT's first labelling and its training: undisturbed, it remembers what SST has asked of
        Base, and takes over the task that SST has trained on the same labels. (Killed, it does both; see below.)
        And only where a folder is made again, the one before it is moved out of the way."""
        remembered = ("within fdt/label-1-", "within fdt/train-", "half methods/fdt/")
        return sorted(event for event in events if not event.startswith(remembered) and not event.endswith("*.tmp"))

    assert comparable(events) == comparable(after.events("whole"))
    assert after.killed == [-signal.SIGKILL] * len(events) + [0]
    phases = ["encoder", "bridge"]
    for method in METHODS:
        folder = after.folder / "whole" / "methods" / method / "phases"
        phases += [f"{method}/{path.stem}" for path in sorted(folder.glob("*.json"))]
    assert len(phases) > 30
    for phase in phases:
        assert f"start {phase}" in events or phase.endswith("/counts")  # which is over before anyone could watch it
        record = phase.replace("/", "/phases/") if "/" in phase else f"phases/{phase}"
        assert any(event.startswith("rename ") and event.endswith(f"{record}.json") for event in events), phase
        if phase.split("/")[-1].split("-")[0] in ("bridge", "label", "select", "evaluate", "test"):
            assert any(event.startswith(f"within {phase} ") for event in events), phase
    # Base is trained once and handed on; every training that takes place was cut off in the middle and while saving.
    trained = ["base/train-csrl-0", "base/train-rewriting-0"]
    trained += [f"{method}/train-{task}-1" for method in METHODS[1:] for task in ("csrl", "rewriting")]
    for phase in trained:
        assert any(event.startswith(f"within {phase} ") for event in events), phase
    assert sum(event.startswith("half ") for event in events) == len(trained) + 1  # and the bridge


def test_a_finished_study_is_left_as_it_is(after: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", DRAWN_FROM)
    before = contents(after.folder / "again")
    records = run_study(lives.config(), after.folder / "again")
    assert contents(after.folder / "again") == before
    assert [record["method"] for record in records] == list(METHODS)
    assert [json.loads(line) for line in before["results.jsonl"].decode().splitlines()] == records


def test_other_data_are_refused(after: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", DRAWN_FROM)
    with pytest.raises(RunError, match="made from other data: csrl_gold"):
        run_study(lives.config("seed=2"), after.folder / "again")


def test_every_method_started_from_the_same_base(after: Lives) -> None:
    for task in ("csrl", "rewriting"):
        digests = {
            Run.open(after.folder / "whole" / "methods" / method).require(Train(task, 0))["digest"]
            for method in METHODS
        }
        assert len(digests) == 1
