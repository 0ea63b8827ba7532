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

Votes of several sources, each as reliable as it is: Dawid and Skene's model, fitted by EM without gold.

A source (a task, a bridge, a person) that has an opinion on an item is right with a reliability of its own for each
kind of item, and otherwise gives any of the other labels alike. Reliabilities and true labels are estimated together.
With three sources of one reliability this is "two of three". Two sources err independently only if they do not look at
the same thing: those that share an input are tempered, so that g of them together count as one opinion.

What cannot be seen without gold is shared by all: sources that make the same mistakes look reliable. `known` gives the
model the items whose label is known.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
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


Opinions = NDArray[np.int64]
"""[items, sources]: the label that each source gives, as a number from 0; SILENT where it has no opinion."""

SILENT = -1

_EM_ROUNDS, _CLOSE = 500, 1e-9

_PRIOR_RIGHT, _PRIOR_WRONG = 2.0, 1.0
"""Of each source and kind so many opinions are added: no source is infallible for having agreed with all others."""


@dataclass(frozen=True, slots=True)
class Votes:
    """What the votes come to. `posterior` [items, labels] is the probability of each label to be the true one.

    `reliability` [kinds, sources] is how often a source is right; `frequency` [labels] how common each label is.
    `log_likelihood` is that of the opinions, `trace` the objective round by round, which never falls.
    """

    posterior: NDArray[np.float64]
    reliability: NDArray[np.float64]
    frequency: NDArray[np.float64]
    kinds: tuple[str, ...]
    log_likelihood: float
    trace: tuple[float, ...]

    @property
    def label(self) -> NDArray[np.int64]:
        """The likeliest label of each item; the first of equals."""
        return np.asarray(self.posterior.argmax(1), np.int64)

    @property
    def probability(self) -> NDArray[np.float64]:
        """How probably it is the true one."""
        return np.asarray(self.posterior.max(1))


def count_votes(
    opinions: Opinions,
    labels: int,
    *,
    kinds: Sequence[str] | None = None,
    shared: Sequence[Collection[int]] = (),
    known: Mapping[int, int] | None = None,
    frequency: Sequence[float] | None = None,
    reliability: float | None = None,
) -> Votes:
    """Find the true labels of items that three or more sources have opinions on.

    `kinds` names the kind of each item. `shared` are groups of sources that look at the same input. `known` gives
    labels of items (by place) that are certain. `frequency` fixes how common labels are, where the numbers of labels
    mean something else in each item; `reliability` makes all sources equally reliable: of three, two decide.
    """
    given = np.asarray(opinions, np.int64)
    _check(given, labels, kinds, shared)
    if reliability is not None and not 0 < reliability < 1:
        raise ConfigError(f"reliability is {reliability}; it must lie between 0 and 1, both excluded")
    names = tuple(sorted(set(kinds))) if kinds is not None else ("",)
    kind = np.array([names.index(name) for name in kinds]) if kinds is not None else np.zeros(len(given), np.int64)
    said = np.asarray(given != SILENT, np.bool_)
    weight = said * _tempered(said, shared)
    votes = np.zeros((*given.shape, labels), np.bool_)
    item, source = np.nonzero(said)
    votes[item, source, given[item, source]] = True
    fixed = np.zeros((len(given), labels))
    for place, label in (known or {}).items():
        fixed[place, label] = 1.0
    certain = np.asarray(fixed.any(1), np.bool_)

    majority = (votes * weight[..., None]).sum(1) + 1e-3
    posterior = np.where(certain[:, None], fixed, majority / majority.sum(1, keepdims=True))
    trace: list[float] = []
    while True:
        right = (
            _reliabilities(posterior, votes, weight, kind, len(names))
            if reliability is None
            else np.full((len(names), given.shape[1]), reliability)
        )
        common = _frequencies(posterior) if frequency is None else np.asarray(frequency, np.float64)
        joint = _joint(votes, weight, right[kind], common)
        log_items = np.where(certain, (joint * fixed).sum(1), np.logaddexp.reduce(joint, 1))
        posterior = np.where(certain[:, None], fixed, np.exp(joint - np.logaddexp.reduce(joint, 1)[:, None]))
        prior = 0.0
        if reliability is None:
            prior = (_PRIOR_RIGHT * np.log(right) + _PRIOR_WRONG * np.log1p(-right)).sum()
        if frequency is None:
            prior += np.log(common).sum()
        trace.append(float(log_items.sum() + prior))
        if len(trace) == _EM_ROUNDS or (len(trace) > 1 and trace[-1] - trace[-2] < _CLOSE):
            return Votes(posterior, right, common, names, float(log_items.sum()), tuple(trace))


def _reliabilities(
    posterior: NDArray[np.float64],
    votes: NDArray[np.bool_],
    weight: NDArray[np.float64],
    kind: NDArray[np.int64],
    kinds: int,
) -> NDArray[np.float64]:
    agreed = weight * (votes * posterior[:, None, :]).sum(2)  # how probably each opinion is right
    right, given = np.zeros((kinds, weight.shape[1])), np.zeros((kinds, weight.shape[1]))
    np.add.at(right, kind, agreed)
    np.add.at(given, kind, weight)
    return np.asarray((right + _PRIOR_RIGHT) / (given + _PRIOR_RIGHT + _PRIOR_WRONG))


def _frequencies(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = posterior.sum(0) + 1.0
    return np.asarray(counts / counts.sum())


def _joint(
    votes: NDArray[np.bool_], weight: NDArray[np.float64], right: NDArray[np.float64], common: NDArray[np.float64]
) -> NDArray[np.float64]:
    """log P(true label, opinions) of each item and label; `right` is [items, sources]."""
    wrong = (1 - right) / max(1, len(common) - 1)
    evidence = np.where(votes, np.log(right)[..., None], np.log(wrong)[..., None])
    return np.asarray(np.log(common) + (weight[..., None] * evidence).sum(1))


def _tempered(said: NDArray[np.bool_], shared: Sequence[Collection[int]]) -> NDArray[np.float64]:
    """The weight of each opinion: 1, or its share of a group of which several have one."""
    weight = np.ones(said.shape)
    for group in shared:
        columns = sorted(group)
        weight[:, columns] = 1.0 / np.maximum(1, said[:, columns].sum(1, keepdims=True))
    return weight


def _check(given: Opinions, labels: int, kinds: Sequence[str] | None, shared: Sequence[Collection[int]]) -> None:
    if given.ndim != 2 or given.shape[1] < 3 or not len(given):
        raise ConfigError(f"votes need items and three sources or more, got opinions of shape {given.shape}")
    if labels < 2 or given.min() < SILENT or given.max() >= labels:
        raise ConfigError(
            f"opinions are numbers from 0 to {labels - 1}, or {SILENT} for none; got {given.min()} to {given.max()}"
        )
    if kinds is not None and len(kinds) != len(given):
        raise ConfigError(f"{len(kinds)} kinds were given for {len(given)} items")
    grouped = [source for group in shared for source in group]
    if len(set(grouped)) < len(grouped) or not set(grouped) <= set(range(given.shape[1])):
        raise ConfigError(f"shared is {shared}: expected groups of sources, each source once, of {given.shape[1]}")
