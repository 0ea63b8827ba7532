"""Two scikit-learn classifiers as friends: one says the polarity of a review, the other its stars."""

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from toy_data import reviews

from friend_training import Estimator, FriendTrainer, label_friendship


def main(folder="runs/two-classifiers"):
    rows = {"gold": reviews(100, seed=1), "dev": reviews(200, seed=2), "test": reviews(500, seed=3)}
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    means = {"1": "bad", "2": "bad", "4": "good", "5": "good"}
    trainer = FriendTrainer(
        tasks=[
            Estimator("polarity", model, label="polarity", **rows),
            Estimator("stars", model, label="stars", **rows),
        ],
        friendships=[label_friendship("stars", "polarity", means)],
        folder=folder,
        settings={"draw": 20},  # every seed draws 20 labelled reviews of the 100
    )
    return trainer.fit([row["text"] for row in reviews(400, seed=4)])


if __name__ == "__main__":
    print(main())
