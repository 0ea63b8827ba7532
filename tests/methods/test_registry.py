"""The list of methods: what it says of each is true, and names no method that is not there."""

from typing import get_args

from friend_training.methods.registry import METHODS, Procedure, with_needed
from friend_training.study.methods import PROCEDURES


def test_every_procedure_is_carried_out_and_used():
    assert set(PROCEDURES) | {"score-only"} == set(get_args(Procedure)) == {spec.procedure for spec in METHODS.values()}


def test_who_chooses_as_many_as_another_method_comes_after_it():
    for spec in METHODS.values():
        assert (spec.like is not None) == (spec.choice in ("as-many", "random", "random-of-matched"))
        assert spec.like is None or spec.like in spec.needs


def test_what_a_method_needs_is_on_the_list():
    assert {name for spec in METHODS.values() for name in spec.needs} <= set(METHODS)


def test_titles_tell_methods_apart():
    assert len({spec.title for spec in METHODS.values()}) == len(METHODS)


def test_a_method_comes_with_all_that_it_needs_and_nothing_else():
    among = ("base", "sst", "fdt", "base-full", "fdt-s", "sst-as-many")
    assert with_needed(["sst-as-many"], among) == ["base", "fdt", "sst-as-many"]
    assert with_needed(["fdt-s", "sst"], among) == ["base", "sst", "base-full", "fdt-s"]
    assert with_needed(["base"], among) == ["base"]
    assert with_needed([], among) == []
