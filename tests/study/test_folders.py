"""Where the parts of a study lie."""

from pathlib import Path

import pytest
import yaml

from friend_training.errors import RunError
from friend_training.runs.run import Run
from friend_training.study.config import config_text
from friend_training.study.folders import (
    different_settings,
    is_finished,
    method_folder,
    methods_there,
    read_records,
    remember_methods,
    run_config,
    shared_resources,
    whole_run,
    write_records,
)
from helpers.tiny_config import tiny_config


def test_shared_resources_are_remembered_as_seen_from_the_run(tmp_path: Path) -> None:
    run, shared = tmp_path / "a" / "run", tmp_path / "shared"
    run.mkdir(parents=True)
    assert shared_resources(run, None) is None
    assert shared_resources(run, shared) == shared
    (tmp_path / "a").rename(tmp_path / "b")
    found = shared_resources(tmp_path / "b" / "run", None)
    assert found is not None
    assert found.resolve() == shared


def test_a_method_belongs_to_its_study(tmp_path: Path) -> None:
    method = tmp_path / "run" / "methods" / "fdt"
    method.mkdir(parents=True)
    assert whole_run(method) == method, "a folder of that name need not be part of a run"
    (tmp_path / "run" / "run.json").write_text("{}")
    assert whole_run(method) == tmp_path / "run"
    assert whole_run(tmp_path / "run") == tmp_path / "run"


def make_run(folder: Path, *changes: str) -> Run:
    return Run.create(folder, config_text(tiny_config(*changes)), {})


def test_methods_asked_for_later_are_remembered(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "methods=[base, fdt]")
    before = run.config_text
    remember_methods(run, tiny_config("methods=[base]", "threads=2"))
    assert run.config_text == before, "nothing new"
    remember_methods(run, tiny_config("methods=[base, sst, fdt, sst-as-many]"))
    assert run_config(run.folder).methods == ("base", "fdt", "sst", "sst-as-many")
    whole = yaml.safe_load(run.config_text)
    assert {**whole, "methods": ["base", "fdt"]} == yaml.safe_load(before)


def test_other_settings_are_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with pytest.raises(RunError, match=r"other settings of iterations, tasks.csrl.pick_threshold; use another"):
        remember_methods(run, tiny_config("iterations=5", "tasks.csrl.pick_threshold=0.9"))
    kept = yaml.safe_load(run.config_text)
    del kept["tasks"]["csrl"]["restart"]  # as a version of before knew it
    (run.folder / "config.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    with pytest.raises(RunError, match=r"tasks.csrl.restart"):
        remember_methods(run, tiny_config())


def test_settings_that_differ_are_named() -> None:
    assert different_settings({"a": {"b": 1, "c": [2]}, "d": 3}, {"a": {"b": 1, "c": [4]}, "e": 5}) == ["a.c", "d", "e"]
    assert different_settings({"a": {"kind": 1}}, {"a": 2}) == ["a"]


def _record(method: str, n: int) -> dict[str, object]:
    return {"method": method, "metrics": {}, "n": n}


def test_a_run_is_finished_when_all_its_methods_have_records(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", "methods=[base, sst, fdt]").folder
    assert not is_finished(folder)
    write_records(folder, [{"method": "fdt", "metrics": {"n": 1}}, {"method": "base", "metrics": {"n": 1}}])
    assert not is_finished(folder)
    write_records(folder, [{"method": "sst", "metrics": {"n": 2}}, {"method": "fdt", "metrics": {"n": 2}}])
    found = [(record["method"], record["metrics"]["n"]) for record in read_records(folder)]
    assert found == [("base", 1), ("sst", 2), ("fdt", 2)]
    assert is_finished(folder)


def test_methods_are_those_that_are_there(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", "methods=[base]").folder
    for method in ("fdt", "base", "mt"):
        make_run(method_folder(folder, method))
    assert methods_there(folder) == ["base", "mt", "fdt"]
