from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.evaluation.calibration import (
    Bin,
    apply_temperature,
    expected_calibration_error,
    fit_temperature,
    reliability,
    threshold_for_precision,
    threshold_for_share,
)

cases = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=20)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_is_found_again(temperature: float) -> None:
    generator = np.random.default_rng(0)
    truth = generator.uniform(0.02, 0.98, 20_000)
    correct = generator.random(20_000) < truth
    distorted = apply_temperature(truth, 1 / temperature)
    found = fit_temperature(distorted, correct)
    assert found == pytest.approx(temperature, rel=0.05)
    before = expected_calibration_error(reliability(distorted, correct))
    after = expected_calibration_error(reliability(apply_temperature(distorted, found), correct))
    assert after < 0.02
    if temperature != 1.0:
        assert after < before / 2


def test_temperature_keeps_the_order_and_takes_extremes() -> None:
    scaled = apply_temperature([0.0, 0.2, 0.5, 0.9, 1.0], 2.0)
    assert (np.diff(scaled) > 0).all()
    assert scaled[2] == 0.5
    assert np.isfinite(fit_temperature([0.0, 1.0], [True, False]))
    with pytest.raises(ValueError, match="positive"):
        apply_temperature([0.5], 0.0)


def test_reliability_by_hand() -> None:
    bins = reliability([0.1, 0.5, 0.6, 1.0], [False, True, False, True], bins=2)
    assert bins[0] == Bin(0.0, 0.5, 1, 0.1, 0.0)
    assert astuple(bins[1]) == pytest.approx((0.5, 1.0, 3, 0.7, 2 / 3))
    assert expected_calibration_error(bins) == pytest.approx((0.1 + 3 * (0.7 - 2 / 3)) / 4)


def test_empty_bins_cost_nothing() -> None:
    bins = reliability([0.95, 0.95], [True, False], bins=10)
    assert [bin.count for bin in bins] == [0] * 9 + [2]
    assert expected_calibration_error(bins) == pytest.approx(0.45)


@given(cases, st.sampled_from([0.5, 0.75, 1.0]), st.integers(1, 4))
def test_threshold_for_precision_agrees_with_the_definition(
    pairs: list[tuple[float, bool]], target: float, at_least: int
) -> None:
    def good(threshold: float) -> bool:
        chosen = [right for score, right in pairs if score >= threshold]
        return len(chosen) >= at_least and sum(chosen) / len(chosen) >= target

    expected = min((score for score, _ in pairs if good(score)), default=None)
    scores, correct = [score for score, _ in pairs], [right for _, right in pairs]
    assert threshold_for_precision(scores, correct, target, at_least=at_least) == expected


@given(cases, st.floats(0.01, 1.0))
def test_threshold_for_share_agrees_with_the_definition(pairs: list[tuple[float, bool]], share: float) -> None:
    scores = [score for score, _ in pairs]
    chosen = {threshold: sum(score >= threshold for score in scores) for threshold in scores}
    expected = max(threshold for threshold, count in chosen.items() if count >= share * len(scores) - 1e-9)
    assert threshold_for_share(scores, share) == expected


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="share"):
        threshold_for_share([0.5], 0.0)
    with pytest.raises(ValueError, match="as many scores"):
        threshold_for_precision([0.5], [True, False], 0.5)
    with pytest.raises(ValueError, match="and some"):
        reliability([], [])
