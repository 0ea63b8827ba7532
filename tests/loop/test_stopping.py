"""Stopping by agreement: when friends agree more only because they copy each other."""

from dataclasses import replace

import pyarrow as pa
import pytest

from friend_training.errors import ConfigError
from friend_training.loop import algorithm as loop_algorithm
from friend_training.loop.algorithm import friend_train
from friend_training.loop.thresholds import agreement_on_dev, copying
from friend_training.methods.controls import chosen_counts
from friend_training.runs.run import Run
from friend_training.runs.steps import MeasureAgreement, Select, Test, Train, kind_of_work, parse_step
from helpers.toy_runs import SETTINGS, Interrupted, Stopper, audit, contents, friends, plan, pool, probe, start

STOPPING = replace(SETTINGS, iterations=3, stop="agreement")


def together(run, settings=STOPPING, listener=None):
    plans = {name: plan(name, iterations=settings.iterations, probe=probe(name)) for name in ("stars", "mood")}
    return friend_train(
        run, plans, [friends("stars", "mood")], pool(), settings=settings, audit=audit, listener=listener
    )


def rows(cases):
    correct, match = zip(*cases, strict=True)
    return pa.table({"correct": pa.array(correct, pa.bool_()), "match": pa.array(match, pa.float64())})


def test_agreement_is_counted_where_gold_is_known_and_something_could_match():
    cases = [(True, 1.0)] * 6 + [(True, 0.0)] * 2 + [(False, 1.0)] * 2 + [(False, 0.4)] * 6
    found = agreement_on_dev(rows([*cases, (None, 1.0), (True, None)]))
    assert found == {"units": 16, "agreed": 0.5, "agreed_when_wrong": 0.25, "error": 0.25, "error_of_all": 0.5}
    nothing = agreement_on_dev(rows([(None, 1.0)]))
    assert nothing == {"units": 0, "agreed": None, "agreed_when_wrong": None, "error": None, "error_of_all": None}


def measured(when_wrong, error):
    return {"agreed_when_wrong": when_wrong, "error": error}


@pytest.mark.parametrize(
    ("before", "now", "stop"),
    [
        ((0.1, 0.2), (0.2, 0.2), True),
        ((0.1, 0.2), (0.2, 0.3), True),
        ((0.1, 0.2), (0.2, 0.1), False),  # they agree more where wrong, but what they agree on is better
        ((0.1, 0.2), (0.1, 0.3), False),  # they do not copy
        ((None, 0.2), (0.2, 0.3), False),
        ((0.1, 0.2), (0.2, None), False),
    ],
)
def test_friends_copy_if_they_agree_more_where_wrong_and_what_they_agree_on_is_no_better(before, now, stop):
    assert copying({"t": measured(*before)}, {"t": measured(*now)}) is stop
    both = copying({"t": measured(*before), "u": measured(0.1, 0.2)}, {"t": measured(*now), "u": measured(0.1, 0.1)})
    assert both is False, "one task that still gains is enough to go on"


def test_before_the_first_iteration_there_is_nothing_to_compare_with():
    assert copying({}, {"t": measured(0.2, 0.3)}) is False


def test_each_iteration_measures_and_a_run_that_never_copies_goes_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(loop_algorithm, "copying", lambda before, now: False)
    stopping, plain = start(tmp_path / "stopping"), start(tmp_path / "plain")
    together(stopping)
    together(plain, replace(STOPPING, stop=None))
    assert contents(stopping) == contents(plain)
    assert plain.result(MeasureAgreement(1)) is None
    for iteration in (1, 2, 3):
        assert stopping.require(MeasureAgreement(iteration))["tasks"]["stars"]["units"] == 40


def stop_at_two(before, now):
    return bool(before)


def test_a_run_that_stops_is_whole_and_stays_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(loop_algorithm, "copying", stop_at_two)
    run = start(tmp_path / "run")
    outcomes = together(run)
    assert run.result(Train("stars", 1)) is not None
    assert run.result(Select(2)) is None
    assert run.store.iterations() == [1]
    assert [len(outcomes[name].dev) for name in ("stars", "mood")] == [2, 2]
    assert run.result(Test("mood")) is not None
    assert chosen_counts(run, "stars", 3)[1:] == [0, 0]
    before = contents(run)
    together(Run.open(run.folder))
    assert contents(run) == before


@pytest.mark.parametrize("step", [MeasureAgreement(2), Test("stars")])
def test_stopped_and_resumed_it_ends_in_the_same_bits(tmp_path, monkeypatch, step):
    monkeypatch.setattr(loop_algorithm, "copying", stop_at_two)
    whole, stopped = start(tmp_path / "whole"), start(tmp_path / "stopped")
    together(whole)
    with pytest.raises(Interrupted):
        together(stopped, listener=Stopper(step))
    together(Run.open(stopped.folder))
    assert contents(stopped) == contents(whole)


def test_its_step_is_found_by_its_name():
    assert parse_step("agreement-2") == MeasureAgreement(2)
    assert kind_of_work(MeasureAgreement(2)) == "selecting"


def test_without_dev_to_see_it_is_refused(tmp_path):
    plans = {"stars": plan("stars"), "mood": plan("mood")}
    with pytest.raises(ConfigError, match="to stop by agreement"):
        friend_train(
            start(tmp_path / "run"),
            plans,
            [friends("stars", "mood")],
            pool(),
            settings=replace(SETTINGS, stop="agreement"),
        )
    with pytest.raises(ConfigError, match="stop is 'never'"):
        friend_train(start(tmp_path / "other"), plans, (), pool(), settings=replace(SETTINGS, stop="never"))
