"""A classifier as a task, in plain numpy: what wrapping a model of your own takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel


@dataclass(frozen=True, slots=True)
class Point:
    id: str
    x: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Example:
    point: Point
    label: str


class ToyTask:
    """Softmax regression; one unit per point."""

    label_type: Any = str
    main_metric = "accuracy"

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self.name, self.labels, self.weights = name, tuple(labels), np.zeros((0, 0))

    def fit(
        self, gold: Sequence[Example], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Example], plan: FitPlan
    ) -> FitSummary:
        pairs = [(e.point, e.label, 1.0) for e in gold]
        pairs += [(p.input, p.label, p.weight) for p in pseudo]
        x = _features([point for point, _, _ in pairs])
        y = np.array([[float(name == label) for name in self.labels] for _, label, _ in pairs])
        weight = np.array([weight for _, _, weight in pairs])
        random = np.random.default_rng(plan.seed)
        if plan.restart:
            self.weights = random.normal(scale=0.1, size=(x.shape[1], len(self.labels)))
        for _ in range(plan.steps):
            batch = random.integers(len(x), size=16)
            error = (self._probabilities(x[batch]) - y[batch]) * weight[batch, None]
            self.weights = self.weights - 0.3 * x[batch].T @ error / len(batch)
        return FitSummary(steps=plan.steps, best_step=plan.steps, best_score=self.evaluate(dev)["accuracy"])

    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        rows = self._probabilities(_features(inputs))
        return [
            [Prediction(point.id, self.labels[int(row.argmax())], float(row.max()), content=point.x[0] > -1.5)]
            for point, row in zip(inputs, rows, strict=True)
        ]

    def evaluate(self, gold: Sequence[Example]) -> Mapping[str, float]:
        found = self.predict([example.point for example in gold])
        return {"accuracy": float(np.mean([f[0].label == e.label for f, e in zip(found, gold, strict=True)]))}

    def save(self, folder: Path) -> None:
        np.save(folder / "weights.npy", self.weights)

    def load(self, folder: Path) -> None:
        self.weights = np.load(folder / "weights.npy")

    def _probabilities(self, x: np.ndarray) -> np.ndarray:
        scores = x @ self.weights
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def _features(points: Sequence[Point]) -> np.ndarray:
    return np.array([(*point.x, 1.0) for point in points]).reshape(len(points), -1)
