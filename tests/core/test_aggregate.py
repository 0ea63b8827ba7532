import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.friendship import aggregate_matches
from friend_training.errors import ConfigError

NAN = np.nan
SCORES = np.array([[0.5, NAN, 1.0, NAN, 0.0], [0.125, 0.3, 1.0, NAN, 0.7]])
score = st.one_of(st.none(), st.floats(0, 1))
HOWS = ["mean", "min", "max", "geometric"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [0.3125, 0.3, 1.0, NAN, 0.35]),
        ("min", [0.125, 0.3, 1.0, NAN, 0.0]),
        ("max", [0.5, 0.3, 1.0, NAN, 0.7]),
        ("geometric", [0.25, 0.3, 1.0, NAN, 0.0]),
    ],
)
def test_missing_matches_are_left_out(how, expected):
    np.testing.assert_allclose(aggregate_matches(SCORES, how), expected)


@pytest.mark.parametrize("how", HOWS)
@given(row=st.lists(score, min_size=1, max_size=5))
def test_every_aggregate_lies_between_worst_and_best_exactly(how, row):
    present = [value for value in row if value is not None]
    (found,) = aggregate_matches(np.array(row, dtype=float)[:, None], how)
    assert np.isnan(found) if not present else min(present) <= found <= max(present)


@pytest.mark.parametrize("how", HOWS)
def test_no_friendship_means_nothing_to_match(how):
    assert np.isnan(aggregate_matches(np.empty((0, 3)), how)).tolist() == [True, True, True]


def test_unknown_aggregate_is_refused():
    with pytest.raises(ConfigError, match=r"median.*mean, min, max, geometric"):
        aggregate_matches(SCORES, "median")
