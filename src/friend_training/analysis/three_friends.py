"""Accuracy without labels: what three friends that share one space Σ give away about each other.

Two friends i and j with accuracies η_i and η_j that err independently agree with probability m_ij = η_iη_j + ε_ij(1 −
η_iη_j) (error_rates.py), so r_ij = (m_ij − ε_ij)/(1 − ε_ij) is η_iη_j. Three friends give three such products, and
those can be solved:

    η_1 = √(r_12 · r_13 / r_23)

m is counted on unlabeled inputs, ε on shuffled ones: each friend predicts for another input, and what still agrees
agrees by chance. No gold is needed.

η is the probability of KNOWING the answer. A friend that does not know it may still be right by chance, and in a
small Σ (three polarities) often is: seen from outside its accuracy in Σ is η + (1 − η)·ε. Where a task has far more
labels than Σ has elements, its accuracy is η itself. Both are given.

All of this holds for friends that err independently, and they may not. Three pairs give three numbers for three
unknowns: they always come out, whether it is true or not. What speaks against them is warned of: a pair that agrees
less than by chance; an η of 1 or more; a share of inputs on which all three agree that does not follow from the η
(some inputs are hard for all of them). None of these notices two friends that copy each other now and then, and both
look better for it. Only gold does, and a few hundred dev examples are enough: give `correct`, and the errors are
compared, and the estimate with the truth.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from friend_training.analysis.agreement import error_correlation
from friend_training.analysis.error_rates import binomial_standard_error
from friend_training.core.friendship import Friendship, Match
from friend_training.core.task import Input, Prediction
from friend_training.errors import ConfigError
from friend_training.runs.run import Run
from friend_training.runs.store import predictions_of

Agreements = NDArray[np.bool_]
"""[inputs, 3]: do friends 1 and 2, 1 and 3, 2 and 3 agree on this input?"""


PAIRS = ((0, 1), (0, 2), (1, 2))

_RESAMPLES = 200

_FAR = 3.0
"""So many standard errors away is no accident."""

_SURPLUS, _CORRELATION, _ACCURACY = 0.01, 0.05, 0.05
"""What is smaller than this does no harm worth a warning, however certain it is."""


@dataclass(frozen=True, slots=True)
class Friend:
    """One corner of the triangle. None where the agreements allow no estimate."""

    name: str
    eta: float | None
    accuracy: float | None
    standard_error: float | None  # of the accuracy


@dataclass(frozen=True, slots=True)
class Triangle:
    """The three friends, what was counted of each pair (in the order of PAIRS), and what speaks against the estimate.

    `all_agree` is the share of inputs on which all three agree, `all_agree_expected` what it would be if they erred
    independently.
    """

    friends: tuple[Friend, Friend, Friend]
    inputs: int
    agreed: tuple[float, float, float]
    chance: tuple[float, float, float]
    all_agree: float
    all_agree_expected: float | None
    warnings: tuple[str, ...]


def triangle(
    names: Sequence[str],
    agreements: Agreements,
    by_chance: Agreements,
    *,
    correct: Sequence[Sequence[bool]] | None = None,
    seed: int = 0,
) -> Triangle:
    """Estimate the accuracies of three friends from their agreements on the same inputs and on shuffled ones.

    `correct` tells for each friend whether it was right in Σ, on inputs whose gold is known (these or others, the same
    for all three); it is only ever used for warnings. `seed` is that of the resampling behind the standard errors.
    """
    if len(names) != 3 or agreements.shape[1:] != (3,) or by_chance.shape[1:] != (3,):
        raise ConfigError(f"a triangle has three friends and three agreements per input, given: {', '.join(names)}")
    if not len(agreements) or not len(by_chance):
        raise ConfigError(
            f"{len(agreements)} inputs and {len(by_chance)} shuffled ones: at least one of each is needed"
        )
    found = _solve(agreements, by_chance)
    again = _resampled(agreements, by_chance, seed)
    spread = [_spread([one.accuracy[corner] for one in again]) for corner in range(3)]
    friends = [Friend(name, found.eta[k], found.accuracy[k], spread[k]) for k, name in enumerate(names)]
    surplus = None if found.expected is None else found.all_agree - found.expected
    surplus_se = _spread([None if one.expected is None else one.all_agree - one.expected for one in again])
    return Triangle(
        friends=(friends[0], friends[1], friends[2]),
        inputs=len(agreements),
        agreed=_three(agreements.mean(0)),
        chance=_three(by_chance.mean(0)),
        all_agree=found.all_agree,
        all_agree_expected=found.expected,
        warnings=(
            *_pair_warnings(names, found),
            *_friend_warnings(friends),
            *_surplus_warnings(surplus, surplus_se),
            *([] if correct is None else _correlation_warnings(names, correct)),
            *([] if correct is None else _accuracy_warnings(friends, correct)),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Solution:
    """The products r_ij, and what follows from them; None where one of them is 0 or less."""

    r: tuple[float, float, float]
    eta: tuple[float | None, float | None, float | None]
    accuracy: tuple[float | None, float | None, float | None]
    all_agree: float
    expected: float | None


def _solve(agreements: Agreements, by_chance: Agreements) -> _Solution:
    m, epsilon = agreements.mean(0), by_chance.mean(0)
    all_agree = float(agreements.all(1).mean())
    r = _three(np.where(epsilon < 1, (m - epsilon) / np.where(epsilon < 1, 1 - epsilon, 1.0), 0.0))
    if min(r) <= 0:
        return _Solution(r, (None,) * 3, (None,) * 3, all_agree, None)
    r12, r13, r23 = r
    eta = (math.sqrt(r12 * r13 / r23), math.sqrt(r12 * r23 / r13), math.sqrt(r13 * r23 / r12))
    # Chance of a friend that does not know: what it meets by chance with the two others.
    luck = (epsilon[0] + epsilon[1]) / 2, (epsilon[0] + epsilon[2]) / 2, (epsilon[1] + epsilon[2]) / 2
    a, b, c = (value + (1 - value) * float(chance) for value, chance in zip(eta, luck, strict=True))
    return _Solution(r, eta, (a, b, c), all_agree, _all_agree(eta, epsilon, float(by_chance.all(1).mean())))


def _all_agree(eta: tuple[float, float, float], epsilon: NDArray[np.float64], chance: float) -> float:
    """P(all three agree) of independent friends: all know; two know and the third meets them; else three meet."""
    x, y, z = (min(1.0, value) for value in eta)
    all_know = x * y * z
    two_know = (x * y * (1 - z), x * z * (1 - y), y * z * (1 - x))
    # The third friend meets either of the two that know, who say the same.
    meets = (epsilon[1] + epsilon[2]) / 2, (epsilon[0] + epsilon[2]) / 2, (epsilon[0] + epsilon[1]) / 2
    two = math.fsum(share * float(meeting) for share, meeting in zip(two_know, meets, strict=True))
    return all_know + two + chance * (1 - all_know - sum(two_know))


def _resampled(agreements: Agreements, by_chance: Agreements, seed: int) -> list[_Solution]:
    rng = np.random.default_rng(seed)
    return [
        _solve(agreements[rng.integers(len(agreements), size=len(agreements))], by_chance) for _ in range(_RESAMPLES)
    ]


def _pair_warnings(names: Sequence[str], found: _Solution) -> list[str]:
    return [
        f"{names[i]} and {names[j]} agree no more often than by chance: no estimate"
        for (i, j), value in zip(PAIRS, found.r, strict=True)
        if value <= 0
    ]


def _friend_warnings(friends: Sequence[Friend]) -> list[str]:
    """Two friends that share errors agree too often, and look better for it, up to perfection and beyond."""
    return [
        f"{friend.name} would be right always (η = {friend.eta:.2f}): more likely it shares its errors with a friend"
        for friend in friends
        if friend.eta is not None and friend.eta > 1 - 1e-9
    ]


def _surplus_warnings(surplus: float | None, error: float | None) -> list[str]:
    if surplus is None or error is None or abs(surplus) < max(_SURPLUS, _FAR * error):
        return []
    how = "more" if surplus > 0 else "less"
    return [f"all three agree {how} often than independent friends would ({surplus:+.3f} ± {error:.3f})"]


def _correlation_warnings(names: Sequence[str], correct: Sequence[Sequence[bool]]) -> list[str]:
    found = [(names[i], names[j], error_correlation(correct[i], correct[j])) for i, j in PAIRS]
    return [
        f"the errors of {a} and {b} are correlated (φ = {phi.phi:.2f} ± {phi.standard_error:.2f})"
        for a, b, phi in found
        if phi is not None and abs(phi.phi) > max(_CORRELATION, _FAR * phi.standard_error)
    ]


def _accuracy_warnings(friends: Sequence[Friend], correct: Sequence[Sequence[bool]]) -> list[str]:
    warnings = []
    for friend, right in zip(friends, correct, strict=True):
        if friend.accuracy is not None and friend.standard_error is not None:
            truth, error = float(np.mean(right)), binomial_standard_error(sum(right), len(right))
            if abs(friend.accuracy - truth) > max(_ACCURACY, _FAR * math.hypot(error, friend.standard_error)):
                warnings.append(f"{friend.name} is estimated at {friend.accuracy:.2f}, on gold it is {truth:.2f}")
    return warnings


def _spread(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.std(known)) if len(known) > _RESAMPLES / 2 else None


def _three(values: NDArray[np.float64]) -> tuple[float, float, float]:
    a, b, c = (float(value) for value in values)
    return a, b, c


Right = Callable[[str, str, Any], bool]
"""Is this task's prediction for the input of this id right in Σ? Used only where gold is at hand, and for warnings."""


_ROUNDS = 5
"""How often the pool is shuffled to see what agrees by chance."""


def triangles_of_run(
    run: Run,
    label_types: Mapping[str, Any],
    friendships: Sequence[Friendship],
    pool: Sequence[Input],
    *,
    right: Right | None = None,
    seed: int = 0,
) -> dict[int, Triangle]:
    """For each iteration of a run, the estimated accuracy of its three tasks, from the labels they gave to the pool.

    `label_types` names the three tasks. The labels of iteration t are those of the models before its training, so they
    belong beside the dev scores of t − 1.
    """
    sides = _sides(list(label_types), friendships)
    return {
        iteration: triangle_of_predictions(
            list(label_types),
            sides,
            pool,
            predictions_of(run.store.read(iteration), label_types, [given.id for given in pool]),
            right=right,
            seed=seed,
        )
        for iteration in run.store.iterations()
    }


def triangle_of_predictions(
    names: Sequence[str],
    friendships: Sequence[Friendship],
    inputs: Sequence[Input],
    predictions: Mapping[str, Sequence[Sequence[Prediction]]],
    *,
    right: Right | None = None,
    seed: int = 0,
) -> Triangle:
    """The triangle of three tasks' predictions for the same inputs.

    Friends agree on an input if every unit of it that was matched has the score 1. Inputs on which a friend is silent
    are left out. To shuffle, one random circle is drawn, in which the friends stand at one, two and three places from
    each other, so that no two of them predict for the same input.
    """
    sides = _sides(names, friendships)
    answered = [i for i in range(len(inputs)) if all(len(predictions[name][i]) for name in names)]
    if len(answered) < len(names):
        raise ConfigError(f"all three friends answered on {len(answered)} inputs: too few to be shuffled")
    given = [inputs[i] for i in answered]
    given_predictions = {name: [predictions[name][i] for i in answered] for name in names}
    translated = [
        (
            one.translate_first(given, given_predictions[one.first]),
            one.translate_second(given, given_predictions[one.second]),
        )
        for one in sides
    ]

    def agreements(places: Mapping[str, Sequence[int]]) -> Agreements:
        columns = []
        for one, (first, second) in zip(sides, translated, strict=True):
            left = [first[i] for i in places[one.first]]
            columns.append([_agree(match) for match in one.matcher(left, [second[i] for i in places[one.second]])])
        return np.array(columns, dtype=np.bool_).T

    rng = np.random.default_rng(seed)
    shuffled = []
    for _ in range(_ROUNDS):
        circle = rng.permutation(len(given))
        shuffled.append(agreements({name: np.roll(circle, k).tolist() for k, name in enumerate(names)}))
    same = agreements({name: range(len(given)) for name in names})
    known = (
        None
        if right is None
        else [
            [right(name, x.id, units[0].label) for x, units in zip(given, given_predictions[name], strict=True)]
            for name in names
        ]
    )
    return triangle(names, same, np.concatenate(shuffled), correct=known, seed=seed)


def _sides(names: Sequence[str], friendships: Sequence[Friendship]) -> list[Friendship]:
    """The three friendships in the order of PAIRS."""
    wanted = [{names[i], names[j]} for i, j in PAIRS] if len(names) == 3 else []
    found = [[one for one in friendships if {one.first, one.second} == pair] for pair in wanted]
    if len(wanted) != 3 or any(len(matching) != 1 for matching in found):
        raise ConfigError(
            f"a triangle needs three tasks and one friendship between every two of them; given are {', '.join(names)}"
            f" and {', '.join(f'{one.first}-{one.second}' for one in friendships)}"
        )
    return [matching[0] for matching in found]


def _agree(match: Match) -> bool:
    scores = [score for score in (*match.first, *match.second) if score is not None]
    return bool(scores) and all(score == 1.0 for score in scores)
