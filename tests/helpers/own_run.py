"""Files of a user's own, a tiny encoder, and a config of two classifiers that are friends: the smallest such run.

Texts are six words of a mood. One task tells the mood by scikit-learn, the other with an encoder whether it is good.
"""

import csv
import random
from collections.abc import Iterator
from pathlib import Path

from helpers.encoder_families import write_encoder

WORDS = {
    "joy": ("lovely", "great", "happy", "sunny"),
    "anger": ("awful", "broken", "rude", "loud"),
    "neutral": ("table", "door", "paper", "street"),
}
MEANS = {"joy": "positive", "anger": "negative", "neutral": "neutral"}

TEXT = """
name: reviews
tasks:
  polarity: {kind: text-classification, encoder: encoder, gold: polarity.csv, dev: dev.csv, test: test.csv,
    text: Utterance, label: Sentiment, metric: macro_f1, base_steps: 30, update_steps: 6, pick_threshold: 0.3,
    sst_threshold: 1.0, training: {encoder_rate: 0.01, head_rate: 0.01, look_every: 10, batch_size: 8}}
  mood: {kind: estimator, gold: mood.csv, dev: dev.csv, test: test.csv, text: Utterance, label: Mood,
    metric: macro_f1, pick_threshold: 0.3, sst_threshold: 0.3}
friendships:
  - {first: mood, second: polarity, means: {joy: positive, anger: negative, neutral: neutral}}
pool: {file: pool.csv, text: Utterance, hidden: {mood: Mood}}
methods: [base, base-same-steps, sst, fdt]
iterations: 1
"""


def rows(count: int, seed: int) -> Iterator[dict[str, str]]:
    draw = random.Random(seed)
    every = [word for words in WORDS.values() for word in words]
    for number in range(count):
        mood = draw.choice(list(WORDS))
        words = [draw.choice(WORDS[mood] if draw.random() < 0.8 else every) for _ in range(6)]
        yield {"Utterance": f"{' '.join(words)} {seed}x{number}", "Mood": mood, "Sentiment": MEANS[mood]}


def write_rows(path: Path, count: int, seed: int) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ["Utterance", "Mood", "Sentiment"])
        table.writeheader()
        table.writerows(rows(count, seed))
    return path


def write_files(folder: Path) -> Path:
    """Everything that the config names, and the config, whose path is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, count) in enumerate({"polarity": 24, "mood": 24, "dev": 18, "test": 24, "pool": 30}.items()):
        write_rows(folder / f"{name}.csv", count, seed)
    write_encoder(folder / "encoder", "roberta")
    path = folder / "reviews.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path
