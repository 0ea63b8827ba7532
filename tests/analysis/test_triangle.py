"""Accuracy without labels: on friends that are drawn label by label, not from the formula."""

import numpy as np
import pytest

from friend_training.analysis.error_rates import TranslationTable
from friend_training.analysis.three_friends import PAIRS, triangle, triangle_of_predictions
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.errors import ConfigError
from friend_training.types import Text

NAMES = ("polarity", "emotion", "lexicon")
INPUTS = 5000


def agreements(elements):
    return np.stack([elements[i] == elements[j] for i, j in PAIRS], axis=1)


def estimate(elements, rng, **more):
    """As triangle_of_run does it: agreement on the same inputs, and on inputs that were handed round."""
    rounds = []
    for _ in range(5):
        circle = rng.permutation(len(elements[0]))
        rounds.append(agreements([column[np.roll(circle, k)] for k, column in enumerate(elements)]))
    return triangle(NAMES, agreements(elements), np.concatenate(rounds), **more)


def many_labels(eta, sigma, rng):
    """Three tasks of 3,000 labels each with a random table into Σ; wrong is any other label. → elements, right."""
    tables = [TranslationTable(3000, [1 / sigma] * sigma, rng) for _ in eta]
    element = rng.integers(sigma, size=INPUTS)
    elements, right = [], []
    for table, known in zip(tables, eta, strict=True):
        gold = table.label_for(element, rng)
        predicted = np.where(rng.random(INPUTS) < known, gold, table.other_label(gold, rng))
        elements.append(table.of_label[predicted])
        right.append(predicted == gold)
    return elements, right


def polarities(accuracy, shares, rng):
    """Three classifiers straight into a skewed Σ of three; wrong is one of the two other classes. → elements, right."""
    gold = rng.choice(3, size=INPUTS, p=shares)
    elements = []
    for known in accuracy:
        other = (gold + rng.integers(1, 3, size=INPUTS)) % 3
        elements.append(np.where(rng.random(INPUTS) < known, gold, other))
    return elements, [column == gold for column in elements]


@pytest.mark.parametrize("eta", [(0.3, 0.5, 0.7), (0.6, 0.6, 0.6), (0.9, 0.4, 0.8), (0.95, 0.9, 0.35)])
@pytest.mark.parametrize("sigma", [10, 100])
def test_eta_of_independent_friends_with_many_labels(eta, sigma):
    rng = np.random.default_rng(sigma)
    elements, right = many_labels(eta, sigma, rng)
    found = estimate(elements, rng, correct=right)
    for friend, column in zip(found.friends, right, strict=True):
        assert friend.eta == pytest.approx(column.mean(), abs=0.05)


@pytest.mark.parametrize("accuracy", [(0.6, 0.7, 0.8), (0.75, 0.75, 0.75), (0.9, 0.65, 0.7)])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2)])
def test_accuracy_in_a_small_sigma(accuracy, shares):
    """In three classes a friend that does not know is often right by chance: that is what `accuracy` adds to η."""
    rng = np.random.default_rng(round(100 * shares[0]))
    elements, right = polarities(accuracy, shares, rng)
    found = estimate(elements, rng)
    for friend, column in zip(found.friends, right, strict=True):
        assert friend.accuracy == pytest.approx(column.mean(), abs=0.05)
        assert friend.standard_error < 0.03
    assert found.warnings == ()


def test_the_standard_error_is_that_of_repeating_it_all():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        elements, _ = polarities((0.6, 0.7, 0.8), (0.5, 0.3, 0.2), rng)
        found.append(estimate([column[:1000] for column in elements], rng))
    spread = np.std([one.friends[0].accuracy for one in found])
    assert np.mean([one.friends[0].standard_error for one in found]) == pytest.approx(spread, rel=0.35)


def test_a_friend_that_copies_another_is_warned_of_by_gold():
    """It makes both look better and the honest third look worse, and nothing but gold shows it."""
    rng = np.random.default_rng(1)
    elements, right = polarities((0.6, 0.6, 0.7), (0.5, 0.3, 0.2), rng)
    copies = rng.random(INPUTS) < 0.4
    copied = np.where(copies, elements[0], elements[1])
    right = [right[0], np.where(copies, right[0], right[1]), right[2]]
    found = estimate([elements[0], copied, elements[2]], rng, correct=right)
    assert found.friends[0].accuracy > right[0].mean() + 0.1
    assert found.friends[2].accuracy < right[2].mean() - 0.05
    assert any("errors of polarity and emotion are correlated" in warning for warning in found.warnings)
    assert any("polarity is estimated at" in warning for warning in found.warnings)


def test_a_complete_copy_looks_perfect_and_is_warned_of_without_gold():
    rng = np.random.default_rng(2)
    elements, _ = polarities((0.6, 0.6, 0.7), (0.5, 0.3, 0.2), rng)
    found = estimate([elements[0], elements[0], elements[2]], rng)
    assert any("would be right always" in warning for warning in found.warnings)


def test_inputs_that_are_hard_for_all_are_warned_of_without_gold():
    rng = np.random.default_rng(3)
    easy, _ = many_labels((0.8, 0.8, 0.8), 20, rng)
    hard, _ = many_labels((0.1, 0.1, 0.1), 20, rng)
    found = estimate([np.concatenate(pair) for pair in zip(easy, hard, strict=True)], rng)
    assert any(warning.startswith("all three agree more often") for warning in found.warnings)


def test_a_friend_that_only_guesses_gives_no_estimate():
    rng = np.random.default_rng(4)
    elements, _ = polarities((0.6, 0.7, 0.8), (0.5, 0.3, 0.2), rng)
    against = (elements[0] + 1) % 3
    found = estimate([elements[0], against, elements[2]], rng)
    assert [friend.accuracy for friend in found.friends] == [None, None, None]
    assert "polarity and emotion agree no more often than by chance: no estimate" in found.warnings


def test_friends_that_always_agree_by_chance_give_no_estimate():
    always = np.ones((10, 3), dtype=bool)
    assert triangle(NAMES, always, always).friends[0].eta is None


def test_what_is_no_triangle_is_refused():
    with pytest.raises(ConfigError, match="a triangle has three friends"):
        triangle(("a", "b"), np.ones((5, 3), bool), np.ones((5, 3), bool))
    with pytest.raises(ConfigError, match="0 inputs and 5 shuffled ones"):
        triangle(NAMES, np.ones((0, 3), bool), np.ones((5, 3), bool))


def same(first: str, second: str) -> Friendship:
    def labels(_, predictions):
        return [units[0].label if units else None for units in predictions]

    def match(a, b):
        scores = [None if None in pair else float(pair[0] == pair[1]) for pair in zip(a, b, strict=True)]
        return [
            Match(() if x is None else (score,), () if y is None else (score,))
            for x, y, score in zip(a, b, scores, strict=True)
        ]

    return Friendship(f"{first}-{second}", first, second, labels, labels, match)


def predictions(elements):
    return [[] if label < 0 else [Prediction(f"u{place}", str(label), 0.5)] for place, label in enumerate(elements)]


def test_predictions_give_the_same_as_their_agreements():
    rng = np.random.default_rng(5)
    elements, right = polarities((0.6, 0.7, 0.8), (0.5, 0.3, 0.2), rng)
    inputs = [Text(f"u{place}", "") for place in range(INPUTS)]
    silent = rng.random(INPUTS) < 0.3
    said = dict(zip(NAMES, map(predictions, [*elements[:2], np.where(silent, -1, elements[2])]), strict=True))
    friendships = [same("lexicon", "emotion"), same("polarity", "emotion"), same("polarity", "lexicon")]
    place = {text.id: number for number, text in enumerate(inputs)}
    asked = []

    def truth(task, id, label):
        asked.append(id)
        return bool(right[NAMES.index(task)][place[id]])

    found = triangle_of_predictions(NAMES, friendships, inputs, said, right=truth)
    assert found.inputs == (~silent).sum()
    assert not silent[[place[id] for id in asked]].any()
    assert found.agreed == pytest.approx(agreements([column[~silent] for column in elements]).mean(0))
    for friend, column in zip(found.friends, right, strict=True):
        assert friend.accuracy == pytest.approx(column.mean(), abs=0.05)


@pytest.mark.parametrize("sides", [["polarity-emotion", "polarity-lexicon"], ["polarity-emotion"] * 3])
def test_three_friendships_are_needed(sides):
    friendships = [same(*side.split("-")) for side in sides]
    with pytest.raises(ConfigError, match="one friendship between every two of them"):
        triangle_of_predictions(NAMES, friendships, [], {name: [] for name in NAMES})
