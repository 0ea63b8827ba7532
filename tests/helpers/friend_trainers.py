"""Two estimators over made-up reviews as friends, by FriendTrainer: mood and stars."""

import random
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training import Estimator, FriendTrainer, label_friendship
from friend_training.core.friendship import Friendship
from helpers.texts_and_models import WORDS

STARS = {"1": "bad", "3": ["bad", "mixed"], "5": "good"}


def rows(count: int, seed: int) -> list[dict[str, str]]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        mood = draw.choice(sorted(WORDS))
        told = [draw.choice(WORDS[mood if draw.random() < 0.8 else "mixed"]) for _ in range(5)]
        found.append({"review": f"{' '.join(told)} {draw.random():.4f}", "mood": mood, "stars": _stars(mood)})
    return found


def _stars(mood: str) -> str:
    return {"good": "5", "bad": "1", "mixed": "3"}[mood]


GOLD, DEV, TEST = (rows(count, seed) for seed, count in enumerate((24, 60, 60)))
POOL = [row["review"] for row in rows(80, 3)]


def estimator(name: str, **changes: Any) -> Estimator:
    model = changes.pop("model", None) or make_pipeline(CountVectorizer(), LogisticRegression())
    given = {"gold": GOLD, "dev": DEV, "test": TEST} | changes
    return Estimator(name, model, text="review", label=name, **given)


def trainer(folder: Path, *, gold: Any = GOLD, friendship: Friendship | None = None, **changes: Any) -> FriendTrainer:
    settings = {"seeds": (1, 2), "iterations": 1, "progress": False} | changes
    return FriendTrainer(
        tasks=[estimator("mood", gold=gold), estimator("stars")],
        friendships=[friendship or label_friendship("stars", "mood", STARS)],
        folder=folder,
        **settings,
    )


def finished_steps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("phases/*.json")}
