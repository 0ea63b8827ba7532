"""Two scikit-learn classifiers as friends: one says the polarity of a review, the other its stars."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import skops.io
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.core.friendship import Friendship, Match
from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, FitSummary, Prediction, PseudoLabel
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.methods.friend_training import fdt
from friend_training.runs.run import Run
from friend_training.types import Text

Labelled = tuple[Text, str]


class Classifier:
    """Any scikit-learn classifier of texts as a task. A unit is a text, its label a class."""

    label_type, main_metric = str, "accuracy"

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = make_pipeline(CountVectorizer(), LogisticRegression())

    def fit(
        self, gold: Sequence[Labelled], pseudo: Sequence[PseudoLabel], *, dev: Sequence[Labelled], plan: FitPlan
    ) -> FitSummary:
        texts = [text.text for text, _ in gold] + [one.input.text for one in pseudo]
        labels = [label for _, label in gold] + [one.label for one in pseudo]
        weights = [1.0] * len(gold) + [one.weight for one in pseudo]
        self.model.fit(texts, labels, logisticregression__sample_weight=weights)
        return FitSummary(steps=1, best_step=1, best_score=self.evaluate(dev)["accuracy"])

    def predict(self, inputs: Sequence[Text]) -> list[list[Prediction]]:
        table = self.model.predict_proba([text.text for text in inputs]) if inputs else np.empty((0, 1))
        best = [(str(self.model.classes_[row.argmax()]), float(row.max())) for row in table]
        return [[Prediction(text.id, label, sure)] for text, (label, sure) in zip(inputs, best, strict=True)]

    def evaluate(self, gold: Sequence[Labelled]) -> Mapping[str, float]:
        predicted = self.predict([text for text, _ in gold])
        return {"accuracy": float(np.mean([p[0].label == y for p, (_, y) in zip(predicted, gold, strict=True)]))}

    def save(self, folder: Path) -> None:
        skops.io.dump(self.model, folder / "model.skops")

    def load(self, folder: Path) -> None:
        self.model = skops.io.load(folder / "model.skops")


def same_polarity(a: Sequence[str], b: Sequence[str]) -> list[Match]:
    return [Match((float(x == y),), (float(x == y),)) for x, y in zip(a, b, strict=True)]


def reviews(count: int, seed: int) -> list[tuple[Text, str, str]]:
    """Made-up reviews: (text, polarity, stars). Put your own here."""
    words = {"good": ["great", "lovely", "fine", "superb", "nice"], "bad": ["awful", "dull", "broken", "rude", "cold"]}
    draw = random.Random(seed)
    made = []
    for number in range(count):
        polarity = draw.choice(["good", "bad"])
        told = [draw.choice(words[polarity if draw.random() < 0.75 else "good"]) for _ in range(5)]
        stars = draw.choice(["4", "5"] if polarity == "good" else ["1", "2"])
        made.append((Text(f"{seed}-{number}", " ".join(told)), polarity, stars))
    return made


def main(folder: Path) -> dict[str, float]:
    gold, dev, test, pool = (reviews(n, seed) for seed, n in enumerate((40, 100, 500, 500)))
    selectors = [Selector(Threshold(0.8), confidence_weight=0.2)] * 2  # overall = 0.2 · confidence + 0.8 · match
    once = Training(steps=1)

    def plan(name: str, column: int) -> TaskPlan:
        parts = [[(one[0], str(one[column])) for one in part] for part in (gold, dev, test)]
        return TaskPlan(Classifier(name), parts[0], parts[1], once, once, selectors, {"test": parts[2]})

    friendship = Friendship(
        name="polarity-stars",
        first="polarity",
        second="stars",
        translate_first=lambda inputs, predictions: [units[0].label for units in predictions],
        translate_second=lambda inputs, predictions: ["good" if u[0].label > "3" else "bad" for u in predictions],
        matcher=same_polarity,
    )
    run = Run.create(folder, "", {})
    outcomes = fdt(
        run,
        {"polarity": plan("polarity", 1), "stars": plan("stars", 2)},
        [friendship],
        [text for text, _, _ in pool],
        settings=LoopSettings(seed=1, iterations=2),
    )
    return {name: outcome.test["test"]["accuracy"] for name, outcome in outcomes.items()}


if __name__ == "__main__":
    print(main(Path("runs/two-classifiers")))
