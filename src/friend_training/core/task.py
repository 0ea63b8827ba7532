"""What a task is to friend-training: a name, a type of label and four verbs (fit, predict, evaluate, save/load).

What it gets right is counted: metrics are ratios of counts, and counts of parts add up to the counts of the whole.

Seeds and draws come from hashed names, so that chance depends on what something is and never on when it happens.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.float64]


def ratio(numerator: Any, denominator: Any) -> Counts:
    """numerator / denominator, and 0 where the denominator is 0: nothing predicted earns nothing."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    result: Counts = np.zeros(shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def checked(scores: ArrayLike, correct: ArrayLike) -> tuple[Counts, NDArray[np.bool_]]:
    """Scores and whether each was right, as arrays of one length."""
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    if values.ndim != 1 or values.shape != right.shape or not len(values):
        raise ValueError(f"expected as many scores as verdicts, and some, got {values.shape} and {right.shape}")
    return values, right


class Score:
    """Counts over some units: those of two sets of units add up to those of both.

    A frozen dataclass of numbers, tuples of numbers, and scores; `as_dict` says what metrics they come to.
    """

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(_sum, self._counts(), other._counts()))

    def as_array(self) -> Counts:
        """All counts in the order of the fields."""
        return np.array([number for count in self._counts() for number in _numbers(count)], dtype=np.float64)

    def as_dict(self) -> dict[str, float]:
        raise NotImplementedError

    def _counts(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]


def _sum(mine: Any, its: Any) -> Any:
    return tuple(map(_sum, mine, its)) if isinstance(mine, tuple) else mine + its


def _numbers(count: Any) -> Iterable[float]:
    if isinstance(count, Score):
        return count.as_array()
    return count if isinstance(count, tuple) else (count,)


class Evaluation(Mapping[str, float]):
    """The metrics of a task on gold examples, by name, and the counts that they are made of.

    `counts` [groups, k] has a row for each group of units that belong together (those of one dialogue): any sum of rows
    gives the metrics of those groups, which is what significance tests draw from. A task that does not count has none.
    `kinds` says the same of each kind of label (a class, a role) by itself, where a task tells them apart.
    """

    def __init__(
        self, metrics: Mapping[str, float], counts: Counts | None = None, kinds: Mapping[str, "PRF"] | None = None
    ) -> None:
        self.metrics, self.counts, self.kinds = metrics, counts, kinds or {}

    @classmethod
    def of(
        cls,
        units: Sequence[Score],
        nothing: Score,
        groups: Sequence[Hashable] | None = None,
        kinds: Mapping[str, "PRF"] | None = None,
    ) -> "Evaluation":
        """What the scores of single units come to; by default each unit is a group of its own."""
        rows = np.stack([unit.as_array() for unit in units]) if units else np.empty((0, nothing.as_array().size))
        total = nothing
        for unit in units:
            total = total + unit
        return cls(total.as_dict(), rows if groups is None else group_counts(rows, groups), kinds)

    def __getitem__(self, name: str) -> float:
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)


def group_counts(counts: Counts, groups: Sequence[Hashable]) -> Counts:
    """Sum the counts of units [units, k] that belong to the same group → [groups, k], by first appearance."""
    if len(counts) != len(groups):
        raise ValueError(f"expected one group per unit, got {len(counts)} units and {len(groups)} groups")
    rows: dict[Hashable, int] = {}
    places = [rows.setdefault(group, len(rows)) for group in groups]
    summed = np.zeros((len(rows), counts.shape[1]))
    np.add.at(summed, places, counts)
    return summed


def f1_of(counts: Counts) -> Counts:
    """F1 in [0, 1] of counts [..., (correct, predicted, gold)]: the harmonic mean of precision and recall."""
    return ratio(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


@dataclass(frozen=True, slots=True)
class PRF(Score):
    """How many were predicted, how many there are, and how many of the predicted are right. Ratios are in [0, 1]."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @classmethod
    def of(cls, predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> "PRF":
        """Compare two collections; what occurs twice must be predicted twice."""
        predicted_counts, gold_counts = Counter(predicted), Counter(gold)
        return cls((predicted_counts & gold_counts).total(), predicted_counts.total(), gold_counts.total())

    @property
    def precision(self) -> float:
        return float(ratio(self.correct, self.predicted))

    @property
    def recall(self) -> float:
        return float(ratio(self.correct, self.gold))

    @property
    def f1(self) -> float:
        return float(f1_of(self.as_array()))

    def as_dict(self, prefix: str = "") -> dict[str, float]:
        """Precision, recall and F1 in percent."""
        return {
            f"{prefix}precision": 100 * self.precision,
            f"{prefix}recall": 100 * self.recall,
            f"{prefix}f1": 100 * self.f1,
        }


def by_kind(predicted: Iterable[Hashable], gold: Iterable[Hashable], kind_of: Callable[[Any], str]) -> dict[str, PRF]:
    """What of each kind was predicted, is there and is right; the kinds that gold has most of come first."""
    found: dict[str, tuple[list[Hashable], list[Hashable]]] = {}
    for place, things in enumerate((predicted, gold)):
        for thing in things:
            found.setdefault(kind_of(thing), ([], []))[place].append(thing)
    scores = {kind: PRF.of(*both) for kind, both in found.items()}
    return dict(sorted(scores.items(), key=lambda one: (-one[1].gold, one[0])))


class Input(Protocol):
    """Whatever a task labels. The core only ever uses its id."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """A label for one unit: the smallest thing that is labelled, scored and chosen by itself.

    `unit` is unique within its task over the whole pool. `content` tells whether the label has any content
    (an argument, an insertion): the empty answer is often the surest and the least useful one. `kind` is what a
    selector balances by where labels are too many to count singly; without one, by the label itself.
    """

    unit: str
    label: Any
    confidence: float
    content: bool = True
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class PseudoLabel:
    """A chosen prediction on its way into training, with its weight in the loss: λ of Eq. 1 is in it."""

    input: Input
    unit: str
    label: Any
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How one call of `fit` should train.

    `restart` forgets what was learnt (back to the pre-trained encoder); otherwise training goes on from the current
    weights. `steps` is the budget in optimizer steps: with pseudo-labels an epoch has no fixed length. `patience` stops
    after so many evaluations on dev without a gain; None uses the whole budget. `pseudo_weight` is λ of Eq. 1. The
    weights of pseudo-labels have it in them; it is here for methods that learn from inputs without a label.
    """

    seed: int
    steps: int
    restart: bool = False
    patience: int | None = None
    pseudo_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class FitSummary:
    """What training did: steps taken, the step whose weights were saved, and the dev score there.

    `curve` has every (step, dev score) that training stopped to see; a task that never does has none.
    """

    steps: int
    best_step: int
    best_score: float
    curve: tuple[tuple[int, float], ...] = ()


@runtime_checkable
class Task(Protocol):
    """A task: a model behind four verbs. Plain frozen dataclasses cross this line, nothing else.

    `label_type` is anything pydantic can read and write as JSON (`str`, a frozen dataclass, …), so that the store can
    keep labels. `main_metric` names the entry of `evaluate` by which iterations are compared on dev, higher is better.
    """

    @property
    def name(self) -> str: ...

    @property
    def label_type(self) -> Any: ...

    @property
    def main_metric(self) -> str: ...

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        """Train on gold and chosen pseudo-labels (Eq. 1) and keep the weights that are best on dev."""
        ...

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        """Label every unit of every input; one list per input, in the order given."""
        ...

    def evaluate(self, gold: Sequence[Any]) -> Mapping[str, float]:
        """Score the model on gold examples; an `Evaluation` also has the counts that significance tests draw from."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `load` needs into an existing empty folder."""
        ...

    def load(self, folder: Path) -> None:
        """Become the task that was saved there."""
        ...


def is_trained(task: Task) -> bool:
    """Whether a task learns at all; rules, files of answers and services say `trained = False`."""
    return bool(getattr(task, "trained", True))


def takes_steps(task: Task) -> bool:
    """Whether training it longer means anything; a model that is fitted anew each time says `takes_steps = False`."""
    return is_trained(task) and bool(getattr(task, "takes_steps", True))


def derived_seed(*parts: str | int) -> int:
    """A seed for one piece of work, such as (run seed, task, iteration). It fits in 31 bits: every library takes it."""
    return int.from_bytes(_digest(_joined(parts)), "big") >> 33


def draws(units: Sequence[str], *parts: str | int) -> npt.NDArray[np.uint64]:
    """A uniform 64-bit number for each unit, the same in whatever order or batch the units come."""
    prefix = _joined(parts) + "\x1f"
    return np.frombuffer(b"".join(_digest(prefix + unit) for unit in units), dtype=">u8").astype(np.uint64)


def _joined(parts: Sequence[str | int]) -> str:
    return "\x1f".join(str(part) for part in parts)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
