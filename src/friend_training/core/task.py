"""What a task is to friend-training: a name, a type of label and four verbs (fit, predict, evaluate, save/load)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


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
    """What training did: steps taken, the step whose weights were saved, and the dev score there."""

    steps: int
    best_step: int
    best_score: float


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
