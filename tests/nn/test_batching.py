"""Batches: every index exactly once, and little padding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from friend_training.nn.interfaces import CHUNK, in_batches, labelling_batches, pad, training_batches

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=200)


@given(LENGTHS, st.integers(1, 17), st.integers(0, 100))
def test_an_epoch_meets_every_index_once(lengths: list[int], size: int, seed: int) -> None:
    batches = list(training_batches(lengths, size, np.random.default_rng(seed)))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert sum(len(batch) < size for batch in batches) <= 1
    assert batches == list(training_batches(lengths, size, np.random.default_rng(seed)))


def test_epochs_come_in_another_order_each_time() -> None:
    generator = np.random.default_rng(0)
    first, second = (list(training_batches([3] * 64, 8, generator)) for _ in range(2))
    assert first != second


def test_training_batches_have_little_padding() -> None:
    """Sorted inside chunks: far fewer padded pieces than in batches as they come."""
    size = 16
    lengths = np.random.default_rng(1).integers(5, 120, size=size * CHUNK * 4).tolist()
    batches = list(training_batches(lengths, size, np.random.default_rng(2)))
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    assert padded / sum(lengths) < 1.1
    as_they_come = sum(size * max(lengths[at : at + size]) for at in range(0, len(lengths), size))
    assert as_they_come / sum(lengths) > 1.6


@given(LENGTHS, st.integers(60, 500))
def test_labelling_batches_meet_every_index_once_and_stay_in_bounds(lengths: list[int], max_tokens: int) -> None:
    batches = list(labelling_batches(lengths, max_tokens))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(lengths[index] for index in batch) <= max_tokens


def test_an_item_longer_than_the_bound_goes_alone() -> None:
    assert list(labelling_batches([9, 3, 3], 6)) == [[0], [1, 2]]
    assert list(labelling_batches([], 6)) == []


def test_items_come_with_their_indices() -> None:
    words = ["a", "ccc", "bb"]
    assert list(in_batches(words, len, 4)) == [([1], ["ccc"]), ([2, 0], ["bb", "a"])]


def test_padding() -> None:
    assert pad([np.array([1, 2]), np.array([3])], 9).tolist() == [[1, 2], [3, 9]]
