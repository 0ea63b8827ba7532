"""Two taggers as friends: one marks people, the other people and places."""

from toy_data import sentences, tiny_encoder

from friend_training import FriendTrainer, TokenClassification, tag_friendship


def main(folder="runs/two-taggers", encoder=None):
    encoder = encoder or tiny_encoder(f"{folder}-encoder")
    rows = {"gold": sentences(20, seed=1), "dev": sentences(60, seed=2), "test": sentences(100, seed=3)}
    trainer = FriendTrainer(
        tasks=[
            TokenClassification("people", encoder=encoder, tag="people", **rows),
            TokenClassification("names", encoder=encoder, tag="names", **rows),
        ],
        friendships=[tag_friendship("people", "names", {"B-PER": "B-PER", "O": ["O", "B-LOC"]})],
        folder=folder,
        settings={"base_steps": 100, "update_steps": 40, "training": {"encoder_rate": 0.01, "head_rate": 0.01}},
    )
    return trainer.fit([{"words": row["words"]} for row in sentences(150, seed=4)])


if __name__ == "__main__":
    print(main())
