"""Votes that learn: EM against brute force, "two of three", simulation against the majority, and sources that copy."""

from itertools import product

import numpy as np
import pytest

from friend_training.analysis.three_friends import SILENT, count_votes
from friend_training.errors import ConfigError


def drawn(items, reliabilities, labels=2, *, seed=0, silent=0.0, kinds=None):
    """True labels, and what sources of these reliabilities say of them; by kind where they are a table."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, items)
    right = np.broadcast_to(np.array(reliabilities), (items, len(reliabilities)))
    if kinds is not None:
        right = np.array([reliabilities[kind] for kind in kinds])
    other = (truth[:, None] + rng.integers(1, labels, right.shape)) % labels
    opinions = np.where(rng.random(right.shape) < right, truth[:, None], other)
    return truth, np.where(rng.random(right.shape) < silent, SILENT, opinions)


def majority(opinions, labels):
    counts = np.stack([(opinions == label).sum(1) for label in range(labels)], 1)
    return counts.argmax(1)


def test_the_likelihood_is_the_sum_over_all_ways_the_truth_could_be():
    _, opinions = drawn(5, [0.8, 0.7, 0.6, 0.9], labels=3, silent=0.2, seed=3)
    kinds = ["a", "b", "a", "b", "b"]
    found = count_votes(opinions, 3, kinds=kinds)
    total, of_item = 0.0, np.zeros((5, 3))
    for truth in product(range(3), repeat=5):
        probability = 1.0
        for item, label in enumerate(truth):
            probability *= found.frequency[label]
            for source, opinion in enumerate(opinions[item]):
                right = found.reliability[found.kinds.index(kinds[item]), source]
                probability *= 1 if opinion == SILENT else right if opinion == label else (1 - right) / 2
        total += probability
        of_item[np.arange(5), truth] += probability
    assert found.log_likelihood == pytest.approx(np.log(total))
    assert found.posterior == pytest.approx(of_item / total)


def test_no_round_of_em_makes_it_less_likely():
    for seed in range(5):
        _, opinions = drawn(60, [0.9, 0.7, 0.6], labels=4, silent=0.1, seed=seed)
        trace = np.array(count_votes(opinions, 4, shared=[(0, 2)]).trace)
        assert len(trace) > 3
        assert (np.diff(trace) > -1e-6).all()


@pytest.mark.parametrize("reliability", [0.6, 0.9])
def test_with_equal_reliabilities_it_is_two_of_three(reliability):
    _, opinions = drawn(200, [0.8, 0.7, 0.6], seed=1)
    found = count_votes(opinions, 2, reliability=reliability, frequency=[0.5, 0.5])
    assert found.label.tolist() == majority(opinions, 2).tolist()
    agreed = (opinions == opinions[:, :1]).all(1)
    two = 1 / (1 + (1 - reliability) / reliability)
    assert found.probability[~agreed] == pytest.approx(two)
    assert (found.probability[agreed] > two).all()


def test_reliabilities_are_found_and_beat_the_majority():
    true = [0.95, 0.65, 0.6, 0.6, 0.55]
    truth, opinions = drawn(2000, true, labels=3, seed=2, silent=0.1)
    found = count_votes(opinions, 3)
    assert found.reliability[0] == pytest.approx(true, abs=0.05)
    learned, by_count = (found.label == truth).mean(), (majority(opinions, 3) == truth).mean()
    assert learned > by_count + 0.04
    assert found.probability.mean() == pytest.approx(learned, abs=0.02)  # it knows how sure it may be


def test_a_source_may_be_good_at_one_kind_alone():
    kinds = ["place"] * 1000 + ["time"] * 1000
    by_kind = {"place": [0.95, 0.55, 0.7], "time": [0.55, 0.95, 0.7]}
    truth, opinions = drawn(2000, by_kind, seed=4, kinds=kinds, labels=3)
    apart, together = count_votes(opinions, 3, kinds=kinds), count_votes(opinions, 3)
    assert apart.reliability == pytest.approx(np.array([by_kind[kind] for kind in apart.kinds]), abs=0.08)
    assert (apart.label == truth).mean() > (together.label == truth).mean() + 0.03


def test_sources_that_share_an_input_do_not_outvote_the_others_by_number():
    """Three copies of one source against two independent better ones."""
    truth, opinions = drawn(1500, [0.65, 0.8, 0.8], seed=5, labels=3)
    copied = np.column_stack([opinions[:, [0, 0, 0]], opinions[:, 1:]])
    naive, tempered = count_votes(copied, 3), count_votes(copied, 3, shared=[(0, 1, 2)])
    assert naive.reliability[0, 0] > 0.95, "copies look infallible"
    assert (tempered.label == truth).mean() > (naive.label == truth).mean() + 0.05
    once = count_votes(opinions, 3)
    assert (tempered.label == truth).mean() == pytest.approx((once.label == truth).mean(), abs=0.02)


def test_known_labels_tell_sources_that_all_copy_from_one_that_knows():
    truth, opinions = drawn(600, [0.6, 0.9], seed=6, labels=3)
    copied = np.column_stack([opinions[:, 0], opinions[:, 0], opinions[:, 1]])
    known = {item: int(truth[item]) for item in range(200)}
    blind, told = count_votes(copied, 3), count_votes(copied, 3, known=known)
    assert told.label[:200].tolist() == truth[:200].tolist()
    assert blind.reliability[0, 0] - told.reliability[0, 0] > 0.02


def test_a_label_nobody_named_can_be_the_true_one_and_silence_says_nothing():
    opinions = np.array([[0, 1, SILENT], [0, 0, 0], [SILENT, SILENT, SILENT]])
    found = count_votes(opinions, 3, reliability=0.5, frequency=[1 / 3] * 3)
    assert found.posterior[0, 2] > 0
    assert found.posterior[2] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("opinions", "labels", "more", "words"),
    [
        ([[0, 1]], 2, {}, "three sources"),
        ([[0, 1, 2]], 2, {}, "from 0 to 1"),
        ([[0, 1, 1]], 2, {"kinds": ["a", "b"]}, "2 kinds"),
        ([[0, 1, 1]], 2, {"shared": [(0, 1), (1, 2)]}, "each source once"),
        ([[0, 1, 1]], 2, {"reliability": 1.0}, "reliability is 1.0"),
    ],
)
def test_what_cannot_be_counted_is_refused(opinions, labels, more, words):
    with pytest.raises(ConfigError, match=words):
        count_votes(np.array(opinions), labels, **more)
