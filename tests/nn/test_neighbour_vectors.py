"""The encoder made from scratch: characters that occur alike begin alike, the same bits every time."""

from pathlib import Path

import numpy as np

from friend_training.data.synthetic import Domain, generate
from friend_training.nn.encoder import EncoderShape, load_encoder, make_encoder, neighbour_vectors, pretrain_encoder

SHAPE = EncoderShape(layers=1, width=8, heads=2)
TEXTS = [f"{who}{verb}{what}了" for who in "张王李赵" for verb in "看买" for what in "书票茶"]


def test_characters_in_the_same_places_are_alike(tmp_path: Path) -> None:
    tokenizer = make_encoder(tmp_path, TEXTS, SHAPE, seed=0)
    vectors, known = neighbour_vectors(TEXTS, tokenizer, SHAPE.width, seed=0)
    at = {character: tokenizer.ids(character)[0] for character in "张王李赵看买书票茶了"}
    assert sorted(np.flatnonzero(known)) == sorted(at.values())
    np.testing.assert_allclose(np.linalg.norm(vectors[known], axis=1), 1, rtol=1e-5)
    alike = {
        pair: float(vectors[at[pair[0]]] @ vectors[at[pair[1]]]) for pair in ("张王", "看买", "书茶", "张看", "看书")
    }
    assert min(alike["张王"], alike["看买"], alike["书茶"]) > 0.9
    assert max(alike["张看"], alike["看书"]) < 0.5


def test_the_same_encoder_every_time(tmp_path: Path) -> None:
    texts = [turn.text for made in generate(30, seed=1, domain=Domain.FILM) for turn in made.dialogue.turns]
    folders = [tmp_path / name for name in ("one", "two", "other")]
    for folder, seed in zip(folders, (1, 1, 2), strict=True):
        folder.mkdir()
        pretrain_encoder(folder, texts, SHAPE, seed=seed)
    one, two, other = ((folder / "model.safetensors").read_bytes() for folder in folders)
    assert one == two
    assert one != other
    words = load_encoder(folders[0]).words.weight
    assert words.shape[1] == SHAPE.width
