"""The measured ε finds the ε that was put in; the correlation of errors is the textbook's, with an honest error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from friend_training.analysis.agreement import error_correlation, measured_epsilon
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError


@dataclass(frozen=True)
class Sentence:
    id: str


def translate(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[list[Any]]:
    """An element of Σ: the labels of all units. Says which input it was translated with, to catch a mix-up."""
    assert all(p.unit.startswith(f"{x.id}/") for x, units in zip(inputs, predictions, strict=True) for p in units)
    return [[p.label for p in units] for units in predictions]


def match_by_place(first: Sequence[Any], second: Sequence[Any], /) -> list[Match]:
    """Unit by unit; a unit that the other side lacks has nothing to match."""

    def scores(these: list[Any], those: list[Any]) -> tuple[float | None, ...]:
        return tuple(float(a == those[i]) if i < len(those) else None for i, a in enumerate(these))

    return [Match(scores(a, b), scores(b, a)) for a, b in zip(first, second, strict=True)]


FRIENDSHIP = Friendship("by place", "a", "b", translate, translate, match_by_place)


def predictions_of(labels: list[list[int]]) -> tuple[list[Sentence], list[list[Prediction]]]:
    inputs = [Sentence(f"s{i}") for i in range(len(labels))]
    units = [[Prediction(f"s{i}/{j}", y, 0.5) for j, y in enumerate(ys)] for i, ys in enumerate(labels)]
    return inputs, units


def test_it_finds_the_epsilon_of_a_skewed_space() -> None:
    p = [0.6, 0.3, 0.1]
    labels = np.random.default_rng(0).choice(3, size=(1_500, 1), p=p).tolist()
    inputs, units = predictions_of(labels)
    measured = measured_epsilon(FRIENDSHIP, inputs, units, units, seed=1, rounds=5)
    assert measured.unshuffled.total_agreement == 1.0
    assert measured.shuffled.units == 5 * 1_500
    assert measured.epsilon is not None
    assert measured.standard_error is not None
    assert measured.standard_error == pytest.approx(math.sqrt(0.46 * 0.54 / 1_500), rel=0.05)
    assert abs(measured.epsilon - sum(x * x for x in p)) < 4 * measured.standard_error


def test_no_translation_stays_with_its_input() -> None:
    inputs, units = predictions_of([[i] for i in range(7)])
    for seed in range(20):
        assert measured_epsilon(FRIENDSHIP, inputs, units, units, seed=seed, rounds=3).epsilon == 0.0


def test_units_without_a_counterpart_are_left_out_and_counted() -> None:
    inputs, units = predictions_of([[1, 1], [1], []])
    measured = measured_epsilon(FRIENDSHIP, inputs, units, units, seed=0, rounds=40)
    assert measured.unshuffled.units == 3
    assert measured.unshuffled.unmatched == 0
    assert measured.shuffled.units + measured.shuffled.unmatched == 40 * 3
    assert measured.shuffled.unmatched > 40
    assert measured.epsilon == 1.0


def test_partial_matches_count_in_the_mean_but_not_as_agreement() -> None:
    def half(first: Sequence[Any], second: Sequence[Any], /) -> list[Match]:
        return [Match((0.5,) * len(a), (0.5,) * len(b)) for a, b in zip(first, second, strict=True)]

    inputs, units = predictions_of([[1], [2]])
    friendship = Friendship("half", "a", "b", translate, translate, half)
    measured = measured_epsilon(friendship, inputs, units, units, seed=0, rounds=1)
    assert (measured.shuffled.total_agreement, measured.shuffled.mean_match) == (0.0, 0.5)


def test_nothing_to_match_is_no_epsilon() -> None:
    inputs, units = predictions_of([[], []])
    measured = measured_epsilon(FRIENDSHIP, inputs, units, units, seed=0, rounds=1)
    assert (measured.epsilon, measured.standard_error, measured.shuffled.mean_match) == (None, None, None)


def test_the_same_seed_measures_the_same() -> None:
    labels = np.random.default_rng(3).integers(3, size=(50, 2)).tolist()
    inputs, units = predictions_of(labels)
    once, again, other = (measured_epsilon(FRIENDSHIP, inputs, units, units, seed=s, rounds=2) for s in (1, 1, 2))
    assert once == again != other


def test_a_matcher_that_loses_units_of_a_shuffled_pair_is_named() -> None:
    def short(first: Sequence[Any], second: Sequence[Any], /) -> list[Match]:
        return [Match((1.0,) * min(len(a), len(b)), ()) for a, b in zip(first, second, strict=True)]

    inputs, units = predictions_of([[1, 2], [1]])
    with pytest.raises(ConfigError, match="1 scores for the 2 units of task a in input s0"):
        measured_epsilon(
            Friendship("short", "a", "b", translate, translate, short), inputs, units, units, seed=0, rounds=1
        )


def test_too_little_to_shuffle() -> None:
    inputs, units = predictions_of([[1]])
    with pytest.raises(ConfigError, match="at least 2"):
        measured_epsilon(FRIENDSHIP, inputs, units, units, seed=0, rounds=1)
    inputs, units = predictions_of([[1], [2]])
    with pytest.raises(ConfigError, match="rounds is 0"):
        measured_epsilon(FRIENDSHIP, inputs, units, units, seed=0, rounds=0)


def test_phi_from_the_two_by_two_table() -> None:
    a = [True] * 40 + [True] * 10 + [False] * 20 + [False] * 30
    b = [True] * 40 + [False] * 10 + [True] * 20 + [False] * 30
    correlation = error_correlation(a, b)
    assert correlation is not None
    assert correlation.phi == pytest.approx((40 * 30 - 10 * 20) / math.sqrt(50 * 50 * 60 * 40))
    assert correlation.units == 100


def test_phi_of_copies_and_opposites() -> None:
    a = [True, True, False]
    assert error_correlation(a, a).phi == pytest.approx(1.0)  # type: ignore[union-attr]
    assert error_correlation(a, [not x for x in a]).phi == pytest.approx(-1.0)  # type: ignore[union-attr]


@pytest.mark.parametrize(("a", "b"), [([], []), ([True, True], [True, False]), ([True, False], [False, False])])
def test_phi_is_undefined_without_variation(a: list[bool], b: list[bool]) -> None:
    assert error_correlation(a, b) is None


def test_outcomes_must_come_in_pairs() -> None:
    with pytest.raises(ConfigError, match="2 outcomes of one task, 1 of the other"):
        error_correlation([True, False], [True])


def test_the_standard_error_of_phi_is_its_spread_over_samples() -> None:
    rng = np.random.default_rng(5)
    phis, errors = [], []
    for _ in range(600):
        a = rng.random(400) < 0.2
        b = np.where(rng.random(400) < 0.5, a, rng.random(400) < 0.3)
        correlation = error_correlation(a.tolist(), b.tolist())
        assert correlation is not None
        phis.append(correlation.phi)
        errors.append(correlation.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(phis), rel=0.12)
