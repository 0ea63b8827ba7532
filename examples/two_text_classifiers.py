"""Two text classifiers on any encoder of transformers as friends: polarity and emotion."""

from toy_data import reviews, tiny_encoder

from friend_training import FriendTrainer, TextClassification, label_friendship


def main(folder="runs/two-text-classifiers", encoder=None):
    encoder = encoder or tiny_encoder(f"{folder}-encoder")  # or "distilroberta-base"
    rows = {"gold": reviews(30, seed=1), "dev": reviews(100, seed=2), "test": reviews(200, seed=3)}
    polarity = TextClassification("polarity", encoder=encoder, label="polarity", **rows)
    emotion = TextClassification("emotion", encoder=encoder, label="emotion", metric="macro_f1", **rows)
    means = {"joy": "good", "anger": "bad", "sadness": "bad"}
    trainer = FriendTrainer(
        tasks=[polarity, emotion],
        friendships=[label_friendship("emotion", "polarity", means)],
        folder=folder,
        settings={"base_steps": 100, "update_steps": 40, "training": {"encoder_rate": 0.01, "head_rate": 0.01}},
    )
    texts = [row["text"] for row in reviews(200, seed=4)]
    print(trainer.check(texts))
    return trainer.fit(texts)


if __name__ == "__main__":
    print(main())
