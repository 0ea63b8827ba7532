"""Pick thresholds found on dev: units whose gold is known, labelled as if it were not.

Three ways, and each record says which it was. An *estimate* (`Precision` without a confidence) takes the lowest
threshold whose choice is expected to be right often enough: of what was counted on dev and of what scores promise after
temperature scaling, the lower. Whoever looks through all thresholds for one that seems good enough finds one that is
not, up to half of the time. A *bound* (`Precision` with a confidence) holds for all thresholds that it looks at: a
sequence fixed beforehand is tested from the highest threshold down, each by the Clopper-Pearson bound, up to the first
that fails. *False discovery* (`FalseDiscovery`) keeps the share of wrong ones among the chosen below a level on average
over runs: conformal p-values from the wrong dev units, and the rule of Benjamini and Hochberg on the pool.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from scipy.stats import beta

from friend_training.core.friendship import Aggregation, Considered, Friendship, asked_together, consider
from friend_training.core.selector import FalseDiscovery, Nothing, Precision, Scores, Selector, Threshold
from friend_training.core.task import PRF, Prediction, Task, checked, f1_of
from friend_training.loop.labelling import label_shard
from friend_training.loop.selection import Gate, LearnedScore, fit_gate
from friend_training.runs.store import scores_of

_EDGE = 1e-6
"""Scores are held this far from 0 and 1, where the log-odds are infinite."""


_LONGEST_LOG_TEMPERATURE = 5.0
"""Where every answer is right (or every one wrong) no temperature is best: the search ends at exp(±5)."""


def fit_temperature(scores: ArrayLike, correct: ArrayLike) -> float:
    """The T > 0 for which sigmoid(logit(s) / T) has the least negative log-likelihood; fitted on dev.

    A score is made of many decisions, so there are no logits to divide: its own log-odds are scaled.
    """
    values, right = checked(scores, correct)
    odds = logit(np.clip(values, _EDGE, 1 - _EDGE))
    signed = np.where(right, odds, -odds)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, -signed / np.exp(log_temperature)).mean())

    bounds = (-_LONGEST_LOG_TEMPERATURE, _LONGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def apply_temperature(scores: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """sigmoid(logit(s) / T): keeps the order of scores, and 0.5 where it is."""
    if temperature <= 0:
        raise ValueError(f"a temperature is positive, got {temperature}")
    odds = logit(np.clip(np.asarray(scores, dtype=np.float64), _EDGE, 1 - _EDGE))
    return np.asarray(expit(odds / temperature), dtype=np.float64)


ROUNDING = 1e-12
"""A precision that is the target but for the order in which it was summed up is the target."""


Rests = Literal["estimate", "bound", "false discovery"]


@dataclass(frozen=True, slots=True)
class Aimed:
    """The threshold that was found. `reached` is False where none promised what was aimed at.

    Of the `units` of dev that could be chosen at all, `chosen` reach the threshold; `precision` is what is expected of
    such a choice or, of a bound, what it is at least. With no unit to go by there is no threshold, and nothing should
    be chosen. What is found by conformal selection has its threshold from the pool, by the scores of the `wrong` units.
    `needed` is the smallest number of dev units that could have kept the promise.
    """

    threshold: float | None
    reached: bool
    precision: float | None
    chosen: int
    units: int
    temperature: float | None
    rests_on: Rests = "estimate"
    target: float | None = None
    confidence: float | None = None
    needed: int | None = None
    wrong: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As the record of a step has it: of what came later than its first six entries only what there is."""
        later = ("target", "confidence", "needed", "wrong", "warnings")
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if name not in later or value not in (None, ())
        }


def threshold_for_precision(scores: ArrayLike, correct: ArrayLike, aim: Precision) -> Aimed:
    """The threshold for a precision: a bound where the aim names a confidence, else an estimate."""
    if aim.confidence is not None:
        return _bounded(scores, correct, aim.target, aim.confidence, aim.at_least)
    return _estimated(scores, correct, aim)


def _estimated(scores: ArrayLike, correct: ArrayLike, aim: Precision) -> Aimed:
    """The lowest threshold of which at least `aim.target` of the chosen are expected to be right.

    Choices of fewer than `aim.at_least` units prove nothing and do not count. If none is good enough, the best of those
    that count is taken (the largest of equals), and the result says so.
    """
    if not np.size(scores):
        return Aimed(None, reached=False, precision=None, chosen=0, units=0, temperature=None)
    values, right = checked(scores, correct)
    temperature = fit_temperature(values, right)
    order = np.argsort(-values, kind="stable")
    values, right = values[order], right[order]
    chosen = np.arange(1, len(values) + 1)
    counted = np.cumsum(right) / chosen
    promised = np.cumsum(apply_temperature(values, temperature)) / chosen
    expected = np.minimum(counted, promised)
    ends = np.append(values[1:] != values[:-1], True)  # equal scores are chosen together
    count = np.flatnonzero(ends & (chosen >= min(aim.at_least, len(values))))
    good = count[expected[count] >= aim.target - ROUNDING]
    best = count[expected[count] == expected[count].max()]
    last = int(good[-1]) if len(good) else int(best[-1])
    return Aimed(
        threshold=float(values[last]),
        reached=bool(len(good)),
        precision=float(expected[last]),
        chosen=last + 1,
        units=len(values),
        temperature=temperature,
    )


# A bound that holds: fixed-sequence testing.

CUTS = 20
"""So many thresholds are tested at most: fewer are coarser, and of more one is likelier to fail by bad luck."""

FIRST = 4
"""The first choice that is tested is the best quarter of dev. Of fewer units one mistake more fails the test, and a
sequence that fails at its beginning chooses nothing."""


def fewest_units(target: float, confidence: float) -> int:
    """How many dev units could promise a precision if every one of them were right."""
    return math.ceil(math.log(1 - confidence) / math.log(target) - ROUNDING)


def precision_at_least(right: int, units: int, confidence: float) -> float:
    """The Clopper-Pearson lower bound of a share: the true one is below it in at most 1 − confidence of samples."""
    return float(beta.ppf(1 - confidence, right, units - right + 1)) if right else 0.0


def _bounded(scores: ArrayLike, correct: ArrayLike, target: float, confidence: float, at_least: int) -> Aimed:
    """The last threshold of the sequence before one fails.

    The sequence depends on the number of dev units alone: from the best quarter of them in equal steps to all. As each
    threshold is tested only if those above it have passed, the probability that any wrong one passes is that of the
    first wrong one, 1 − confidence.
    """
    empty = Aimed(None, False, None, 0, 0, None, rests_on="bound", target=target, confidence=confidence)
    needed = fewest_units(target, confidence)
    if not np.size(scores):
        return replace(empty, needed=needed, warnings=(_too_few(0, target, confidence),))
    values, right = checked(scores, correct)
    order = np.argsort(-values, kind="stable")
    values, right = values[order], np.cumsum(right[order])
    units = len(values)
    found = replace(empty, units=units, needed=needed)
    if units < needed:
        return replace(found, warnings=(_too_few(units, target, confidence),))
    first = min(units, max(at_least, needed, units // FIRST))
    for cut in np.unique(np.linspace(first, units, CUTS).round().astype(int)):
        chosen = int(np.searchsorted(-values, -values[cut - 1], side="right"))  # equal scores are chosen together
        bound = precision_at_least(int(right[chosen - 1]), chosen, confidence)
        if bound < target - ROUNDING:
            break
        found = replace(found, threshold=float(values[chosen - 1]), reached=True, precision=bound, chosen=chosen)
    return found


def _too_few(units: int, target: float, confidence: float) -> str:
    return (
        f"{units} units of dev cannot promise a precision of {target:g} with confidence {confidence:g}, however right"
        f" they are: {fewest_units(target, confidence)} could; nothing is chosen"
    )


# Conformal selection: the share of wrong ones among the chosen.


def conformal_p_values(
    scores: ArrayLike,
    right: ArrayLike,
    pool: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    pool_weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """For each pool unit how probable its score, or a higher one, would be if it were wrong.

    Dev units (`scores`, `right`) and pool units must come from one distribution. Where the pool's differs, `weights`
    and `pool_weights` say how much more probable each unit is in the pool than on dev (density ratios, up to a factor).
    """
    values, correct = checked(scores, right)
    asked = np.asarray(pool, np.float64)
    if (weights is None) != (pool_weights is None):
        raise ValueError("weights of dev and of the pool belong together: one of them is missing")
    own = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    theirs = np.ones(len(asked)) if pool_weights is None else np.asarray(pool_weights, np.float64)
    if own.shape != values.shape or theirs.shape != asked.shape or min(own.min(), theirs.min(initial=0)) < 0:
        raise ValueError("expected one weight of 0 or more for each unit")
    wrong, heavy = values[~correct], own[~correct]
    order = np.argsort(-wrong)
    heavier = np.append(0.0, np.cumsum(heavy[order]))  # the weight of the best so many wrong units
    above = heavier[np.searchsorted(-wrong[order], -asked, side="right")]
    return np.asarray((above + theirs) / (own.sum() + theirs))


def false_discovery_choice(p_values: ArrayLike, level: float) -> NDArray[np.bool_]:
    """The rule of Benjamini and Hochberg: choose the k smallest p-values, for the largest k whose last is ≤ level·k/n.

    With weights of a pool of another domain the level is kept approximately, without them exactly.
    """
    values = np.asarray(p_values, np.float64)
    chosen = np.zeros(len(values), np.bool_)
    order = np.argsort(values, kind="stable")
    passing = np.flatnonzero(values[order] <= level * np.arange(1, len(values) + 1) / max(1, len(values)) + ROUNDING)
    if len(passing):
        chosen[order[: passing[-1] + 1]] = True
    return chosen


def false_discovery_threshold(
    wrong: Sequence[float], units: int, level: float, batches: Iterable[NDArray[np.float64]]
) -> float | None:
    """The same choice as a threshold, with the pool a batch of scores at a time; None: nothing is chosen.

    `units` are dev's, and `wrong` the scores of the wrong ones among them. All pool units between two of these have the
    same p-value, so counting them is enough.
    """
    steps = np.unique(np.asarray(wrong, np.float64))[::-1]
    above = np.zeros(len(steps) + 1, np.int64)  # pool units above each step, and all of them
    lowest = math.inf
    for scores in batches:
        ordered = np.sort(scores)
        above[:-1] += len(ordered) - np.searchsorted(ordered, steps, side="right")
        above[-1] += len(ordered)
        lowest = min(lowest, float(ordered.min(initial=math.inf)))
    at_least = np.array([0, *(np.sum(np.asarray(wrong) >= step) for step in steps)])  # wrong units above each line
    passing = (above > 0) & ((1 + at_least) / (units + 1) <= level * above / max(1, above[-1]) + ROUNDING)
    if not passing.any():
        return None
    last = int(np.flatnonzero(passing)[-1])
    return float(np.nextafter(steps[last], math.inf)) if last < len(steps) else lowest


def _discovering(scores: NDArray[np.float64], right: NDArray[np.bool_], level: float) -> Aimed:
    needed = math.ceil(1 / level - ROUNDING) - 1
    too_few = (
        f"{len(scores)} units of dev cannot keep the share of wrong ones below {level:g}, however right they are:"
        f" {needed} could; nothing is chosen"
    )
    return Aimed(
        None,
        reached=len(scores) >= needed,
        precision=None,
        chosen=0,
        units=len(scores),
        temperature=None,
        rests_on="false discovery",
        target=level,
        needed=needed,
        wrong=tuple(sorted(scores[~right].tolist(), reverse=True)),
        warnings=() if len(scores) >= needed else (too_few,),
    )


# What dev is asked in a run.


@dataclass(frozen=True, slots=True)
class Probe:
    """Dev inputs of a task, in the form of the pool's (its friends label them too), and whether a prediction is right.

    They serve to find a threshold and are never trained on; `right` gives None where nobody knows. `parts` tells more:
    how many parts of a label are right, of how many. No promise holds for
    a pool of another domain than theirs: whoever knows that they differ says so.
    """

    inputs: Sequence[Any]
    right: Callable[[Prediction], bool | None]
    other_domain: bool = False
    parts: Callable[[Prediction], PRF | None] | None = None

    def count(self, prediction: Prediction) -> PRF | None:
        """How much of a prediction is right, part by part where labels have parts."""
        if self.parts is not None:
            return self.parts(prediction)
        right = self.right(prediction)
        return None if right is None else PRF(int(right), 1, 1)


def friends_of(name: str, friendships: Sequence[Friendship]) -> list[Friendship]:
    return [friendship for friendship in friendships if name in (friendship.first, friendship.second)]


def probed(
    name: str, probe: Probe, tasks: Mapping[str, Task], friendships: Sequence[Friendship], *, aggregate: Aggregation
) -> pa.Table:
    """The predictions of the task, as it is now, for the probe: the rows that labelling a pool of these inputs would
    give.

    `tasks` and `friendships` are the whole run's; only those that have to do with this task do anything.
    """
    between = friends_of(name, friendships)
    names = {name} | {other for friendship in between for other in (friendship.first, friendship.second)}
    queried = {other: task for other, task in tasks.items() if other in names}

    def audit(task: str, prediction: Prediction) -> bool | None:
        return probe.right(prediction) if task == name else None

    rows = label_shard(queried, between, probe.inputs, aggregate=aggregate, audit=audit)
    return rows.filter(pc.equal(rows["task"], name))


def considered(name: str, probe: Probe, tasks: Mapping[str, Task], friendships: Sequence[Friendship]) -> Considered:
    """What the labels of a task would be decided by if the probe were the pool."""
    between = [friendship for friendship in friendships if friendship.joint(name) is not None]
    names = {name} | {other for friendship in between for other in (friendship.first, friendship.second)}
    with asked_together([tasks[other] for other in names], between):
        predictions = {other: tasks[other].predict(probe.inputs) for other in tasks if other in names}
        return consider(name, between, tasks, probe.inputs, predictions)


@dataclass(frozen=True, slots=True)
class FoundOnDev:
    """What a selector that needs dev has from it: a threshold if it aims at something, a score if it learns one."""

    aimed: Aimed | None = None
    gate: Gate | None = None
    warnings: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """The record of one task; `decided` goes by it."""
        record = {} if self.aimed is None else self.aimed.as_dict()
        if self.gate is not None:
            record["score"] = self.gate.as_dict()
        warnings = [*record.get("warnings", ()), *self.warnings]
        return record | ({"warnings": warnings} if warnings else {})


def find_on_dev(selector: Selector, rows: pa.Table, *, warnings: Sequence[str] = ()) -> FoundOnDev:
    """Ask the rows of a probe for what the selector needs; `warnings` are what speaks against any promise."""
    known = rows.filter(pc.is_valid(rows["correct"]))
    right = known["correct"].to_numpy(zero_copy_only=False).astype(np.bool_)
    paper = replace(selector, score="paper")
    scores = scores_of(known)
    overall, possible, gate = paper.overall(scores), paper.possible(scores), None
    if selector.score == "learned":
        gate = fit_gate(known, overall)
        if gate.score is not None:
            overall, possible = gate.on_dev, selector.possible(scores)
    match selector.pick:
        case Precision() as aim:
            return FoundOnDev(threshold_for_precision(overall[possible], right[possible], aim), gate, tuple(warnings))
        case FalseDiscovery(level):
            return FoundOnDev(_discovering(overall[possible], right[possible], level), gate, tuple(warnings))
        case _:
            return FoundOnDev(None, gate)


@dataclass(frozen=True, slots=True)
class Decided:
    """A selector that can choose, the score it goes by if that was learned, and what is to be remembered."""

    selector: Selector
    score: LearnedScore | None
    summary: Mapping[str, Any]


def decided(selector: Selector, record: Mapping[str, Any], pool: Callable[..., Iterable[Scores]]) -> Decided:
    """The selector with what dev had for it; `pool(learned=…)` gives the scores of the units to choose from."""
    score = None
    if selector.score == "learned":
        learned = record["score"]
        score = None if "why_not" in learned else LearnedScore.from_dict(learned)
        selector = selector if score is not None else replace(selector, score="paper")
    on_dev = {name: value for name, value in record.items() if name not in ("threshold", "wrong")}
    threshold: float | None = record.get("threshold")
    match selector.pick:
        case Precision():
            pass
        case FalseDiscovery(level):
            if record["reached"]:
                scores = (selector.overall(batch)[selector.possible(batch)] for batch in pool(learned=score))
                threshold = false_discovery_threshold(record["wrong"], record["units"], level, scores)
            on_dev["reached"] = threshold is not None
        case _:
            return Decided(selector, score, {"on_dev": on_dev})
    selector = replace(selector, pick=Nothing() if threshold is None else Threshold(threshold))
    return Decided(selector, score, {"threshold": threshold, "on_dev": on_dev})


# What the friends' word weighs where labels are decided on together.

WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""γ that are tried; 0 is one's own label."""

TEMPERATURES = (1.0, 2.0, 4.0)


@dataclass(frozen=True, slots=True)
class Weighed:
    """γ of each friendship and the temperature that were found on dev. `score` and `own` are F1 over the parts of the
    labels (for labels of one part, the share that is right) with and without the friends."""

    weights: Mapping[str, float]
    temperature: float
    score: float
    own: float
    units: int


def weigh_friends(considered: Considered, count: Callable[[Prediction], PRF | None]) -> Weighed:
    """Find what each friend's word is worth: the weights under which most of the labels of dev are right.

    One friend after the other, twice, the weights of the others being fixed; of equals the smallest. What a setting
    fixes is not looked for. `count` says how much of a label is right, None where nobody knows.
    """
    joints = [one.joint for one in considered.opinions if one.joint.ranks]
    names = [one.friendship.name for one in considered.opinions if one.joint.ranks]
    own = [count(unit) for units in considered.own for unit in units]
    # Of each candidate of each unit whose label is known: correct, predicted, gold.
    counts = [
        None if count(unit) is None else np.stack([(count(one) or PRF()).as_array() for one in found])
        for units, candidates in zip(considered.own, considered.candidates, strict=True)
        for unit, found in zip(units, candidates, strict=True)
    ]

    def score(weights: Sequence[float], temperature: float) -> float:
        total = np.zeros(3)
        scores = (of_unit for of_input in considered.scores(weights, temperature) for of_unit in of_input)
        for known, of_unit in zip(counts, scores, strict=True):
            if known is not None:
                total += known[int(np.argmax(of_unit))]
        return float(f1_of(total))

    given = joints[0].temperature
    best: Weighed | None = None
    for temperature in TEMPERATURES if isinstance(given, str) else (given,):
        weights = [0.0 if isinstance(one.match_weight, str) else one.match_weight for one in joints]
        for _ in range(2 if len(joints) > 1 else 1):
            for place, joint in enumerate(joints):
                if isinstance(joint.match_weight, str):
                    tried = [[*weights[:place], weight, *weights[place + 1 :]] for weight in WEIGHTS]
                    reached = [score(one, temperature) for one in tried]
                    weights = tried[int(np.argmax(reached))]  # the first of equals
        found = score(weights, temperature)
        if best is None or found > best.score:
            of_own = sum((one for one in own if one is not None), PRF()).f1
            known = sum(one is not None for one in own)
            best = Weighed(dict(zip(names, weights, strict=True)), temperature, found, of_own, known)
    assert best is not None, "there is at least one temperature"
    return best


def with_weights(friendships: Sequence[Friendship], record: Mapping[str, Mapping[str, Any]]) -> list[Friendship]:
    """The friendships with what was found on dev, task by task, in the place of "auto"."""
    found = list(friendships)
    for task, weighed in record.items():
        for place, friendship in enumerate(found):
            joint = friendship.joint(task)
            if joint is not None and friendship.name in weighed["weights"]:
                weight, temperature = weighed["weights"][friendship.name], weighed["temperature"]
                joint = replace(joint, match_weight=weight, temperature=temperature)
                found[place] = friendship.with_joint(task, joint)
    return found


# When to stop: agreement is worth something as long as friends do not copy each other.


def agreement_on_dev(rows: pa.Table) -> dict[str, Any]:
    """What total agreement is worth on the rows of a probe; None: nothing to count.

    `agreed_when_wrong` is q = ρ + (1 − ρ)ε of the theory (docs/theory.md): it grows as the friends' errors come to
    depend on each other. `error` is the share of wrong labels among those they agree on, `error_of_all` among all.
    """
    known = rows.filter(pc.and_(pc.is_valid(rows["correct"]), pc.is_valid(rows["match"])))
    right = known["correct"].to_numpy(zero_copy_only=False).astype(np.bool_)
    agreed = known["match"].to_numpy() == 1.0
    return {
        "units": len(known),
        "agreed": _mean(agreed),
        "agreed_when_wrong": _mean(agreed[~right]),
        "error": _mean(~right[agreed]),
        "error_of_all": _mean(~right),
    }


def copying(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the friends agree more often than an iteration ago only because they copy each other.

    For every task: more agreement where it is wrong, and agreed labels that are no better than they were.
    """
    if not before or not now:
        return False
    return all(
        _grew(before[name]["agreed_when_wrong"], now[name]["agreed_when_wrong"])
        and _grew(before[name]["error"], now[name]["error"], or_stayed=True)
        for name in now
    )


def _grew(before: float | None, now: float | None, *, or_stayed: bool = False) -> bool:
    return before is not None and now is not None and (now > before or (or_stayed and now == before))


def _mean(values: NDArray[np.bool_]) -> float | None:
    return float(values.mean()) if len(values) else None
