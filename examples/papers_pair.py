"""The paper's pair on Chinese dialogues: who did what to whom, and the last turn rewritten so that it stands alone."""

from toy_data import dialogues, parser_of_sentences

from friend_training import Csrl, FriendTrainer, Rewriting, rewriting_friendship


def main(folder="runs/papers-pair", parser=None):
    encoder, bridge = parser or parser_of_sentences(folder)  # yours: a hub name, and the folder of LTP's parser
    sizes = {"gold": (100, 1), "dev": (40, 2), "test": (100, 3)}
    roles = {part: dialogues("csrl", *size) for part, size in sizes.items()}
    rewrites = {part: dialogues("rewriting", *size) for part, size in sizes.items()}
    common = {"base_steps": 100, "update_steps": 40, "training": {"encoder_rate": 0.001}}
    trainer = FriendTrainer(
        tasks=[Csrl(encoder=encoder, **roles), Rewriting(encoder=encoder, **rewrites)],
        friendships=[rewriting_friendship(bridge, scoring="role-aware", speakers="drop")],
        folder=folder,
        settings={"csrl": common, "rewriting": common | {"base_steps": 300}},
    )
    pool = dialogues(None, 150, 4)
    return trainer.fit(pool, compare=("base", "base-same-steps", "sst", "fdt", "fdt-shuffled", "bridge-alone"))


if __name__ == "__main__":
    print(main())
