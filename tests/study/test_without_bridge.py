"""A bridge takes longer to train than most methods: one is made only where a method asks it."""

import json

import pytest

from friend_training.bridges.bridge import NoBridge
from friend_training.errors import RunError
from friend_training.methods.registry import METHODS
from friend_training.runs.steps import Prepare
from friend_training.study import data
from friend_training.study.folders import method_folder
from friend_training.study.resources import resource_steps
from friend_training.study.study import run_study
from helpers.study_contents import contents
from helpers.tiny_config import tiny_config

ALONE = [name for name, known in METHODS.items() if not known.bridge and "fdt" not in known.needs]


def test_methods_that_are_said_to_ask_no_bridge_are_trained_without_one(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    config = tiny_config(f"methods={json.dumps(ALONE)}", "data.target=film")
    records = run_study(config, tmp_path / "run")
    assert [record["method"] for record in records] == ALONE
    assert not (tmp_path / "run" / "bridge").exists()


def test_a_bridge_that_is_asked_for_later_changes_nothing_of_what_is_there(tmp_path):
    run, at_once = tmp_path / "run", tmp_path / "at-once"
    run_study(tiny_config("methods=[base, sst]"), run)
    before = contents(method_folder(run, "sst"))
    run_study(tiny_config("methods=[base, sst, fdt]"), run)
    run_study(tiny_config("methods=[base, sst, fdt]"), at_once)
    assert {name: text for name, text in contents(method_folder(run, "sst")).items() if name in before} == before
    for method in ("base", "sst", "fdt"):
        made, expected = (contents(method_folder(folder, method)) for folder in (run, at_once))
        for name in ("config.yaml", "manifest.json"):  # they name the methods that were asked for
            made.pop(name), expected.pop(name)
        assert made == expected


def test_what_has_to_be_made_depends_on_the_methods():
    assert resource_steps(tiny_config("methods=[base, sst]")) == [Prepare("encoder")]
    assert resource_steps(tiny_config("methods=[base, bridge-alone]")) == [Prepare("encoder"), Prepare("bridge")]
    assert resource_steps(tiny_config("methods=[]")) == [Prepare("encoder"), Prepare("bridge")]


def test_a_method_that_asks_one_all_the_same_is_told():
    with pytest.raises(RunError, match="known to query one"):
        NoBridge().label([])
