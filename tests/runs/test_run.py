import errno
import json
import multiprocessing
import os
import platform
import signal
import sys

import pytest

from friend_training.errors import RunError
from friend_training.loop.algorithm import LoopSettings, friend_train
from friend_training.runs import files
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Test, Train
from helpers.toy_runs import plan


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "seed: 1\n", {"gold": "abc"})


def test_a_run_opens_as_it_was_created(run):
    again = Run.open(run.folder)
    assert (again.config_text, again.fingerprints) == ("seed: 1\n", {"gold": "abc"})
    environment = (run.folder / "environment.json").read_text()
    assert json.loads(environment)["python"] == platform.python_version()
    assert "pyarrow" in json.loads(environment)["packages"]
    assert platform.node() not in environment or len(platform.node()) < 4
    assert str(run.folder.parent) not in environment


def test_a_run_is_not_written_over(run):
    with pytest.raises(RunError, match="already there"):
        Run.create(run.folder, "", {})


def test_folders_that_are_no_runs_or_of_another_version(run, tmp_path):
    with pytest.raises(RunError, match="not a run folder"):
        Run.open(tmp_path)
    (run.folder / "run.json").write_text('{"format": 99}')
    with pytest.raises(RunError, match="run folder of another version: format 99"):
        Run.open(run.folder)
    for damaged in ("", "{", "[]", "{}"):
        (run.folder / "run.json").write_text(damaged)
        with pytest.raises(RunError, match="damaged"):
            Run.open(run.folder)


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_file_is_named_with_what_was_expected(run, damaged):
    run.do(Train("a", 0), lambda: {"steps": 3})
    for name, read, expected in (
        ("fingerprints.json", lambda: run.fingerprints, "fingerprint"),
        ("phases/train-a-0.json", lambda: run.result(Train("a", 0)), "result of a step"),
    ):
        (run.folder / name).write_bytes(damaged)
        with pytest.raises(RunError, match=f"{name}: expected .*{expected}.*damaged"):
            read()
    (run.folder / "phases" / "train-a-0.json").write_text('{"phase": "train-a-0"}')
    with pytest.raises(RunError, match="expected the result of a step"):
        run.result(Train("a", 0))
    (run.folder / "config.yaml").write_bytes(b"\xff")
    with pytest.raises(RunError, match=r"config.yaml: expected .*UTF-8"):
        run.config_text  # noqa: B018


def test_other_data_are_refused(run):
    run.check_fingerprints({"gold": "abc", "new": "x"})
    with pytest.raises(RunError, match="other data: gold was abc, is xyz"):
        run.check_fingerprints({"gold": "xyz"})


def test_a_phase_is_done_once(run):
    calls = []
    for _ in range(2):
        assert run.do(Train("a", 0), lambda: calls.append(1) or {"pair": (1, 2)}) == {"pair": [1, 2]}
    assert calls == [1]
    record = json.loads((run.folder / "phases" / "train-a-0.json").read_text())
    assert record["seconds"] >= 0
    assert record["peak_memory_mb"] > 1


def test_a_phase_that_fails_is_not_done(run):
    with pytest.raises(KeyboardInterrupt):
        run.do(Train("a", 0), lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run.result(Train("a", 0)) is None
    with pytest.raises(RunError, match="train-a-0 is not done yet; `friend-train resume"):
        run.require(Train("a", 0))


def test_metrics_are_sorted_and_hold_no_times(run):
    def row(task, iteration, split):
        return {"task": task, "iteration": iteration, "split": split, "metrics": {"f1": 0.5}}

    run.do(Test("a"), lambda: {"metrics": [row("a", 1, "test:x")]})
    for iteration in (10, 2):
        run.do(Evaluate("a", iteration), lambda it=iteration: {"metrics": [row("a", it, "dev")]})
    run.write_metrics()
    rows = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert [(found["iteration"], found["split"]) for found in rows] == [(2, "dev"), (10, "dev"), (1, "test:x")]
    assert all(set(found) == {"task", "iteration", "split", "metrics"} for found in rows)


def test_two_writers_are_refused(run):
    message = f"being written by process {os.getpid()}"
    with run.locked(), pytest.raises(RunError, match=message), Run.open(run.folder).locked():
        pass
    with run.locked():
        pass


def _lock_and_die(folder):
    with Run.open(folder).locked():
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_lock_of_a_dead_process_is_taken_over(run):
    process = multiprocessing.get_context("spawn").Process(target=_lock_and_die, args=(run.folder,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert (run.folder / "writer").read_text() == str(process.pid)
    with run.locked():
        assert (run.folder / "writer").read_text() == str(os.getpid())
    assert not (run.folder / "writer").exists()


def test_a_process_that_does_not_tell_its_memory_leaves_it_open(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    run.do(Train("a", 0), dict)
    assert json.loads((run.folder / "phases" / "train-a-0.json").read_text())["peak_memory_mb"] is None


def _full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_space_while_a_phase_is_recorded(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", _full)
        with pytest.raises(RunError, match=r"no space left on .*; free some and `friend-train resume"):
            run.do(Train("a", 0), dict)
    assert list((run.folder / "phases").iterdir()) == []
    assert run.do(Train("a", 0), lambda: {"a": 1}) == {"a": 1}


def test_no_space_to_create_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "fsync", _full)
    with pytest.raises(RunError, match="no space left"):
        Run.create(tmp_path / "run", "", {})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_may_be_a_string_with_blanks_and_any_letters(tmp_path):
    folder = f"{tmp_path}/Müllers Läufe, 第 1 次"
    run = Run.create(folder, "", {})
    with run.locked(), pytest.raises(RunError, match="第 1 次 is being written"), Run.open(folder).locked():
        pass
    friend_train(run, {"mood": plan("mood", iterations=0)}, (), (), settings=LoopSettings(seed=5, iterations=0))
    second = Run.create(f"{tmp_path}/a second one", "", {})
    taken_over = plan("mood", iterations=0, base=str(run.checkpoint("mood", 0)))
    friend_train(second, {"mood": taken_over}, (), (), settings=LoopSettings(seed=5, iterations=0))
    assert checkpoint_digest(str(second.checkpoint("mood", 0))) == checkpoint_digest(run.checkpoint("mood", 0))
