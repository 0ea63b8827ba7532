import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.task import PRF, by_kind, f1_of

items = st.lists(st.integers(0, 5), max_size=8)


def test_by_hand() -> None:
    counts = PRF.of(["a", "b", "c", "d"], ["a", "b", "x"])
    assert counts == PRF(correct=2, predicted=4, gold=3)
    assert counts.as_dict("within_") == pytest.approx(
        {"within_precision": 50.0, "within_recall": 200 / 3, "within_f1": 400 / 7}
    )


def test_what_occurs_twice_must_be_predicted_twice() -> None:
    assert PRF.of(["a"], ["a", "a"]) == PRF(1, 1, 2)
    assert PRF.of(["a", "a"], ["a"]) == PRF(1, 2, 1)


def test_nothing_is_zero_not_an_error() -> None:
    assert PRF().as_dict() == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


@given(items, items)
def test_f1_is_the_harmonic_mean_and_symmetric(predicted: list[int], gold: list[int]) -> None:
    counts = PRF.of(predicted, gold)
    if counts.correct:
        assert counts.f1 == pytest.approx(2 / (1 / counts.precision + 1 / counts.recall))
    else:
        assert counts.f1 == 0
    assert PRF.of(gold, predicted).f1 == counts.f1
    assert PRF.of(gold, predicted).precision == counts.recall


def test_f1_of_many_counts_at_once() -> None:
    counts = np.stack([PRF(1, 2, 4).as_array(), PRF(0, 0, 0).as_array(), PRF(3, 3, 3).as_array()])
    np.testing.assert_allclose(f1_of(counts), [1 / 3, 0, 1])
    assert (PRF(1, 2, 4) + PRF(3, 3, 3)).f1 == pytest.approx(float(f1_of(counts.sum(0))))


def test_kinds_add_up_to_the_whole_and_the_commonest_comes_first() -> None:
    predicted, gold = [(0, "a"), (1, "b"), (2, "c")], [(0, "a"), (1, "a"), (2, "b"), (3, "a")]
    found = by_kind(predicted, gold, lambda one: one[1])
    assert found == {"a": PRF(1, 1, 3), "b": PRF(0, 1, 1), "c": PRF(0, 1, 0)}
    assert list(found) == ["a", "b", "c"]
    assert sum(found.values(), PRF()) == PRF.of(predicted, gold)
