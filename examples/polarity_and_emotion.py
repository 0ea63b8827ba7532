"""Polarity and emotion as friends: two scikit-learn models, 30 labels each, 600 texts without labels (made up here)."""

import random
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from friend_training.core.selector import Selector, TopN, gold_shares
from friend_training.friendships.polarity import MELD, POLARITIES, polarity_friends
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.methods.base import base
from friend_training.methods.friend_training import fdt
from friend_training.runs.run import Run
from friend_training.tasks.estimators.task import Estimator
from friend_training.types import Text

WORDS = {  # what people say in this small world, by emotion; half of what they say is small talk
    "joy": "hooray lovely sunshine dancing delighted grand merry cheers singing bright",
    "anger": "furious slammed shouting insult enough unfair outrage grr yelled fists",
    "sadness": "tears alone missing grey sigh lost mourning empty weeping farewell",
    "surprise": "whoa suddenly really unbelievable gosh what unexpected gasp blimey never",
    "neutral": "table monday paper road kettle window seven bus list corner",
}
POLARITY = {"joy": "positive", "anger": "negative", "sadness": "negative", "neutral": "neutral"}


def utterances(count: int, seed: int) -> list[tuple[Text, str, str]]:
    """(text, polarity, emotion); the polarity of a surprise is one or the other, and its words do not tell."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        emotion = draw.choice(sorted(WORDS))
        polarity = POLARITY.get(emotion) or draw.choice(["positive", "negative"])
        said = [draw.choice(WORDS[emotion if draw.random() < 0.5 else "neutral"].split()) for _ in range(6)]
        made.append((Text(f"{seed}-{number}", " ".join(said)), polarity, emotion))
    return made


def main(folder: Path) -> dict[str, tuple[float, float]]:
    """The accuracy of both tasks on test: of Base, and after friend-training."""
    gold = {"polarity": utterances(30, 1), "emotion": utterances(30, 2)}  # nobody has both labels of a text
    dev, test, pool = utterances(150, 3), utterances(1000, 4), utterances(600, 5)
    once = Training(steps=1)

    def plan(name: str, column: int) -> TaskPlan:
        own, on_dev, on_test = ([(one[0], str(one[column])) for one in part] for part in (gold[name], dev, test))
        model = make_pipeline(CountVectorizer(), LogisticRegression(class_weight="balanced"))
        # The best 200, and of each label no more than its share in gold.
        select = Selector(TopN(200), confidence_weight=0.2, balance=gold_shares([label for _, label in own]))
        return TaskPlan(Estimator(name, model), own, on_dev, once, once, [select] * 3, {"test": on_test})

    plans = {"polarity": plan("polarity", 1), "emotion": plan("emotion", 2)}
    settings = LoopSettings(seed=1, iterations=3)
    before = base(Run.create(folder / "base", "", {}), plans, settings=settings)
    friendships = polarity_friends({"polarity": POLARITIES, "emotion": MELD})
    texts = [text for text, _, _ in pool]
    after = fdt(Run.create(folder / "fdt", "", {}), plans, friendships, texts, settings=settings)
    return {name: (before[name].test["test"]["accuracy"], after[name].test["test"]["accuracy"]) for name in plans}


if __name__ == "__main__":
    print(main(Path("runs/polarity-and-emotion")))
