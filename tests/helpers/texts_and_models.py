"""Made-up reviews and a small classifier of them, for the tests of tasks that wrap models."""

import random
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.types import Text

WORDS = {"good": ("lovely", "superb", "kind"), "bad": ("dull", "rude", "broken"), "mixed": ("so-so", "half", "maybe")}


def reviews(count: int, seed: int) -> list[tuple[Text, str]]:
    draw = random.Random(seed)
    made = []
    for number in range(count):
        label = draw.choice(sorted(WORDS))
        told = [draw.choice(WORDS[label if draw.random() < 0.7 else "mixed"]) for _ in range(4)]
        made.append((Text(f"{seed}-{number}", " ".join(told)), label))
    return made


def inputs(count: int, seed: int) -> list[Text]:
    return [text for text, _ in reviews(count, seed)]


def pipeline() -> Any:
    return make_pipeline(CountVectorizer(), LogisticRegression())
