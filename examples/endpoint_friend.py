"""A language model behind an address as the friend of a classifier: it is asked, and never trained."""

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from toy_data import language_model, reviews

from friend_training import Endpoint, Estimator, FriendTrainer, label_friendship


def main(folder="runs/endpoint-friend"):
    rows = {"gold": reviews(16, seed=1), "dev": reviews(100, seed=2), "test": reviews(300, seed=3)}
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    asked = {"model": "any", "prompt": "One of {labels}: {text}", "labels": ["good", "bad"], "label": "polarity"}
    with language_model() as url:  # yours: "http://localhost:8000/v1"
        trainer = FriendTrainer(
            tasks=[
                Estimator("polarity", model, label="polarity", **rows),
                Endpoint("asked", url, cache=f"{folder}-answers.jsonl", dev=rows["dev"], test=rows["test"], **asked),
            ],
            friendships=[label_friendship("asked", "polarity", {"good": "good", "bad": "bad"})],
            folder=folder,
        )
        return trainer.fit([row["text"] for row in reviews(150, seed=4)])


if __name__ == "__main__":
    print(main())
