"""Two processes over gloo take the steps of one: the same loss curve, the same weights, whatever part each has."""

from typing import Any

import pytest

from friend_training.nn.training import own_batches, put_together
from helpers.several import in_processes
from helpers.shared_training import collate, everything, items

CLOSE = {"rel": 1e-5, "abs": 1e-6}

Results = dict[str, Any]


@pytest.fixture(scope="module")
def alone() -> Results:
    return everything()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    return in_processes(2, tmp_path_factory.mktemp("two"), everything)


def curve(two: list[Results], case: str) -> list[float]:
    """The loss of the whole batch is the sum of the shares."""
    return [sum(shares) for shares in zip(*(of[case]["losses"] for of in two), strict=True)]


@pytest.mark.parametrize("case", ["by four", "one by one"])
def test_two_processes_train_as_one(alone: Results, two: list[Results], case: str) -> None:
    assert curve(two, case) == pytest.approx(alone[case]["losses"], **CLOSE)
    assert len(alone[case]["losses"]) == 20
    for of in two:
        for name, weight in alone[case]["weights"].items():
            assert of[case]["weights"][name] == pytest.approx(weight, **CLOSE)
        assert of[case]["weights"] == two[0][case]["weights"]  # among themselves to the bit
        assert of[case]["best"] == alone[case]["best"]


def test_parts_of_unequal_size_would_betray_a_mean_per_process(alone: Results, two: list[Results]) -> None:
    """Normalised per process (in one process that is right), two are far off: the test above can fail."""
    off = [abs(a - b) for a, b in zip(alone["per process"]["losses"], curve(two, "per process"), strict=True)]
    assert max(off) > 1e-2


def test_several_means_and_networks_in_one_loss(alone: Results, two: list[Results]) -> None:
    assert curve(two, "two means") == pytest.approx(alone["two means"]["losses"], **CLOSE)
    for network in (0, 1):
        expected = [row[0] for row in alone["two means"]["weights"][network]]
        assert [row[0] for row in two[1]["two means"]["weights"][network]] == pytest.approx(expected, **CLOSE)


def test_a_process_without_a_part_counts_nothing(two: list[Results]) -> None:
    """With batches of one item the second process never has any."""
    assert two[1]["one by one"]["losses"] == [0.0] * 20
    assert all(loss > 0 for loss in two[0]["one by one"]["losses"][:3])


def test_gradients_are_added_up_dense_and_in_rows(two: list[Results]) -> None:
    for of in two:
        found = of["added up"]
        assert found["sparse"]
        assert found["touched"] == [1, 3, 6]
        assert [found["rows"][row] for row in (1, 3, 6)] == [[2.0, 2.0], [11.0, 11.0], [10.0, 10.0]]
        assert found["line"] == [[3.0, 3.0]]
        assert found["without"] == ["unused.weight", "unused.bias"]


def test_all_stop_when_the_first_says_so(two: list[Results]) -> None:
    """Only the first process finds that nothing gets better any more; the other would have gone on."""
    assert [of["stopped"]["steps"] for of in two] == [15, 15]
    assert [of["stopped"]["best"] for of in two] == [5, 5]


def test_a_process_holds_only_what_it_trains_on(two: list[Results]) -> None:
    whole = list(own_batches(items()[:10] * 20, collate, 4, seed=5, steps=3))
    for rank, of in enumerate(two):
        found = of["held"]
        assert found["lengths"]
        assert found["measured"] == list(range(rank, 10, 2))
        assert len(found["held"]) == 3 * 4 / 2
    assert not set(two[0]["held"]["held"]) & set(two[1]["held"]["held"])
    for step, batch in enumerate(whole):
        parts = [number for of in two for number in of["held"]["values"][step]]
        assert sorted(parts) == sorted(batch.values.flatten().tolist())


def test_what_was_dealt_out_is_put_together() -> None:
    for count in range(8):
        for dealers in (1, 2, 3):
            whole = list(range(count))
            assert put_together([whole[dealer::dealers] for dealer in range(dealers)]) == whole
