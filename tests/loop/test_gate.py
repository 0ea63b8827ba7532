"""The learned score: what it finds out about friends, how it ranks, and when it steps back for the paper's mix."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

from friend_training.core.selector import Precision, Selector, Threshold
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import friend_train
from friend_training.loop.selection import LearnedScore, fit_gate, ranked_right
from friend_training.loop.thresholds import find_on_dev
from friend_training.runs.run import Run
from friend_training.runs.steps import FindThresholds, Select
from friend_training.runs.store import LABELLED
from helpers.toy_runs import SETTINGS, Interrupted, Stopper, audit, contents, friends, plan, pool, probe, start


def rows(units=400, *, good=2.5, useless=0.0, seed=0, inputs=None):
    """A labelled store where one friend's match is worth `good` log-odds, another's `useless`, kind "b" costs 1."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.3, 0.99, units)
    match = {name: rng.integers(0, 2, units).astype(float) for name in ("friend", "stranger")}
    silent = rng.random(units) < 0.2
    kind = rng.choice(["a", "b"], units)
    odds = -1 + np.log(confidence / (1 - confidence)) + np.where(silent, 0, good * match["friend"])
    odds += useless * match["stranger"] - (kind == "b")
    columns = {
        "unit": [f"u{n}" for n in range(units)],
        "input": [f"u{n % (inputs or units)}" for n in range(units)],
        "task": ["t"] * units,
        "label": ['"x"'] * units,
        "confidence": confidence,
        "content": [True] * units,
        "kind": kind.tolist(),
        "match": match["friend"],
        "matches": [
            [("friend", None if silent[n] else match["friend"][n]), ("stranger", match["stranger"][n])]
            for n in range(units)
        ],
        "correct": rng.random(units) < expit(odds),
    }
    return pa.table(columns, schema=LABELLED)


def fitted(table):
    paper = 0.2 * table["confidence"].to_numpy() + 0.8 * table["match"].to_numpy()
    return fit_gate(table, paper)


def test_the_coefficients_say_what_each_friend_is_worth():
    found = fitted(rows(3000)).score
    worth = {one.feature: one for one in found.coefficients}
    for feature, true in [("match of friend", 2.5), ("match of stranger", 0.0), ("confidence, log-odds", 1.0)]:
        assert abs(worth[feature].log_odds - true) < 3.5 * worth[feature].standard_error, feature
    assert worth["kind a"].log_odds - worth["kind b"].log_odds == pytest.approx(1.0, abs=0.4)
    assert worth["match of friend"].standard_error < 0.3


def test_units_that_the_fit_has_not_seen_are_ranked_better_than_by_the_paper():
    gate, fresh = fitted(rows(500)), rows(2000, seed=1)
    right = fresh["correct"].to_numpy(zero_copy_only=False).astype(bool)
    paper = 0.2 * fresh["confidence"].to_numpy() + 0.8 * fresh["match"].to_numpy()
    unseen = ranked_right(gate.score(fresh), right)
    assert unseen > ranked_right(paper, right) + 0.02
    assert gate.score.ranking["learned"] == pytest.approx(unseen, abs=0.06)
    assert gate.score.ranking["learned"] > gate.score.ranking["paper"]


def test_it_is_calibrated():
    gate, fresh = fitted(rows(1000)), rows(20_000, seed=2)
    p, right = gate.score(fresh), fresh["correct"].to_numpy(zero_copy_only=False)
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (p >= low) & (p < low + 0.2)
        assert p[inside].mean() == pytest.approx(right[inside].mean(), abs=0.07)


def test_without_information_it_promises_none():
    """Labels drawn at random, many units of few inputs: the fit of one's own fold would look better than chance."""
    table = rows(200, inputs=40)
    drawn = np.random.default_rng(3).random(200) < 0.5
    gate = fitted(table.set_column(table.schema.get_field_index("correct"), "correct", pa.array(drawn)))
    assert gate.score.ranking["learned"] == pytest.approx(0.5, abs=0.12)
    assert gate.on_dev.std() < 0.1


@pytest.mark.parametrize(("units", "good"), [(60, 2.5), (200, 50.0)])
def test_with_too_little_to_learn_from_the_paper_decides_and_it_is_said(units, good):
    table = rows(units, good=good)
    if good > 10:  # nearly all of them right
        right = np.arange(units) > 5
        table = table.set_column(table.schema.get_field_index("correct"), "correct", pa.array(right))
    paper = table["confidence"].to_numpy()
    gate = fit_gate(table, paper)
    assert gate.score is None
    assert gate.on_dev is paper
    assert f"dev has {units} units" in gate.why_not
    assert gate.as_dict() == {"why_not": gate.why_not}


def test_it_is_the_same_after_it_was_on_record():
    table = rows(300)
    table = table.append_column("margin", pa.array(np.linspace(0, 1, 300)))
    score = fitted(table).score
    assert score.numbers == ("margin",)
    again = LearnedScore.from_dict(json.loads(json.dumps(score.as_dict())))
    assert again == replace(score, ranking=again.ranking)
    assert again(table).tolist() == score(table).tolist()


def test_a_kind_or_a_friend_that_dev_never_saw_changes_nothing():
    score = fitted(rows(300)).score
    table = rows(50, seed=4)
    strange = table.set_column(table.schema.get_field_index("kind"), "kind", pa.array(["new"] * 50))
    assert np.isfinite(score(strange)).all()
    assert score(table.slice(0, 0)).tolist() == []


def test_ranking_is_counted_pair_by_pair():
    scores, right = np.array([0.1, 0.5, 0.5, np.nan, 0.9]), np.array([False, True, False, True, True])
    pairs = [(a, b) for a in scores[right] for b in scores[~right]]
    low = [(np.nan_to_num(a, nan=-1), b) for a, b in pairs]
    assert ranked_right(scores, right) == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a, b in low]))


def test_a_promise_is_kept_with_scores_that_are_learned_on_the_same_dev():
    broken = 0
    fresh = rows(20_000, seed=99)
    right = fresh["correct"].to_numpy(zero_copy_only=False).astype(bool)
    selector = Selector(Precision(0.8, confidence=0.9), score="learned")
    for seed in range(20):
        found = find_on_dev(selector, rows(200, seed=seed))
        chosen = found.gate.score(fresh) >= (found.aimed.threshold if found.aimed.reached else 2)
        broken += bool(chosen.any()) and right[chosen].mean() < 0.8
    assert broken <= 0.1 * 20 + 3


# In a run.


def learning(run, pick=None, *, dev=150, listener=None):
    plans = {}
    for name in ("stars", "mood"):
        selectors = [Selector(pick or Threshold(0.5), score="learned")] * SETTINGS.iterations
        plans[name] = plan(name, selectors=selectors, probe=probe(name, dev))
    return friend_train(
        run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit, listener=listener
    )


def test_the_store_carries_the_probability_of_being_right(tmp_path):
    run = start(tmp_path / "run")
    learning(run)
    record = run.require(FindThresholds(1))["tasks"]["stars"]["score"]
    rows = run.store.read(1)
    rows = rows.filter(pa.compute.equal(rows["task"], "stars"))
    score = LearnedScore.from_dict(record)
    assert rows["overall"].to_pylist() == score(rows).tolist()
    assert rows["chosen"].to_pylist() == [p >= 0.5 for p in rows["overall"].to_pylist()]
    summary = run.require(Select(1))["tasks"]["stars"]
    assert summary["on_dev"]["score"] == record
    assert "threshold" not in summary
    assert {one["feature"] for one in record["coefficients"]} >= {"match of stars-mood", "confidence, log-odds"}


def test_below_the_stated_number_of_units_a_run_goes_by_the_paper(tmp_path):
    run = start(tmp_path / "run")
    learning(run, dev=40)
    summary = run.require(Select(1))["tasks"]["stars"]
    assert "dev has 40 units" in summary["on_dev"]["score"]["why_not"]
    rows = [row for row in run.store.read(1).to_pylist() if row["task"] == "stars"]
    assert [row["overall"] for row in rows] == pytest.approx(
        [0.2 * row["confidence"] + 0.8 * row["match"] for row in rows]
    )


@pytest.mark.parametrize("step", [FindThresholds(1), Select(2)])
def test_stopped_around_its_fit_a_run_ends_in_the_same_bits(tmp_path, step):
    whole, stopped = start(tmp_path / "whole"), start(tmp_path / "stopped")
    pick = Precision(0.6, 5, confidence=0.8)
    learning(whole, pick)
    with pytest.raises(Interrupted):
        learning(stopped, pick, listener=Stopper(step))
    learning(Run.open(stopped.folder), pick)
    assert contents(stopped) == contents(whole)


def test_a_score_cannot_be_learned_without_dev(tmp_path):
    blind = plan("mood", selectors=[Selector(Threshold(0.5), 1.0, score="learned")] * 2)
    with pytest.raises(ConfigError, match="learns its score"):
        friend_train(start(tmp_path / "run"), {"mood": blind}, (), pool(), settings=SETTINGS)
