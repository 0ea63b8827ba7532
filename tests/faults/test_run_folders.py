"""Run folders that somebody edits, deletes, renames or starts twice: one line that says so, and nothing is made up."""

import json
import logging
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from friend_training.errors import ConfigError, RunError
from friend_training.runs import files, run
from friend_training.runs.files import atomic_folder, write_text
from friend_training.runs.progress import Silence
from friend_training.runs.run import MANIFEST, Run, check_file, config_texts, write_recorded
from friend_training.runs.steps import Step, Train
from friend_training.study.config import config_text, find_config
from friend_training.study.folders import changed_on_resume, check_config, remember_methods, resumed_config, run_config
from friend_training.study.open import open_task
from helpers.toy_runs import start, two_friends
from helpers.untrained_run import make_run


@pytest.fixture
def study(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", config_text(find_config("demo", ["methods=[base]"])), {})


def edit(run: Run, setting: str, value: object) -> None:
    whole = place = yaml.safe_load(run.config_text)
    *parts, last = setting.split(".")
    for part in parts:
        place = place[part]
    assert place.get(last) != value
    place[last] = value
    (run.folder / "config.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("iterations", 7),
        ("seed", 77),
        ("shard_size", 3),
        ("encoder.width", 48),
        ("tasks.csrl.update_steps", 3),
        ("tasks.rewriting.pick_threshold", 0.91),
        ("tasks.csrl.training.batch_size", 3),
    ],
)
def test_an_edited_config_is_refused(study: Run, refused: Callable[..., str], setting: str, value: object) -> None:
    edit(study, setting, value)
    for command in ("resume", "show", "report"):
        line = refused(command, study.folder)
        assert f"other settings of {setting} than the run was begun with" in line
        assert f"friend-train run {study.folder}/config.yaml --out" in line


@pytest.mark.parametrize(("setting", "value"), [("threads", 9), ("device", "cuda:7"), ("methods", ["base", "fdt"])])
def test_what_may_change_is_accepted(study: Run, setting: str, value: object) -> None:
    edit(study, setting, value)
    check_config(study)


def test_comments_and_order_are_no_settings(study: Run) -> None:
    turned = dict(reversed(yaml.safe_load(study.config_text).items()))
    (study.folder / "config.yaml").write_text("# mine\n" + yaml.safe_dump(turned, sort_keys=False), encoding="utf-8")
    check_config(study)


def test_changes_by_the_run_itself_are_its_own(study: Run) -> None:
    remember_methods(study, find_config("demo", ["methods=[base, sst]"]))
    assert run_config(study.folder).methods == ("base", "sst")
    resumed_config(study.folder, ["tasks.csrl.training.batch_size=2"])
    assert run_config(study.folder).tasks.csrl.training.batch_size == 2
    assert changed_on_resume(study.folder) == ["tasks.csrl.training.batch_size=2"]
    assert config_texts(study.folder) == [study.config_text]


def test_killed_while_a_file_is_replaced(study: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each of the renames that a change takes, the run is one that can be opened, before and after it."""
    real, left = os.replace, [0]

    class Killed(BaseException):
        pass

    def dying(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        real(source, target)

    path = study.folder / "results.jsonl"
    write_recorded(path, "1\n")
    monkeypatch.setattr(files.os, "replace", dying)
    for renames in range(3):
        for change in (
            lambda: write_recorded(path, f"{renames} more\n"),  # noqa: B023
            lambda: run.write_config(study.folder, f"# {renames}\n" + study.config_text),  # noqa: B023
        ):
            left[0] = renames
            with pytest.raises(Killed):
                change()
            check_file(path)
            assert study.config_text in config_texts(study.folder)


def test_a_run_without_digests_opens_with_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = start(tmp_path / "run")
    two_friends(run)
    (run.folder / "run.json").write_text('{"format": 1}\n')
    (run.folder / MANIFEST).unlink()
    for path in run.folder.glob("phases/*.json"):
        record = json.loads(path.read_text())
        path.write_text(json.dumps({name: record[name] for name in ("phase", "result", "seconds")}))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            two_friends(Run.open(run.folder))
    [warning] = caplog.messages
    assert "made before runs had digests" in warning


def test_a_run_that_has_lost_its_manifest_is_damaged(study: Run) -> None:
    (study.folder / MANIFEST).unlink()
    with pytest.raises(RunError, match=r"manifest\.json is missing; the run is damaged"):
        Run.open(study.folder)


def test_verify_says_what_is_damaged(study: Run, done: Callable[..., str], refused: Callable[..., str]) -> None:
    assert "is whole" in done("verify", study.folder)
    assert "is not a run folder" in refused("verify", study.folder / "phases")


def test_verify_ends_with_2_where_something_is_damaged(study: Run, capsys: pytest.CaptureFixture[str]) -> None:
    from friend_training.cli.main import main

    method = Run.create(study.folder / "methods" / "base", study.config_text, {})
    method.do(Train("csrl", 0), lambda: {"digest": ""})
    write_text(method.folder / "phases" / "train-csrl-0.json", "{}")
    write_text(study.folder / "fingerprints.json", '{"a": "b"}')
    with pytest.raises(SystemExit) as stopped:
        main(["verify", str(study.folder)])
    said = capsys.readouterr().out
    assert stopped.value.code == 2
    assert "fingerprints.json: expected the bytes that the run wrote; it is damaged\n  cannot be made again" in said
    assert "train-csrl-0.json: expected the result of a step; it is damaged\n  can be made again" in said
    assert f"rm {method.folder}/phases/train-csrl-0.json\nfriend-train resume {study.folder}" in said


class _At(Silence):
    """Does something to the run when a step begins."""

    def __init__(self, step: str, act: Callable[[], object]) -> None:
        self.step, self.act = step, act

    def started(self, step: Step) -> None:
        if step.name == self.step:
            self.act()


@pytest.mark.parametrize("step", ["train-mood-0", "evaluate-mood-0", "label-1-00001", "select-1", "train-stars-1"])
@pytest.mark.parametrize("fate", ["deleted", "renamed", "another"])
def test_a_run_deleted_or_renamed_while_it_runs(tmp_path: Path, step: str, fate: str) -> None:
    run = start(tmp_path / "run")

    def act() -> None:
        if fate == "deleted":
            shutil.rmtree(run.folder)
        else:
            run.folder.rename(tmp_path / "elsewhere")
        if fate == "another":
            run.folder.mkdir()

    with pytest.raises(RunError, match="was deleted or renamed while it was being written"):
        two_friends(run, _At(step, act))
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {"deleted": set(), "renamed": {"elsewhere"}, "another": {"elsewhere", "run"}}[fate]
    assert not run.folder.exists() or not any(run.folder.iterdir())


@pytest.fixture
def umask() -> Iterator[Callable[[int], None]]:
    before = os.umask(0o022)
    yield lambda mask: os.umask(mask) and None
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="there is no umask elsewhere")
@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_modes_follow_the_umask(tmp_path: Path, umask: Callable[[int], None], mask: int) -> None:
    from safetensors.numpy import save_file

    umask(mask)
    run = start(tmp_path / "run")
    two_friends(run)
    with atomic_folder(run.folder / "encoder") as new:
        save_file({"a": np.zeros(3)}, new / "model.safetensors")
    for path in run.folder.rglob("*"):
        expected = (0o777 if path.is_dir() else 0o666) & ~mask
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


def test_the_later_of_two_starts_loses_nothing_of_the_other(tmp_path: Path) -> None:
    """Both have found the folder empty; what the first made of it stays."""
    folder = tmp_path / "run"
    folder.mkdir()
    with pytest.raises(ConfigError, match="already there"), atomic_folder(folder):
        start(folder)
    Run.open(folder)
    with pytest.raises(RunError, match="already there"):
        start(folder)


def test_the_loser_of_two_starts_gets_the_message_of_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from friend_training.study.study import run_study

    config, folder = find_config("demo", ["methods=[]"]), tmp_path / "run"
    create = Run.create

    def too_late(*given: object) -> Run:
        """Another process has just made the same run, and writes it."""
        other = create(*given)  # type: ignore[arg-type]
        lock = other.locked()
        lock.__enter__()
        locks.append(lock)
        return create(*given)  # type: ignore[arg-type]

    locks: list[object] = []
    monkeypatch.setattr(Run, "create", too_late)
    with pytest.raises(RunError, match=f"is being written by process {os.getpid()}"):
        run_study(config, folder)
    for lock in locks:
        lock.__exit__(None, None, None)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "task.json"])
def test_a_damaged_checkpoint_is_refused_before_anything_of_it_is_read(
    tmp_path: Path, tiny_encoder: Path, name: str
) -> None:
    """A task is made with the settings of its checkpoint: a flipped bit could ask for any size."""
    study = make_run(tmp_path / "run", tiny_encoder)
    opened = open_task(study, "csrl")
    path = Run.open(study / "methods" / opened.method).checkpoint("csrl", opened.iteration) / name
    path.write_text("{")
    with pytest.raises(RunError, match="this checkpoint is not the one the run wrote"):
        open_task(study, "csrl")
