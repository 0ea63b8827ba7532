"""How accurate are three friends? Their agreement says so without a label, as long as they err independently."""

import random
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from friend_training.analysis.three_friends import Triangle, triangles_of_run
from friend_training.core.selector import Selector, Threshold
from friend_training.friendships.polarity import MELD, POLARITIES, polarity_friends
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training, fixed_friend
from friend_training.methods.friend_training import fdt
from friend_training.runs.run import Run
from friend_training.tasks.estimators.task import Estimator
from friend_training.tasks.sources import Rule
from friend_training.types import Text

EMOTION = {"positive": "joy", "negative": "anger", "neutral": "neutral"}


def utterances(count: int, seed: int) -> list[tuple[Text, str, str]]:
    """Texts of three parts, and each friend reads another part of them: that is why they err independently."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        polarity = draw.choice(sorted(EMOTION))
        told = [polarity if draw.random() < sure else draw.choice(sorted(EMOTION)) for sure in (0.7, 0.6, 0.5)]
        parts = [f"{word}{draw.randrange(3)}" for word in told]
        made.append((Text(f"{seed}-{number}", " ".join(parts)), polarity, EMOTION[polarity]))
    return made


def main(folder: Path) -> dict[int, Triangle]:
    """The triangle of every iteration, printed beside the accuracy on dev."""
    gold, dev, pool = utterances(90, 1), utterances(2000, 4), utterances(3000, 3)
    once, select = Training(steps=1), [Selector(Threshold(0.8))] * 2

    def plan(name: str, column: int) -> TaskPlan:
        own, on_dev = ([(one[0], str(one[column])) for one in some] for some in (gold, dev))
        model = make_pipeline(CountVectorizer(), MultinomialNB())
        task = Estimator(name, model, features=lambda texts: [text.text.split()[column - 1] for text in texts])
        return TaskPlan(task, own, on_dev, once, once, select)

    rule = Rule("rule", lambda given: given.text.split()[2].rstrip("012"))
    plans = {"polarity": plan("polarity", 1), "emotion": plan("emotion", 2), "rule": fixed_friend(rule)}
    friendships = polarity_friends({"polarity": POLARITIES, "emotion": MELD, "rule": POLARITIES})
    run, texts = Run.create(folder, "", {}), [text for text, _, _ in pool]
    outcomes = fdt(run, plans, friendships, texts, settings=LoopSettings(seed=1, iterations=2))
    triangles = triangles_of_run(run, dict.fromkeys(plans, str), friendships, texts)
    for iteration, found in triangles.items():
        on_dev = {name: one.dev[iteration - 1]["accuracy"] for name, one in outcomes.items() if one.dev}
        for friend in found.friends:
            print(
                f"{iteration} {friend.name:9} {100 * (friend.accuracy or 0):.1f}, on dev {on_dev.get(friend.name, '?')}"
            )
        print(*found.warnings, sep="\n")
    return triangles


if __name__ == "__main__":
    main(Path("runs/three-friends"))
