"""The method that docs/adding-a-method.md builds, taken from there and run."""

import re
from pathlib import Path

import pytest
from toy_runs import SETTINGS, audit, plan, pool, start

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-method.md"


@pytest.fixture(scope="module")
def curriculum():
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)
    return names["curriculum"]


def test_the_documented_method_runs_and_does_what_the_page_says(curriculum, tmp_path):
    run = start(tmp_path / "run")
    outcome = curriculum(run, {"mood": plan("mood")}, pool(), settings=SETTINGS, audit=audit)
    chosen = [run.require(f"select-{iteration}")["tasks"]["mood"]["chosen"] for iteration in (1, 2)]
    assert chosen == [30, 60]
    assert len(outcome["mood"].dev) == 3
    rows = run.store.read(1).to_pylist()
    surest = min(row["confidence"] for row in rows if row["chosen"])
    assert surest >= max(row["confidence"] for row in rows if not row["chosen"])


def test_every_file_the_page_names_is_there():
    methods = PAGE.parents[1] / "src" / "friend_training" / "methods"
    text = PAGE.read_text(encoding="utf-8").partition("## What a method can change")[2]
    named = set(re.findall(r"`(\w+\.py)`", text))
    assert named
    assert all((methods / name).is_file() for name in named)
