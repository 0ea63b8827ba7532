"""The list of methods: what it says of each is true, and names no method that is not there."""

from pathlib import Path

import pytest

import friend_training.methods
from friend_training.methods.known import METHODS, SCORED_ONLY, with_needed
from friend_training.scenarios.compared import OTHERWISE

FOLDER = Path(next(iter(friend_training.methods.__path__)))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in OTHERWISE and name not in SCORED_ONLY])
def test_a_method_is_the_function_of_its_file(method):
    name = method.replace("-", "_")
    assert f"def {name}(" in (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def test_nothing_is_called_otherwise_that_is_not_on_the_list():
    assert set(OTHERWISE) < set(METHODS)


def test_what_a_method_needs_is_on_the_list():
    assert {name for known in METHODS.values() for name in known.needs} <= set(METHODS)


def test_titles_tell_methods_apart():
    assert len({known.title for known in METHODS.values()}) == len(METHODS)


def test_a_method_comes_with_all_that_it_needs_and_nothing_else():
    among = ("base", "sst", "fdt", "base-full", "fdt-s", "sst-as-many")
    assert with_needed(["sst-as-many"], among) == ["base", "fdt", "sst-as-many"]
    assert with_needed(["fdt-s", "sst"], among) == ["base", "sst", "base-full", "fdt-s"]
    assert with_needed(["base"], among) == ["base"]
    assert with_needed([], among) == []
