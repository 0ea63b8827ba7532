"""Who writes and who waits: a process that is not the first leaves the run folder alone."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from friend_training.core.pool import InShards
from friend_training.loop.algorithm import Loop, LoopSettings, Models, friend_train
from friend_training.runs import files
from friend_training.runs.checkpoints import checkpoint_digest, copy_checkpoint, save_checkpoint
from friend_training.runs.files import is_first, rank, world
from friend_training.runs.steps import Prepare
from helpers import patience
from helpers.toy_runs import SETTINGS, plan, start, two_friends
from helpers.toy_runs import pool as toy_pool

ONLY_BASE = LoopSettings(seed=5, iterations=0)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be the second of two."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_without_a_launcher_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert (rank(), world(), is_first()) == (0, 1, True)


def test_the_second_waits_for_what_the_first_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(tmp_path / "run")
    did: list[str] = []
    found: list[dict[str, object]] = []
    looks: list[float] = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        time.sleep(seconds)

    monkeypatch.setattr(files, "time", SimpleNamespace(sleep=look))

    def follow() -> None:
        found.append(run.do(Prepare("alone"), lambda: did.append("alone") or {}))
        found.append(run.do(Prepare("together"), lambda: did.append("together") or {"by": "second"}, together=True))

    monkeypatch.setenv("RANK", "1")
    waiting = threading.Thread(target=follow)
    waiting.start()
    patience.wait_until(lambda: len(looks) > 2, "the second, who looks for the first one's record")
    assert waiting.is_alive()
    assert (did, found) == ([], [])
    monkeypatch.setenv("RANK", "0")
    with run.locked():
        run.do(Prepare("together"), lambda: {"by": "first"})  # known before the second gets there: it need not do it
        run.do(Prepare("alone"), lambda: {"by": "first"})
    waiting.join(patience.ANSWER)
    assert found == [{"by": "first"}, {"by": "first"}]
    assert did == []


@pytest.mark.usefixtures("second")
def test_what_is_done_together_the_second_does_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(tmp_path / "run")

    def work() -> dict[str, object]:
        with monkeypatch.context() as first:
            first.setenv("RANK", "0")
            run.do(Prepare("train"), lambda: {"by": "first"})
        return {"by": "second"}

    assert run.do(Prepare("train"), work, together=True) == {"by": "first"}


def test_the_second_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(tmp_path / "run")
    plans = {"mood": plan("mood", iterations=0)}
    friend_train(run, plans, (), (), settings=ONLY_BASE)
    monkeypatch.setenv("RANK", "1")
    (run.folder / "metrics.jsonl").unlink()
    before = names(run.folder)
    with run.locked(), run.locked():  # no lock of its own
        run.write_metrics()
    checkpoint = run.checkpoint("mood", 0)
    digest = checkpoint_digest(checkpoint)
    models = Models(run, plans)
    task = models.at("mood", 0)
    assert save_checkpoint(task, tmp_path / "saved") == ""
    assert copy_checkpoint(checkpoint, tmp_path / "copied") == ""
    assert models.save("mood", 0) == ""
    assert names(run.folder) == before
    assert names(tmp_path) == ["run", *(f"run/{name}" for name in before)]
    assert checkpoint_digest(checkpoint) == digest


def test_after_training_the_second_reads_what_the_first_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(tmp_path / "run")
    plans = {"mood": plan("mood", iterations=0)}
    friend_train(run, plans, (), (), settings=ONLY_BASE)
    monkeypatch.setenv("RANK", "1")
    models, loaded = Models(run, plans), []
    monkeypatch.setattr(type(plans["mood"].task), "load", lambda self, folder: loaded.append(folder))
    models.at("mood", 0)
    models.at("mood", 0)
    assert len(loaded) == 1
    models.forget("mood")
    models.save("mood", 0)
    assert len(loaded) == 1
    models.at("mood", 0)
    assert loaded == [run.checkpoint("mood", 0)] * 2


def test_shards_are_read_when_looked_at() -> None:
    reads: list[int] = []

    def read(shard: int) -> list[str]:
        reads.append(shard)
        return [f"{shard}a", f"{shard}b"]

    chosen = InShards([lambda: read(0), lambda: read(1)], 4)
    assert len(chosen) == 4
    assert bool(chosen)
    assert reads == []
    assert next(iter(chosen)) == "0a"
    assert reads == [0]
    assert list(chosen) == ["0a", "0b", "1a", "1b"]
    assert (chosen[3], chosen[1:3]) == ("1b", ["0b", "1a"])
    assert not InShards([], 0)


def test_several_processes_see_the_same_pseudo_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(tmp_path / "run")
    two_friends(run)
    loop = Loop(run, {"mood": plan("mood")}, (), toy_pool(), SETTINGS, None)
    whole = loop._chosen("mood", 1, 1.0)
    assert isinstance(whole, list)
    assert len(whole) > 5
    monkeypatch.setenv("WORLD_SIZE", "2")
    in_shards = loop._chosen("mood", 1, 1.0)
    assert isinstance(in_shards, InShards)
    assert len(in_shards.shards) == 3
    assert (len(in_shards), list(in_shards)) == (len(whole), whole)
