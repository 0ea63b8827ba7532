"""Friends that nobody trains: a rule, and a file of predictions that some other program made."""

import json
import random
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.core.selector import Selector, TotalAgreement
from friend_training.friendships.polarity import NEGATIVE, POLARITIES, POSITIVE, polarity_friends
from friend_training.loop.plan import LoopSettings, TaskPlan, Training, fixed_friend
from friend_training.methods.friend_training import fdt
from friend_training.runs.run import Run
from friend_training.tasks.estimators.task import Estimator
from friend_training.tasks.sources import AnswerFile, Rule
from friend_training.types import Text

STARS = {"1": NEGATIVE, "2": NEGATIVE, "4": POSITIVE, "5": POSITIVE}  # what a rating says about the polarity


def reviews(count: int, seed: int) -> list[tuple[Text, str]]:
    """Made-up reviews with their polarity."""
    words = {
        "positive": "great lovely fine superb nice warm fresh kind",
        "negative": "awful dull broken rude cold late stale noisy",
    }
    draw = random.Random(seed)
    made = []
    for number in range(count):
        polarity = draw.choice(sorted(words))
        meant = [polarity if draw.random() < 0.6 else draw.choice(sorted(words)) for _ in range(5)]
        told = [draw.choice(words[one].split()) for one in meant]
        made.append((Text(f"{seed}-{number}", " ".join(told)), polarity))
    return made


def by_rule(review: Text) -> str | None:
    """A rule that knows four words. It says nothing of the other reviews: there is nothing to match then."""
    good, bad = (
        ("lovely" in review.text) + ("superb" in review.text),
        ("awful" in review.text) + ("rude" in review.text),
    )
    return None if good == bad else "positive" if good > bad else "negative"


def write_stars(path: Path, made: list[tuple[Text, str]]) -> None:
    """Stands for the other program: it is right in four of five cases."""
    draw = random.Random(7)
    lines = []
    for text, polarity in made:
        good = (polarity == "positive") == (draw.random() < 0.8)
        lines.append(json.dumps({"id": text.id, "label": draw.choice("45" if good else "12"), "confidence": 0.8}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(folder: Path) -> tuple[float, float]:
    """The accuracy of the polarity model on dev, as Base and at its best iteration."""
    gold, dev, pool = (reviews(n, seed) for seed, n in enumerate((16, 300, 500)))
    run = Run.create(folder, "", {})
    write_stars(folder / "stars.jsonl", pool)
    task = Estimator("polarity", make_pipeline(CountVectorizer(), LogisticRegression()))
    once = Training(steps=1)
    plans = {
        "polarity": TaskPlan(task, gold, dev, once, once, [Selector(TotalAgreement())] * 2),
        "rule": fixed_friend(Rule("rule", by_rule, version="four words")),
        "stars": fixed_friend(AnswerFile("stars", folder / "stars.jsonl")),
    }
    friendships = polarity_friends({"polarity": POLARITIES, "rule": POLARITIES, "stars": STARS})
    texts = [text for text, _ in pool]
    polarity = fdt(run, plans, friendships, texts, settings=LoopSettings(seed=1, iterations=2))["polarity"]
    return polarity.dev[0]["accuracy"], polarity.dev[polarity.best_iteration]["accuracy"]


if __name__ == "__main__":
    print(main(Path("runs/fixed-friend")))
