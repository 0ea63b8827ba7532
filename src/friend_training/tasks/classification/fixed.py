"""A friend that is never trained: a rule, an outside service or a file of predictions, as a task of the loop."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.errors import FriendTrainingError, RunError
from friend_training.tasks.classification.metrics import ClassMetric, classification_scores
from friend_training.tasks.classification.prediction_file import read_predictions

NOTE = "task.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a fixed friend says of one input, and how sure it is."""

    label: str
    confidence: float = 1.0


Answers = Callable[[Sequence[Any]], Sequence[Answer | None]]
"""A batch of inputs → one answer each; None where the friend has nothing to say, and then there is nothing to match."""


class FixedTask:
    """Whatever answers, as a friend: it predicts and matches, `fit` does nothing, and none of its labels are chosen.

    Its plan is `core.plan.fixed_friend(task)`: no gold, no training, and dev only if you want to see it scored.
    `version` names the thing that answers. It is kept in the run folder, and a run that is resumed with another
    version is refused. The pool is asked anew in every iteration: what costs money or changes its mind (a service)
    should be asked once, its answers written to a file, and the file used (`from_file`, which takes the file's digest
    as its version).
    """

    label_type: Any = str

    def __init__(
        self, name: str, answers: Answers, *, version: str = "", main_metric: ClassMetric = "accuracy"
    ) -> None:
        self.name, self.version, self.main_metric = name, version, main_metric
        self._answers = answers

    @classmethod
    def from_rule(cls, name: str, rule: Callable[[Any], str | None], *, version: str = "") -> "FixedTask":
        """A function of one input. It is never in doubt: its confidence is 1."""

        def answers(inputs: Sequence[Any]) -> list[Answer | None]:
            return [None if label is None else Answer(label) for label in map(rule, inputs)]

        return cls(name, answers, version=version)

    @classmethod
    def from_file(cls, name: str, path: str | Path) -> "FixedTask":
        """Predictions made elsewhere, by the id of the input (see prediction_file.py)."""
        path = Path(path)
        predictions = read_predictions(path)

        def answers(inputs: Sequence[Any]) -> list[Answer | None]:
            found = [predictions.of(given.id) for given in inputs]
            return [None if line.label is None else Answer(line.label, line.confidence) for line in found]

        return cls(name, answers, version=predictions.digest)

    def fit(
        self, gold: Sequence[Any], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Any], plan: FitPlan
    ) -> FitSummary:
        return FitSummary(steps=0, best_step=0, best_score=math.nan)

    def predict(self, inputs: Sequence[Any]) -> list[list[Prediction]]:
        if not inputs:
            return []
        answers = self._answers(inputs)
        if len(answers) != len(inputs):
            raise FriendTrainingError(f"task {self.name}: {len(answers)} answers for {len(inputs)} inputs")
        return [
            [] if answer is None else [Prediction(given.id, answer.label, answer.confidence)]
            for given, answer in zip(inputs, answers, strict=True)
        ]

    def evaluate(self, gold: Sequence[tuple[Any, str]]) -> Mapping[str, float]:
        """No answer is a wrong one."""
        predicted = self.predict([given for given, _ in gold])
        return classification_scores(
            [units[0].label if units else None for units in predicted], [label for _, label in gold]
        )

    def save(self, folder: Path) -> None:
        """There are no weights: what is kept is a note of who answered."""
        (folder / NOTE).write_text(json.dumps(self._note()) + "\n", encoding="utf-8")

    def load(self, folder: Path) -> None:
        if not (folder / NOTE).is_file():
            raise RunError(f"{folder}: there is no fixed friend here; {NOTE} was expected")
        found = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        if found != self._note():
            raise RunError(f"{folder}: the fixed friend of this run was {found}, now it is {self._note()}")

    def _note(self) -> dict[str, str]:
        return {"task": self.name, "fixed": "yes", "version": self.version}
