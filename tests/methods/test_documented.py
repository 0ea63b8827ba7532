"""The method that docs/adding-a-method.md builds: its file and its line, taken from there and run."""

import re
from pathlib import Path

import pytest

from friend_training.methods import registry
from friend_training.report.names import method_in_words
from friend_training.runs.steps import Select
from friend_training.study import methods as compared
from helpers.toy_runs import SETTINGS, audit, plan, pool, start

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-method.md"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture(scope="module")
def curriculum():
    (source,) = blocks("python")
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)
    return names["curriculum"]


@pytest.fixture
def added(curriculum, monkeypatch):
    """The house with one file and two lines more."""
    (line, procedure) = blocks("text")
    for name, spec in eval(f"{{{line}}}", vars(registry)).items():
        monkeypatch.setitem(registry.METHODS, name, spec)
    for name, function in eval(f"{{{procedure}}}", {**vars(compared), "curriculum": curriculum}).items():
        monkeypatch.setitem(compared.PROCEDURES, name, function)


def test_the_documented_method_runs_and_does_what_the_page_says(curriculum, tmp_path):
    run = start(tmp_path / "run")
    outcome = curriculum(run, {"mood": plan("mood")}, pool(), settings=SETTINGS, audit=audit)
    chosen = [run.require(Select(iteration))["tasks"]["mood"]["chosen"] for iteration in (1, 2)]
    assert chosen == [30, 60]
    assert len(outcome["mood"].dev) == 3
    rows = run.store.read(1).to_pylist()
    surest = min(row["confidence"] for row in rows if row["chosen"])
    assert surest >= max(row["confidence"] for row in rows if not row["chosen"])


@pytest.mark.usefixtures("added")
def test_one_file_and_two_lines_are_all_that_a_study_needs(tmp_path, monkeypatch):
    from friend_training.study import data
    from friend_training.study.study import run_study
    from helpers.tiny_config import tiny_config

    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 40)
    config = tiny_config("methods=[base, curriculum]", "iterations=2")
    records = run_study(config, tmp_path / "run")
    assert [record["method"] for record in records] == ["base", "curriculum"]
    chosen = [counts["rewriting"]["chosen"] for counts in records[1]["chosen"]]
    assert chosen == [6, 12], "half of the pool, then all of it"
    assert method_in_words("curriculum") == "curriculum labelling"


def test_every_file_the_page_names_is_there():
    methods = PAGE.parents[1] / "src" / "friend_training" / "methods"
    text = PAGE.read_text(encoding="utf-8").partition("## What a method can change")[2]
    named = set(re.findall(r"`(\w+\.py)`", text))
    assert named
    assert all((methods / name).is_file() for name in named)
