"""Thresholds for a target precision: the rule itself, and the loop that finds one anew in each iteration."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.selector import Precision, Selector, Share, Threshold
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import friend_train
from friend_training.loop.thresholds import Aimed, Probe, apply_temperature, fit_temperature, threshold_for_precision
from friend_training.runs.run import Run
from friend_training.runs.steps import FindThresholds, Select
from helpers.toy_runs import (
    SETTINGS,
    Interrupted,
    Stopper,
    audit,
    contents,
    friends,
    plan,
    points,
    pool,
    probe,
    start,
    truth,
)

cases = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=20)


@given(cases, st.sampled_from([0.5, 0.75, 1.0]), st.integers(1, 4))
def test_the_rule_agrees_with_its_definition(pairs, target, at_least):
    scores, right = [score for score, _ in pairs], [verdict for _, verdict in pairs]
    promised = apply_temperature(scores, fit_temperature(scores, right))

    def expected(threshold):
        chosen = [number for number, score in enumerate(scores) if score >= threshold]
        if len(chosen) < min(at_least, len(scores)):
            return None
        counted = sum(right[number] for number in chosen) / len(chosen)
        return min(counted, sum(promised[number] for number in chosen) / len(chosen))

    found = threshold_for_precision(scores, right, Precision(target, at_least, confidence=None))
    by_threshold = {score: value for score in set(scores) if (value := expected(score)) is not None}
    good = [score for score, value in by_threshold.items() if value >= target - 1e-12]
    if found.reached:
        assert found.threshold == min(good)
    else:
        assert not [score for score in good if by_threshold[score] > target + 1e-12]
        assert by_threshold[found.threshold] == pytest.approx(max(by_threshold.values()))
    assert found.precision == pytest.approx(by_threshold[found.threshold])
    assert found.chosen == sum(score >= found.threshold for score in scores)
    assert found.units == len(scores)


def test_a_few_lucky_units_prove_nothing():
    scores = np.linspace(0.99, 0.2, 100)
    right = np.arange(100) < 3
    found = threshold_for_precision(scores, right, Precision(0.9, at_least=20, confidence=None))
    assert (found.reached, found.chosen) == (False, 20)
    assert found.precision == pytest.approx(3 / 20)


def test_scores_that_promise_less_than_was_counted_are_believed():
    scores, right = np.full(40, 0.55), np.arange(40) % 10 < 9  # 0.9 counted; at one score no temperature tells more
    found = threshold_for_precision(
        [*scores, *np.full(400, 0.5)], [*right, *(np.arange(400) % 2 == 0)], Precision(0.8, confidence=None)
    )
    promised = apply_temperature([0.55], found.temperature)[0]
    assert found.reached == (min(0.9, promised) >= 0.8)
    assert found.precision <= promised + 1e-12


def test_without_units_there_is_no_threshold():
    assert threshold_for_precision([], [], Precision(0.5, confidence=None)) == Aimed(None, False, None, 0, 0, None)


def aiming_plan(name, target=0.9):
    return replace(plan(name, Precision(target, at_least=5, confidence=None)), probe=probe(name))


def aim_together(run, listener=None):
    plans = {"stars": aiming_plan("stars"), "mood": aiming_plan("mood", 0.8)}
    return friend_train(
        run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit, listener=listener
    )


def test_each_iteration_finds_its_threshold_and_selects_by_it(tmp_path):
    run = start(tmp_path / "run")
    aim_together(run)
    for iteration in (1, 2):
        aimed, selected = run.require(FindThresholds(iteration))["tasks"], run.require(Select(iteration))["tasks"]
        rows = run.store.read(iteration).to_pylist()
        for name in ("stars", "mood"):
            threshold = selected[name]["threshold"]
            assert threshold == aimed[name]["threshold"]
            assert selected[name]["on_dev"]["units"] == 40
            of_task = [row for row in rows if row["task"] == name]
            assert {row["threshold"] for row in of_task} == {threshold}
            assert all(row["chosen"] == (row["overall"] >= threshold) for row in of_task)
    assert run.require(FindThresholds(1))["tasks"] != run.require(FindThresholds(2))["tasks"]


def test_the_threshold_is_that_of_the_models_that_label_and_of_their_match(tmp_path):
    """By hand: Base predicts dev, the friend matches it, the overall scores and the rule."""
    run = start(tmp_path / "run")
    aim_together(run)
    inputs = points(40, 7, "dev")
    tasks = {}
    for name in ("stars", "mood"):
        tasks[name] = plan(name).task
        tasks[name].load(run.checkpoint(name, 0))
    first, second = (tasks[name].predict(inputs) for name in ("stars", "mood"))
    matches = friends("stars", "mood").match(inputs, first, second)
    overall = [0.3 * units[0].confidence + 0.7 * match.first[0] for units, match in zip(first, matches, strict=True)]
    right = [units[0].label == truth("stars", point) for units, point in zip(first, inputs, strict=True)]
    expected = threshold_for_precision(overall, right, Precision(0.9, 5, confidence=None))
    assert run.require(FindThresholds(1))["tasks"]["stars"] == pytest.approx(expected.as_dict())


@pytest.mark.parametrize("step", [FindThresholds(1), Select(1), FindThresholds(2), Select(2)])
def test_stopped_around_the_aim_a_run_ends_in_the_same_bits(tmp_path, step):
    whole, stopped = start(tmp_path / "whole"), start(tmp_path / "stopped")
    aim_together(whole)
    with pytest.raises(Interrupted):
        aim_together(stopped, Stopper(step))
    aim_together(Run.open(stopped.folder))
    assert contents(stopped) == contents(whole)


def test_what_is_not_aimed_has_no_such_step(tmp_path):
    run = start(tmp_path / "run")
    friend_train(run, {"mood": alone()}, (), pool(), settings=SETTINGS)
    assert run.result(FindThresholds(1)) is None
    assert "threshold" not in run.require(Select(1))["tasks"]["mood"]


def alone(pick=None):
    return replace(plan("mood"), selectors=[Selector(pick or Threshold(0.5), 1.0)] * SETTINGS.iterations)


def test_a_share_says_what_threshold_it_came_to(tmp_path):
    run = start(tmp_path / "run")
    friend_train(run, {"mood": alone(Share(0.25))}, (), pool(), settings=SETTINGS)
    selected = run.require(Select(1))["tasks"]["mood"]
    confidences = sorted((row["confidence"] for row in run.store.read(1).to_pylist()), reverse=True)
    assert selected["threshold"] == confidences[selected["chosen"] - 1]
    assert selected["chosen"] == 15


def test_an_aim_without_dev_to_see_is_refused(tmp_path):
    blind = alone(Precision(0.8))
    with pytest.raises(ConfigError, match="needs a probe"):
        friend_train(start(tmp_path / "run"), {"mood": blind}, (), pool(), settings=SETTINGS)
    balanced = replace(alone(), selectors=[Selector(Precision(0.8), 1.0, balance={"x": 1.0})] * 2, probe=probe("mood"))
    with pytest.raises(ConfigError, match="cannot balance"):
        friend_train(start(tmp_path / "other"), {"mood": balanced}, (), pool(), settings=SETTINGS)


def test_with_nothing_to_go_by_nothing_is_chosen(tmp_path):
    nobody_knows = replace(alone(Precision(0.8)), probe=Probe(points(5, 7, "dev"), lambda prediction: None))
    run = start(tmp_path / "run")
    friend_train(run, {"mood": nobody_knows}, (), pool(), settings=SETTINGS)
    selected = run.require(Select(1))["tasks"]["mood"]
    assert (selected["threshold"], selected["chosen"]) == (None, 0)
    assert selected["on_dev"]["reached"] is False


def test_a_target_that_is_met_but_for_rounding_is_met():
    """Scores on both sides of a half promise a half together, however they are summed up."""
    pairs = [(0.1, False), (0.1, True), (0.1, True), (0.3, True), (0.3, True), (0.7, True), (0.7, True)]
    scores, right = [score for score, _ in pairs], [verdict for _, verdict in pairs]
    assert threshold_for_precision(scores, right, Precision(0.5, 1, confidence=None)).threshold == 0.3
