"""Promises made on dev: how often they are broken, and what they cost; conformal selection by its definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from friend_training.core.selector import FalseDiscovery, Precision, Selector
from friend_training.data.catalogue import locate
from friend_training.data.readers.emotions import read_cped_emotions, read_meld
from friend_training.data.text_io import Problems
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import friend_train
from friend_training.loop.thresholds import (
    conformal_p_values,
    false_discovery_choice,
    false_discovery_threshold,
    fewest_units,
    precision_at_least,
    threshold_for_precision,
)
from friend_training.runs.run import Run
from friend_training.runs.steps import FindThresholds, Select
from helpers.toy_runs import SETTINGS, Interrupted, Stopper, audit, contents, friends, plan, pool, probe, start

WORLDS = {
    "steep": lambda score: expit((score - 0.6) * 14),
    "flat": lambda score: 0.55 + 0.4 * score,
    "a narrow top": lambda score: np.where(score > 0.7, 0.93, 0.4),
    "without information": lambda score: np.full(len(score), 0.75),
}
"""How probably a unit of each score is right."""

GRID = np.linspace(0, 1, 20_001)


def broken(world, aim, runs, units, seed):
    """How often the choice is less precise than was promised, and how much of the pool is chosen."""
    rng, right_at = np.random.default_rng(seed), WORLDS[world]
    true = right_at(GRID)
    count, shares = 0, []
    for _ in range(runs):
        scores = rng.random(units)
        found = threshold_for_precision(scores, rng.random(units) < right_at(scores), aim)
        line = found.threshold if found.reached else 2
        chosen = line <= GRID
        count += bool(chosen.any()) and true[chosen].mean() < aim.target
        shares.append(chosen.mean())
    return count / runs, float(np.mean(shares))


@pytest.mark.parametrize("world", WORLDS)
def test_a_promise_is_kept(world):
    rate, _ = broken(world, Precision(0.8, confidence=0.9), runs=60, units=200, seed=1)
    assert rate <= 0.1 + 2 * 0.039


@pytest.mark.slow
@pytest.mark.parametrize("units", [100, 300])
@pytest.mark.parametrize("target", [0.7, 0.8, 0.9])
@pytest.mark.parametrize("world", WORLDS)
def test_a_promise_is_kept_over_500_runs(world, target, units):
    rate, _ = broken(world, Precision(target, confidence=0.9), runs=500, units=units, seed=2)
    assert rate <= 0.1


def test_an_estimate_promises_nothing():
    """The same runs: it misses about half of the time, and says that it is an estimate."""
    rate, _ = broken("steep", Precision(0.8, confidence=None), runs=60, units=200, seed=1)
    assert rate > 0.25
    found = threshold_for_precision([0.9] * 30, [True] * 30, Precision(0.8, confidence=None))
    assert found.rests_on == found.as_dict()["rests_on"] == "estimate"


def test_a_promise_costs_a_third_of_the_units_at_most_where_scores_tell_much():
    promise, estimate = (
        broken("steep", Precision(0.8, confidence=confidence), runs=60, units=300, seed=3)[1]
        for confidence in (0.9, None)
    )
    assert promise > 0.67 * estimate


def test_too_few_units_are_told_how_many_could():
    found = threshold_for_precision([0.9] * 10, [True] * 10, Precision(0.8, confidence=0.9))
    assert (found.threshold, found.reached, found.needed) == (None, False, 11)
    assert "10 units" in found.warnings[0]
    assert "11 could" in found.warnings[0]
    enough = threshold_for_precision([0.9] * 11, [True] * 11, Precision(0.8, confidence=0.9))
    assert (enough.threshold, enough.reached, enough.chosen, enough.warnings) == (0.9, True, 11, ())
    nobody = threshold_for_precision([], [], Precision(0.8, confidence=0.9))
    assert (nobody.threshold, nobody.units, nobody.needed) == (None, 0, 11)


@pytest.mark.parametrize(("target", "confidence"), [(0.5, 0.9), (0.8, 0.9), (0.9, 0.95)])
def test_the_fewest_units_are_the_fewest(target, confidence):
    fewest = fewest_units(target, confidence)
    assert precision_at_least(fewest, fewest, confidence) >= target
    assert precision_at_least(fewest - 1, fewest - 1, confidence) < target


def test_nothing_is_chosen_where_the_first_test_fails():
    scores = np.linspace(1, 0, 200)
    right = np.arange(200) % 2 == 0
    found = threshold_for_precision(scores, right, Precision(0.8, confidence=0.9))
    assert (found.threshold, found.reached, found.units) == (None, False, 200)


def test_equal_scores_are_chosen_together():
    found = threshold_for_precision([0.5] * 100, [True] * 95 + [False] * 5, Precision(0.8, confidence=0.9))
    assert (found.threshold, found.chosen) == (0.5, 100)
    assert found.precision == pytest.approx(precision_at_least(95, 100, 0.9))


def test_what_cannot_be_promised_is_refused():
    for pick, wrong in [
        (Precision(1.0, confidence=0.9), "target"),
        (Precision(0.8, confidence=1.0), "confidence"),
        (Precision(0.8, confidence=0.2), "confidence"),
        (FalseDiscovery(0.0), "level"),
    ]:
        with pytest.raises(ConfigError, match=wrong):
            Selector(pick)


REAL = {("meld", "polarity"): 0.55, ("meld", "emotion"): 0.53, ("cped", "polarity"): 0.45, ("cped", "emotion"): 0.3}
"""Four tasks and what is promised of each: somewhat more than its model gets right."""


def answers(corpus, task, data_dir):
    """Confidence and truth of a bag of words that was trained on 2,000 utterances, on texts that it has not seen."""
    read = read_meld if corpus == "meld" else read_cped_emotions
    files = {
        "meld": (["emo_meld/train_sent_emo.csv"], ["emo_meld/dev_sent_emo.csv", "emo_meld/test_sent_emo.csv"]),
        "cped": (["cped/valid_split.csv"], ["cped/test_split.csv"]),
    }
    paths = [[locate(name, data_dir) for name in names] for names in files[corpus]]
    train, held = ([one for path in part for one in read(path, Problems(path, strict=True))] for part in paths)
    words = {"ngram_range": (1, 2), "min_df": 2, **({} if corpus == "meld" else {"analyzer": "char"})}
    features = TfidfVectorizer(sublinear_tf=True, **words).fit([one.text.text for one in train])
    model = LogisticRegression(C=10, max_iter=200, tol=1e-3)
    model.fit(features.transform([one.text.text for one in train[:2000]]), [getattr(one, task) for one in train[:2000]])
    p = model.predict_proba(features.transform([one.text.text for one in held]))
    return p.max(1), model.classes_[p.argmax(1)] == np.array([getattr(one, task) for one in held])


@pytest.mark.realdata
@pytest.mark.parametrize(("corpus", "task"), REAL)
def test_promises_are_kept_on_the_other_half_of_real_tasks(data_dir, corpus, task):
    scores, right = answers(corpus, task, data_dir)
    target, level, rng = REAL[corpus, task], 1 - REAL[corpus, task], np.random.default_rng(6)
    broken, chosen_at_all, wrong = 0, 0, []
    for _ in range(200):
        order = rng.permutation(len(scores))
        dev, test = order[:400], order[400:1600]
        found = threshold_for_precision(scores[dev], right[dev], Precision(target, confidence=0.9))
        chosen = scores[test] >= (found.threshold if found.reached else 2)
        broken += bool(chosen.any()) and right[test][chosen].mean() < target
        chosen_at_all += bool(chosen.any())
        discovered = false_discovery_choice(conformal_p_values(scores[dev], right[dev], scores[test]), level)
        wrong.append((discovered & ~right[test]).sum() / max(1, discovered.sum()))
    assert broken <= 0.1 * 200
    assert chosen_at_all > 0.1 * 200
    assert np.mean(wrong) <= level + 2 * np.std(wrong) / np.sqrt(200)


# Conformal selection.

scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=30
)  # with many ties
pools = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 1.0]), min_size=1, max_size=30)


@given(scored, pools, st.sampled_from([0.1, 0.3, 0.5, 0.9]))
def test_a_pool_in_batches_gives_the_choice_of_the_definition(dev, pooled, level):
    scores, right = [score for score, _ in dev], [verdict for _, verdict in dev]
    p_values = conformal_p_values(scores, right, pooled)
    by_hand = [(1 + sum(score >= asked and not verdict for score, verdict in dev)) / (len(dev) + 1) for asked in pooled]
    assert p_values == pytest.approx(by_hand)
    chosen = false_discovery_choice(p_values, level)
    wrong = [score for score, verdict in dev if not verdict]
    halves = [np.array(pooled[: len(pooled) // 2]), np.array(pooled[len(pooled) // 2 :])]
    threshold = false_discovery_threshold(wrong, len(dev), level, halves)
    assert chosen.tolist() == [threshold is not None and asked >= threshold for asked in pooled]


def discovered(rng, right_at, level, shift=None):
    """The share of wrong ones among the chosen of one pool; of another domain than dev where it is shifted."""
    dev, pooled = rng.random(200), rng.random(400)
    weights = {}
    if shift is not None:
        pooled = rng.beta(1, shift, 400)
        weights = {"weights": shift * (1 - dev) ** (shift - 1), "pool_weights": shift * (1 - pooled) ** (shift - 1)}
    p_values = conformal_p_values(dev, rng.random(200) < right_at(dev), pooled, **weights)
    chosen = false_discovery_choice(p_values, level)
    wrong = rng.random(400) >= right_at(pooled)
    return (wrong & chosen).sum() / max(1, chosen.sum()), chosen.mean()


@pytest.mark.parametrize("world", WORLDS)
def test_the_share_of_wrong_ones_stays_below_its_level_on_average(world):
    rng = np.random.default_rng(4)
    found = [discovered(rng, WORLDS[world], 0.2) for _ in range(150)]
    shares = [share for share, _ in found]
    assert np.mean(shares) <= 0.2 + 2 * np.std(shares) / np.sqrt(len(shares))
    if world == "steep":
        assert np.mean([size for _, size in found]) > 0.3


def test_with_weights_also_in_a_pool_of_another_domain():
    rng = np.random.default_rng(5)
    shares = [discovered(rng, WORLDS["steep"], 0.2, shift=2)[0] for _ in range(150)]
    assert np.mean(shares) <= 0.2 + 2 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) > 0.05  # not by choosing nothing


def test_weights_of_one_side_alone_are_refused():
    with pytest.raises(ValueError, match="belong together"):
        conformal_p_values([0.5], [True], [0.5], weights=[1.0])


# In a run.


def promised(run, picks, listener=None):
    plans = {name: plan(name, picks[name], probe=probe(name)) for name in ("stars", "mood")}
    return friend_train(
        run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit, listener=listener
    )


PICKS = {"stars": Precision(0.6, 5, confidence=0.8), "mood": FalseDiscovery(0.3)}


def test_the_record_says_what_was_promised_and_on_how_many_units_it_rests(tmp_path):
    run = start(tmp_path / "run")
    promised(run, PICKS)
    tasks = run.require(Select(1))["tasks"]
    bound, level = tasks["stars"]["on_dev"], tasks["mood"]["on_dev"]
    assert (bound["rests_on"], bound["target"], bound["confidence"], bound["units"]) == ("bound", 0.6, 0.8, 40)
    assert (level["rests_on"], level["target"], level["units"]) == ("false discovery", 0.3, 40)
    assert "wrong" not in level
    assert "wrong" in run.require(FindThresholds(1))["tasks"]["mood"]
    for name in ("stars", "mood"):
        rows = [row for row in run.store.read(1).to_pylist() if row["task"] == name]
        threshold = tasks[name]["threshold"]
        assert [row["chosen"] for row in rows] == [
            threshold is not None and row["overall"] >= threshold for row in rows
        ]
        assert tasks[name]["on_dev"]["reached"] == (threshold is not None)


@pytest.mark.parametrize("step", [Select(1), FindThresholds(2)])
def test_stopped_around_a_promise_a_run_ends_in_the_same_bits(tmp_path, step):
    whole, stopped = start(tmp_path / "whole"), start(tmp_path / "stopped")
    promised(whole, PICKS)
    with pytest.raises(Interrupted):
        promised(stopped, PICKS, Stopper(step))
    promised(Run.open(stopped.folder), PICKS)
    assert contents(stopped) == contents(whole)


def test_what_speaks_against_a_promise_is_on_record(tmp_path):
    selectors = [Selector(Precision(0.99, confidence=0.9), 1.0)] * SETTINGS.iterations
    doubtful = plan("mood", selectors=selectors, probe=replace(probe("mood"), other_domain=True))
    doubtful = replace(doubtful, update=replace(doubtful.update, patience=3))
    run = start(tmp_path / "run")
    friend_train(run, {"mood": doubtful}, (), pool(), settings=SETTINGS)
    warnings = run.require(Select(1))["tasks"]["mood"]["on_dev"]["warnings"]
    for text, words in zip(warnings, ("230 could", "stopped by dev", "another domain"), strict=True):
        assert words in text
    assert run.require(Select(1))["tasks"]["mood"]["chosen"] == 0
