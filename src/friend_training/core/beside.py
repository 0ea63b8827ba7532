"""Tasks that learn what their friends learn beside their own labels: the core hands it over, a method says how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from friend_training.core.task import FitPlan, FitSummary, PseudoLabel, Task


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a task is trained on in one iteration: gold, and what was chosen for it (Eq. 1; λ is `pseudo_weight`)."""

    gold: Sequence[Any]
    pseudo: Sequence[PseudoLabel] = ()
    pseudo_weight: float = 1.0


@runtime_checkable
class LearnsBeside(Task, Protocol):
    """A task that can be trained on its friends' lessons as well; what dev says of the friends does not count."""

    def fit_beside(
        self,
        gold: Sequence[Any],
        pseudo: Sequence[PseudoLabel],
        *,
        beside: Mapping[str, Lesson],
        dev: Sequence[Any],
        plan: FitPlan,
    ) -> FitSummary: ...
