"""Select from the labelled shards of one iteration: the second half of Algorithm 1's inner loop.

Both passes stream over the store; what stays in memory is one shard and the numbers a selector holds.

A selector can go by a learned score instead of Eq. 5: a logistic regression on dev, labelled as if it had no labels,
says how probably a pseudo-label is right. It sees the log-odds of the confidence, the matching score of every friend
(and that there was none), margin where the store has it, length and kind of the label, number of opinions. Its
coefficients say what each of them is worth. Every dev unit gets its own score from a fit that has not seen its input,
so that thresholds can be found on the same dev.

Or it goes by votes: how probably the label is right by the opinions of the task and two friends or more, each as
reliable as all of them make it look.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import rankdata

from friend_training.core.friendship import Friendship
from friend_training.core.selector import Cutoff, FloatColumn, Line, Selector, Share
from friend_training.core.task import draws
from friend_training.runs.corrections import Ruling, overruled, places_of, with_labels_by_hand
from friend_training.runs.store import Store, scores_of, with_decisions

Column = NDArray[np.float64]

FEWEST_UNITS = 100
"""With fewer dev units nothing is fitted, and the score is the paper's mix of confidence and match."""

FEWEST_OF_EACH = 20
"""So many must be right, and so many wrong."""

FEWEST_OF_KIND = 10
"""A kind of label that dev has more rarely has no coefficient of its own."""

FOLDS = 5

_PENALTY = 1.0
"""On the squares of the coefficients of features that have a deviation of 1."""

_SUREST = 1e-4
"""Confidences are held this far from 0 and 1."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one unit of a feature adds to the log-odds of being right, all else being equal."""

    feature: str
    log_odds: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class LearnedScore:
    """A fitted score. `friends` and `kinds` are those that it knows; any other kind counts as the average one.

    `ranking` is the share of pairs of one right and one wrong dev unit in which a score puts the right one first: this
    score (of units that its fit has not seen) and the paper's mix. `scale` and `shift` make the log-odds of unseen
    units meet how often they are right.
    """

    friends: tuple[str, ...]
    kinds: tuple[str, ...]
    numbers: tuple[str, ...]
    intercept: float
    coefficients: tuple[Coefficient, ...]
    scale: float
    shift: float
    units: int
    right: int
    ranking: Mapping[str, float]

    def __call__(self, rows: pa.Table) -> Column:
        """P(right) of each row of a labelled store."""
        features = np.column_stack(list(_features(rows, self.friends, self.kinds, self.numbers).values()))
        odds = self.intercept + features @ np.array([one.log_odds for one in self.coefficients])
        return np.asarray(expit(self.shift + self.scale * odds))

    def as_dict(self) -> dict[str, Any]:
        """As the record of a step has it; `from_dict` reads it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "LearnedScore":
        coefficients = tuple(Coefficient(**one) for one in record["coefficients"])
        names = {name: tuple(record[name]) for name in ("friends", "kinds", "numbers")}
        return cls(**{**record, **names, "coefficients": coefficients})


@dataclass(frozen=True, slots=True)
class Gate:
    """What came of fitting a score on dev: the score, with P(right) of the dev units; or why there is none."""

    score: LearnedScore | None
    on_dev: Column
    why_not: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"why_not": self.why_not} if self.score is None else self.score.as_dict()


def fit_gate(rows: pa.Table, paper: Column) -> Gate:
    """Fit the score on rows of a labelled store whose `correct` is known; `paper` is the paper's score of each."""
    right = rows["correct"].to_numpy(zero_copy_only=False).astype(np.bool_)
    rarer = int(min(right.sum(), (~right).sum()))
    if len(right) < FEWEST_UNITS or rarer < FEWEST_OF_EACH:
        why = (
            f"dev has {len(right)} units, {int(right.sum())} of them right: a learned score needs {FEWEST_UNITS},"
            f" at least {FEWEST_OF_EACH} right and {FEWEST_OF_EACH} wrong; the paper's score is taken"
        )
        return Gate(None, paper, why)
    friends = sorted({name for matches in rows["matches"].to_pylist() for name, _ in matches})
    counts = Counter(_kinds(rows))
    kinds = sorted(kind for kind, count in counts.items() if count >= FEWEST_OF_KIND)
    numbers = [name for name in ("margin",) if name in rows.column_names]
    columns = _features(rows, friends, kinds if len(kinds) > 1 else [], numbers)
    features = np.column_stack(list(columns.values()))
    fold = draws(rows["input"].to_pylist(), "fold") % FOLDS
    odds = np.zeros(len(right))
    for held in range(FOLDS):
        out = fold == held
        if out.any():
            odds[out] = _odds(_fit(features[~out], right[~out]), features[out])
    shift, scale = _platt(odds, right)
    fit = _fit(features, right)
    unseen = np.asarray(expit(shift + scale * odds))
    score = LearnedScore(
        friends=tuple(friends),
        kinds=tuple(kinds) if len(kinds) > 1 else (),
        numbers=tuple(numbers),
        intercept=float(fit.weights[0]),
        coefficients=tuple(
            Coefficient(name, float(weight), float(error))
            for name, weight, error in zip(columns, fit.weights[1:], fit.errors, strict=True)
        ),
        scale=scale,
        shift=shift,
        units=len(right),
        right=int(right.sum()),
        ranking={"learned": ranked_right(unseen, right), "paper": ranked_right(paper, right)},
    )
    return Gate(score, unseen)


def ranked_right(scores: Column, right: NDArray[np.bool_]) -> float:
    """Of all pairs of a right and a wrong unit the share in which the right one scores higher; equal counts half.

    Units without a score (NaN) come last.
    """
    ranks = rankdata(np.where(np.isnan(scores), -np.inf, scores))
    good, bad = int(right.sum()), int((~right).sum())
    return float((ranks[right].sum() - good * (good + 1) / 2) / (good * bad)) if good and bad else 0.5


def _kinds(rows: pa.Table) -> list[str]:
    found: list[str] = pc.coalesce(rows["kind"], rows["label"]).to_pylist()
    return found


def _features(
    rows: pa.Table, friends: Sequence[str], kinds: Sequence[str], numbers: Sequence[str]
) -> dict[str, Column]:
    """The columns by name. Nothing to match is a match of 0 and a column of its own."""
    columns: dict[str, Column] = {
        "confidence, log-odds": logit(np.clip(rows["confidence"].to_numpy(), _SUREST, 1 - _SUREST))
    }
    matches = [dict(found) for found in rows["matches"].to_pylist()]
    opinions = np.zeros(len(rows))
    for friend in friends:
        match = np.array([found.get(friend) for found in matches], np.float64)  # None → NaN
        opinions += ~np.isnan(match)
        columns[f"match of {friend}"] = np.nan_to_num(match)
        columns[f"nothing to match for {friend}"] = np.isnan(match).astype(np.float64)
    if len(friends) > 1:
        columns["number of opinions"] = opinions
    for name in numbers:
        columns[name] = np.nan_to_num(rows[name].to_numpy(zero_copy_only=False).astype(np.float64))
    columns["has content"] = rows["content"].to_numpy(zero_copy_only=False).astype(np.float64)
    columns["length of the label, log"] = np.log(pc.utf8_length(rows["label"]).to_numpy().astype(np.float64))
    of_row = _kinds(rows)
    for kind in kinds:
        columns[f"kind {kind}"] = np.array([name == kind for name in of_row], np.float64)
    return columns


@dataclass(frozen=True, slots=True)
class _Fit:
    weights: Column  # intercept first
    errors: Column


def _odds(fit: _Fit, features: Column) -> Column:
    return np.asarray(fit.weights[0] + features @ fit.weights[1:])


def _fit(features: Column, right: NDArray[np.bool_]) -> _Fit:
    """Logistic regression with a penalty on standardised features; weights and errors are per unit of the raw ones."""
    mean, deviation = features.mean(0), features.std(0)
    varied = deviation > 1e-12
    scaled = (features[:, varied] - mean[varied]) / deviation[varied]
    design = np.column_stack([np.ones(len(right)), scaled])
    penalty = np.full(design.shape[1], _PENALTY)
    penalty[0] = 0.0
    found = _minimum(design, right, penalty)
    p = expit(design @ found)
    information = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    weights, raw_errors = np.zeros(features.shape[1]), np.zeros(features.shape[1])
    weights[varied] = found[1:] / deviation[varied]
    raw_errors[varied] = errors[1:] / deviation[varied]
    return _Fit(np.append(found[0] - weights @ mean, weights), raw_errors)


def _platt(odds: Column, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Shift and scale under which log-odds meet how often units are right, held near 0 and 1 where dev is small."""
    design = np.column_stack([np.ones(len(odds)), odds])
    shift, scale = _minimum(design, right, np.array([1.0, 1.0]), towards=np.array([0.0, 1.0]))
    return float(shift), float(max(scale, 1e-3))  # never turned round


def _minimum(design: Column, right: NDArray[np.bool_], penalty: Column, towards: Column | None = None) -> Column:
    """Weights of the least penalised negative log-likelihood."""
    start = np.zeros(design.shape[1]) if towards is None else towards
    signs = np.where(right, 1.0, -1.0)

    def loss(weights: Column) -> tuple[float, Column]:
        margins = signs * (design @ weights)
        away = weights - start
        value = np.logaddexp(0, -margins).sum() + (penalty * away**2).sum() / 2
        return float(value), -design.T @ (signs * expit(-margins)) + penalty * away

    solve: Callable[..., Any] = minimize
    return np.asarray(solve(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-12}).x)


# Votes: what the opinions of three or more sources come to, over the whole pool.

Count = Callable[[NDArray[np.int64], int], tuple[Column, Column]]
"""Opinions [units, sources], numbers from 0 or -1 for none, and how many there are: the probability of each opinion
[units, opinions] to be the true one, and how often each source is right [sources]."""

SILENT = -1


@dataclass(frozen=True, slots=True)
class Voted:
    """P(right) of units by votes. `sources` are the task and its friends, with how often each is right."""

    of_unit: Mapping[str, float]
    sources: Mapping[str, float]

    def __call__(self, rows: pa.Table) -> Column:
        return np.array([self.of_unit[unit] for unit in rows["unit"].to_pylist()], np.float64)


def opinions_of(
    name: str, friendships: Sequence[Friendship], inputs: Sequence[Any], predictions: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """For each unit of a task its own opinion in Σ and those of its friends; None where somebody has none, or several.

    The common spaces of all its friendships must be one, in which a translation has an element for each unit.
    """
    found: dict[str, list[Any]] = {unit.unit: [] for units in predictions[name] for unit in units}
    for place, friendship in enumerate(friendships):
        sides = (
            friendship.translate_first(inputs, predictions[friendship.first]),
            friendship.translate_second(inputs, predictions[friendship.second]),
        )
        own, friends = sides if name == friendship.first else sides[::-1]
        for units, mine, theirs in zip(predictions[name], own, friends, strict=True):
            for number, unit in enumerate(units):
                if place == 0:
                    found[unit.unit].append(_opinion(mine[number]))
                at = number if len(theirs) == len(units) else 0
                found[unit.unit].append(_opinion(theirs[at]) if theirs else None)
    return found


def _opinion(element: Any) -> Any:
    """What can be voted for: an element of Σ; of a set of meanings the only one."""
    if isinstance(element, frozenset):
        return next(iter(element)) if len(element) == 1 else None
    return element


def count_opinions(opinions: Mapping[str, Sequence[Any]], sources: Sequence[str], count: Count) -> Voted:
    """P(right) of each unit; 0 for one whose task has no opinion, or several."""
    names = sorted({one for said in opinions.values() for one in said if one is not None}, key=str)
    number = {name: place for place, name in enumerate(names)} | {None: SILENT}
    given = np.array([[number[one] for one in said] for said in opinions.values()], np.int64)
    if len(names) < 2:
        return Voted({unit: float(said[0] is not None) for unit, said in opinions.items()}, {})
    posterior, reliability = count(given, len(names))
    own = np.where(given[:, 0] == SILENT, 0.0, posterior[np.arange(len(given)), given[:, 0]])
    return Voted(dict(zip(opinions, own.tolist(), strict=True)), dict(zip(sources, reliability.tolist(), strict=True)))


def select_iteration(
    store: Store,
    iteration: int,
    shards: int,
    selectors: Mapping[str, Selector],
    *,
    learned: Mapping[str, Callable[[pa.Table], FloatColumn]] | None = None,
    by_hand: Mapping[str, Mapping[str, Ruling]] | None = None,
    advanced: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, dict[str, Any]]:
    """Write the shards with their decisions and return, per task, what was chosen. Labelled shards stay as they are.

    `learned` gives P(right) of rows, for the tasks whose selectors go by it. `by_hand` is what people ruled on
    units, by task: it goes over what the selectors decide.
    """
    learned = learned or {}
    cutoffs = {}
    for name, selector in selectors.items():
        balanced = selector.balance is not None
        batches = store.labelled_scores(iteration, shards, name, labels=balanced, learned=learned.get(name))
        cutoffs[name] = selector.cutoff(batches)
    tallies = {name: Tally() for name in selectors}
    for shard in range(shards):
        labelled = store.labelled(iteration, shard)
        before = store.selected(iteration - 1, shard, ["task", "unit", "label"]) if iteration > 1 else None
        decided = []
        for name, selector in selectors.items():
            rows = _of_task(labelled, name)
            scores = scores_of(rows, labels=selector.balance is not None, learned=learned.get(name))
            places = places_of(scores.unit, (by_hand or {}).get(name, {}))
            rows = with_decisions(rows, overruled(selector.decide(scores, cutoffs[name]), places))
            rows = with_labels_by_hand(rows, places)
            tallies[name].add(rows, None if before is None else _of_task(before, name))
            decided.append(rows)
        store.write_selected(iteration, shard, pa.concat_tables(decided))
        advanced(shard + 1, shards)
    return {name: tally.summary() | _threshold_of(selectors[name], cutoffs[name]) for name, tally in tallies.items()}


def _threshold_of(selector: Selector, line: Line) -> dict[str, float | None]:
    """Of a share the threshold that it came to in this iteration; any other is set, or on record where it was found.

    Where each kind of label has its own, it is the strictest of them.
    """
    if not isinstance(selector.pick, Share):
        return {}
    lines = [line] if isinstance(line, Cutoff) else list(line.of.values())
    found = [one.score for one in lines if not math.isnan(one.score)]
    return {"threshold": max(found, default=None)}


@dataclass(slots=True)
class Tally:
    """Sums over the shards of one task."""

    units: int = 0
    chosen: int = 0
    chosen_with_content: int = 0
    confidence: float = 0.0
    matched: int = 0
    match: float = 0.0
    audited: int = 0
    correct: int = 0
    chosen_audited: int = 0
    chosen_correct: int = 0
    seen_before: int = 0
    changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, rows: pa.Table, before: pa.Table | None) -> None:
        chosen = rows.filter(rows["chosen"])
        self.units += len(rows)
        self.chosen += len(chosen)
        self.chosen_with_content += pc.sum(chosen["content"]).as_py() or 0
        self.confidence += pc.sum(rows["confidence"]).as_py() or 0.0
        self.matched += pc.count(rows["match"]).as_py()
        self.match += pc.sum(rows["match"]).as_py() or 0.0
        self.audited += pc.count(rows["correct"]).as_py()
        self.correct += pc.sum(rows["correct"]).as_py() or 0
        self.chosen_audited += pc.count(chosen["correct"]).as_py()
        self.chosen_correct += pc.sum(chosen["correct"]).as_py() or 0
        for counted in pc.value_counts(rows["reason"]).to_pylist():
            self.reasons[counted["values"]] += counted["counts"]
        if before is not None:
            place = pc.index_in(rows["unit"], value_set=before["unit"].combine_chunks())
            changed = pc.not_equal(rows["label"], before["label"].take(place))  # null: not seen before
            self.seen_before += pc.count(changed).as_py()
            self.changed += pc.sum(changed).as_py() or 0

    def summary(self) -> dict[str, Any]:
        """Shares are None where there is nothing to take a share of.

        `accuracy` is over all audited units and `precision` over the chosen ones: the paper's whole point is that the
        second is higher. `changed` is the share of units labelled otherwise than an iteration ago.
        """
        return {
            "units": self.units,
            "chosen": self.chosen,
            "chosen_with_content": self.chosen_with_content,
            "mean_confidence": _share(self.confidence, self.units),
            "mean_match": _share(self.match, self.matched),
            "accuracy": _share(self.correct, self.audited),
            "precision": _share(self.chosen_correct, self.chosen_audited),
            "changed": _share(self.changed, self.seen_before),
            "reasons": dict(sorted(self.reasons.items())),
        }


def _of_task(rows: pa.Table, task: str) -> pa.Table:
    return rows.filter(pc.equal(rows["task"], task))


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
