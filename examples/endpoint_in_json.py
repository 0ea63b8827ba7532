"""A language model that answers in JSON as a friend: its labels have parts, and a function says what they mean."""

from dataclasses import dataclass
from typing import Literal

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from toy_data import language_model, reviews

from friend_training import Endpoint, Estimator, FriendTrainer, label_friendship


@dataclass(frozen=True)
class Opinion:
    polarity: Literal["good", "bad"]
    because: tuple[str, ...]


def main(folder="runs/endpoint-in-json"):
    rows = {"gold": reviews(16, seed=1), "dev": reviews(100, seed=2), "test": reviews(300, seed=3)}
    polarity = Estimator("polarity", make_pipeline(CountVectorizer(), LogisticRegression()), label="polarity", **rows)
    with language_model() as url:
        asked = {"model": "any", "prompt": "What is said, and by which words? {text}", "label_type": Opinion}
        opinion = Endpoint("opinion", url, cache=f"{folder}-answers.jsonl", **asked)
        means = (lambda opinion: opinion.polarity if opinion.because else None, lambda polarity: polarity)
        friends = [label_friendship("opinion", "polarity", means)]
        trainer = FriendTrainer(tasks=[polarity, opinion], friendships=friends, folder=folder, seeds=(1,))
        return trainer.fit([row["text"] for row in reviews(150, seed=4)], compare=("base", "sst", "fdt"))


if __name__ == "__main__":
    print(main())
