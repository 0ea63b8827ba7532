from dataclasses import astuple

import pytest

from friend_training.analysis.agreement import Bin, expected_calibration_error, reliability


def test_reliability_by_hand() -> None:
    bins = reliability([0.1, 0.5, 0.6, 1.0], [False, True, False, True], bins=2)
    assert bins[0] == Bin(0.0, 0.5, 1, 0.1, 0.0)
    assert astuple(bins[1]) == pytest.approx((0.5, 1.0, 3, 0.7, 2 / 3))
    assert expected_calibration_error(bins) == pytest.approx((0.1 + 3 * (0.7 - 2 / 3)) / 4)


def test_empty_bins_cost_nothing() -> None:
    bins = reliability([0.95, 0.95], [True, False], bins=10)
    assert [bin.count for bin in bins] == [0] * 9 + [2]
    assert expected_calibration_error(bins) == pytest.approx(0.45)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="and some"):
        reliability([], [])
