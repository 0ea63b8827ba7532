"""The shuffled friend: every unit meets another input's prediction, and the score comes back to its place."""

import string
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Prediction
from friend_training.methods.controls import shuffled

KEYS = dict(zip(string.ascii_lowercase, range(1, 27), strict=True))


@dataclass(frozen=True)
class Given:
    id: str


def _translate(inputs, predictions):
    return [(given.id, [unit.unit for unit in units]) for given, units in zip(inputs, predictions, strict=True)]


def friendship(calls):
    """Scores name their own and the other input, so that a test can see who was compared with whom."""

    def match(first, second):
        calls.extend(zip(first, second, strict=True))
        return [
            Match(tuple((a, b, unit) for unit in ours), tuple((a, b, unit) for unit in theirs))
            for (a, ours), (b, theirs) in zip(first, second, strict=True)
        ]

    return Friendship("f", "one", "two", _translate, _translate, match)


def predictions(task, counts):
    return [
        [Prediction(f"{task}/{given}/{number}", "x", 1.0) for number in range(count)]
        for given, count in zip(KEYS, counts, strict=False)
    ]


@given(counts=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2)), max_size=15), seed=st.integers(0, 5))
def test_every_unit_meets_a_stranger(counts, seed):
    inputs = [Given(name) for name, _ in zip(KEYS, counts, strict=False)]
    first, second = (predictions(task, [pair[side] for pair in counts]) for side, task in enumerate(("one", "two")))
    calls = []
    found = shuffled(friendship(calls), seed=seed).match(inputs, first, second)
    assert [(len(match.first), len(match.second)) for match in found] == counts
    for me, match, pair in zip(inputs, found, counts, strict=True):
        alone = counts.count(pair) == 1
        for number, score in enumerate(match.first):
            if alone:
                assert score is None
            else:
                ours, theirs, unit = score
                assert (ours, unit) == (me.id, f"one/{me.id}/{number}")
                assert theirs != me.id
        for number, score in enumerate(match.second):
            if alone:
                assert score is None
            else:
                theirs, ours, unit = score
                assert (ours, unit) == (me.id, f"two/{me.id}/{number}")
                assert theirs != me.id
    assert all(len(ours) == counts[list(KEYS).index(a)][0] for (a, ours), _ in calls)
    assert all(counts[list(KEYS).index(a)] == counts[list(KEYS).index(b)] for (a, _), (b, _) in calls)


def test_partners_depend_on_the_seed():
    inputs = [Given(name) for name in list(KEYS)[:12]]
    units = predictions("one", [1] * 12)
    pairs = []
    for seed in (1, 1, 2):
        calls = []
        shuffled(friendship(calls), seed=seed).match(inputs, units, units)
        pairs.append([(a, b) for (a, _), (b, _) in calls])
    assert pairs[0] == pairs[1] != pairs[2]
