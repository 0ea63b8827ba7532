"""A tagger and a text classifier over the same sentences as friends: a verb of motion means travel."""

from toy_data import sentences, tiny_encoder

from friend_training import FriendTrainer, TextClassification, TokenClassification, label_friendship


def main(folder="runs/tagger-and-classifier", encoder=None):
    encoder = encoder or tiny_encoder(f"{folder}-encoder")
    rows = [sentences(20, seed=1), sentences(60, seed=2), sentences(100, seed=3)]
    gold, dev, test = ([row | {"text": " ".join(row["words"])} for row in part] for part in rows)
    means = {"B-MOVE": "travel", "O": None}
    trainer = FriendTrainer(
        tasks=[
            TokenClassification("verbs", encoder=encoder, tag="verbs", gold=gold, dev=dev, test=test),
            TextClassification("kind", encoder=encoder, label="kind", gold=gold, dev=dev, test=test),
        ],
        friendships=[label_friendship("verbs", "kind", means, otherwise="work")],
        folder=folder,
        settings={"base_steps": 100, "update_steps": 40, "training": {"encoder_rate": 0.01, "head_rate": 0.01}},
    )
    return trainer.fit([{"words": row["words"]} for row in sentences(150, seed=4)])


if __name__ == "__main__":
    print(main())
