import dataclasses

import numpy as np
import pytest
from scipy import stats

from friend_training.analysis.significance import SIGNIFICANT, paired_bootstrap, paired_bootstraps
from friend_training.core.task import Counts, f1_of, group_counts


def mean(counts: Counts) -> Counts:
    return np.asarray(counts[..., 0] / counts[..., 1])


def with_ones(values: Counts) -> Counts:
    """Per-dialogue values as counts (value, 1), so that their ratio of sums is the mean."""
    return np.stack([values, np.ones_like(values)], axis=-1)


def test_a_method_against_itself() -> None:
    counts = np.random.default_rng(0).random((3, 50, 3))
    result = paired_bootstrap(counts, counts, f1_of, samples=200)
    assert (result.difference, result.low, result.high, result.p_value) == (0, 0, 0, 1)


def test_better_on_every_dialogue() -> None:
    a, b = with_ones(np.full((1, 30), 2.0)), with_ones(np.full((1, 30), 1.0))
    result = paired_bootstrap(a, b, mean, samples=999)
    assert (result.value_a, result.value_b, result.difference) == (2, 1, 1)
    assert (result.low, result.high) == (1, 1)
    assert result.p_value == pytest.approx(2 / 1000)
    assert paired_bootstrap(b, a, mean, samples=999).difference == -1


def test_two_dialogues_by_hand() -> None:
    # Samples draw (1,1), (1,2), (2,1) or (2,2): differences 1, 0, 0, -1. A quarter on either side, half at 0.
    a, b = with_ones(np.array([[1.0, 0.0]])), with_ones(np.array([[0.0, 1.0]]))
    result = paired_bootstrap(a, b, mean, samples=20_000, confidence=0.6)
    assert result.difference == 0
    assert (result.low, result.high) == (-1, 1)
    assert result.p_value == 1
    narrow = paired_bootstrap(a, b, mean, samples=20_000, confidence=0.4)
    assert (narrow.low, narrow.high) == (0, 0)


def test_agrees_with_scipy() -> None:
    generator = np.random.default_rng(1)
    b = generator.normal(0, 1, 80)
    a = b + generator.normal(0.15, 0.6, 80)
    ours = paired_bootstrap(with_ones(a[None]), with_ones(b[None]), mean, samples=20_000, seed=3)
    theirs = stats.bootstrap((a - b,), np.mean, n_resamples=20_000, method="percentile", random_state=4)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)
    assert ours.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.02)
    assert 0.01 < ours.p_value < 0.5  # neither end of the scale: agreement says something


def test_the_p_value_is_uniform_without_a_difference() -> None:
    generator = np.random.default_rng(2)
    values = [
        paired_bootstrap(
            with_ones(generator.normal(size=(1, 60))),
            with_ones(generator.normal(size=(1, 60))),
            mean,
            samples=400,
            seed=seed,
        ).p_value
        for seed in range(200)
    ]
    assert stats.kstest(values, "uniform").pvalue > 0.01


def test_two_seeds_by_hand() -> None:
    # A method that is 4 ahead with one seed and 0 with the other, on every dialogue: a quarter of the samples draw the
    # first seed twice, a quarter the second twice, half of them both.
    a, b = with_ones(np.array([[4.0, 4.0], [0.0, 0.0]])), with_ones(np.zeros((2, 2)))
    result = paired_bootstrap(a, b, mean, samples=20_000)
    assert (result.value_a, result.difference) == (2, 2)
    assert (result.low, result.high) == (0, 4)
    assert result.p_value == pytest.approx(2 / 4, abs=0.02)
    inner = paired_bootstrap(a, b, mean, samples=20_000, confidence=0.4)
    assert (inner.low, inner.high) == (2, 2)


def test_the_drawn_dialogues_are_those_of_every_drawn_seed() -> None:
    # Each seed gains on one dialogue what it loses on the other, and the seeds do so the same way round.
    a, b = with_ones(np.array([[1.0, 0.0]] * 3)), with_ones(np.array([[0.0, 1.0]] * 3))
    result = paired_bootstrap(a, b, mean, samples=20_000, confidence=0.6)
    assert (result.difference, result.low, result.high) == (0, -1, 1)


def test_seeds_that_disagree_widen_the_interval() -> None:
    """Dialogues alone would call this difference certain; two of five seeds do not have it."""
    draw = np.random.default_rng(6)
    ahead = np.array([2.0, 2.0, 2.0, -1.0, -1.0])[:, None] + draw.normal(0, 0.5, (5, 400))
    both = paired_bootstrap(with_ones(ahead), with_ones(np.zeros((5, 400))), mean, samples=2000)
    pooled = paired_bootstrap(with_ones(ahead.mean(0)[None]), with_ones(np.zeros((1, 400))), mean, samples=2000)
    assert pooled.p_value < 0.01
    assert both.p_value > 0.1
    assert both.low < 0 < pooled.low


def test_the_value_is_the_mean_of_the_seeds_scores() -> None:
    a, b = np.array([[[1.0, 1.0, 9.0]], [[4.0, 4.0, 4.0]]]), np.array([[[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]]])
    result = paired_bootstrap(a, b, f1_of, samples=100)
    assert (result.value_a, result.value_b) == (pytest.approx((0.2 + 1) / 2), 1)


def test_fewer_than_five_seeds_have_an_interval_and_no_star() -> None:
    for seeds in (1, 4, 5):
        ahead, behind = with_ones(np.full((seeds, 30), 2.0)), with_ones(np.full((seeds, 30), 1.0))
        result = paired_bootstrap(ahead, behind, mean, samples=999)
        assert (result.low, result.high, result.seeds) == (1, 1, seeds)
        assert result.p_value < SIGNIFICANT
        assert result.significant == (seeds == 5)
    level = with_ones(np.random.default_rng(7).normal(size=(5, 30)))
    assert not paired_bootstrap(level, level, mean, samples=99).significant


def test_repeats_with_its_seed_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.random.default_rng(5).random((2, 2, 20, 3))
    first = paired_bootstrap(a, b, f1_of, samples=300, seed=7)
    assert paired_bootstrap(a, b, f1_of, samples=300, seed=7) == first
    assert paired_bootstrap(a, b, f1_of, samples=300, seed=8) != first
    monkeypatch.setattr("friend_training.analysis.significance._DRAWS_AT_ONCE", 140)
    in_chunks = paired_bootstrap(a, b, f1_of, samples=300, seed=7)
    assert dataclasses.astuple(in_chunks) == pytest.approx(dataclasses.astuple(first), abs=1e-12)


def test_units_are_summed_by_dialogue() -> None:
    counts = np.array([[1, 2], [10, 20], [100, 200]])
    np.testing.assert_array_equal(group_counts(counts, ["y", "x", "y"]), [[101, 202], [10, 20]])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="same dialogues"):
        paired_bootstrap(np.ones((1, 3, 2)), np.ones((1, 4, 2)), mean)
    with pytest.raises(ValueError, match="same seeds"):
        paired_bootstrap(np.ones((2, 3, 2)), np.ones((1, 3, 2)), mean)
    with pytest.raises(ValueError, match="nothing to compare"):
        paired_bootstrap(np.ones((1, 0, 2)), np.ones((1, 0, 2)), mean)
    with pytest.raises(ValueError, match="one group per unit"):
        group_counts(np.ones((2, 2)), ["x"])


def test_many_pairs_at_once_are_as_each_by_itself() -> None:
    draw = np.random.default_rng(5)
    pairs = [(draw.random((seeds, 30, 3)), draw.random((seeds, 30, 3))) for seeds in (1, 2, 5)]
    at_once = paired_bootstraps(pairs, [mean, f1_of], samples=500)
    for pair, found in zip(pairs, at_once, strict=True):
        for metric, one in zip((mean, f1_of), found, strict=True):
            alone = paired_bootstrap(*pair, metric, samples=500)
            assert dataclasses.astuple(one) == pytest.approx(dataclasses.astuple(alone))
    assert paired_bootstraps([], [mean]) == []


def test_pairs_of_other_dialogues_are_refused() -> None:
    pairs = [(np.ones((1, 3, 2)), np.ones((1, 3, 2))), (np.ones((1, 4, 2)), np.ones((1, 4, 2)))]
    with pytest.raises(ValueError, match="the same dialogues"):
        paired_bootstraps(pairs, [mean])
