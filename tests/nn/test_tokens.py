"""What a tokenizer remembers: the same text once, and never more than a fixed number of texts."""

from pathlib import Path

import numpy as np
import pytest

from friend_training.nn import tokenizer as tokens
from friend_training.nn.tokenizer import Tokenizer


def forgetful(tokenizer: Tokenizer) -> Tokenizer:
    """All tokenizers that cut alike share a memory, those of other tests too."""
    tokenizer.memory.clear()
    return Tokenizer(tokenizer.backend)


def test_a_text_is_cut_once(tokenizer: Tokenizer) -> None:
    fresh = forgetful(tokenizer)
    assert fresh("电影") is fresh("电影")


def test_old_texts_make_room_for_new_ones(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TEXTS", 5)
    fresh = forgetful(tokenizer)
    pieces = fresh("电影")
    for number in range(50):
        fresh(str(number))
        assert len(fresh.memory) <= 5
    assert np.array_equal(fresh("电影"), pieces)


def test_what_is_asked_for_together_is_there_together(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TEXTS", 3)
    fresh = forgetful(tokenizer)
    fresh.remember(["电", "影"])
    fresh.remember(["影", "我", "你", "看"])  # one of them is known, and must not be lost with the others
    assert list(fresh.memory) == ["影", "我", "你", "看"]


def test_pieces_and_places_are_those_of_transformers(tokenizer: Tokenizer) -> None:
    texts = ["我喜欢电影。", "", " 看 了12次abc吗", "😀我"]
    fresh = forgetful(tokenizer)
    fresh.remember(texts)
    for text in texts:
        cut = tokenizer.backend(text, add_special_tokens=False, return_offsets_mapping=True)
        expected = [[number, *place] for number, place in zip(cut["input_ids"], cut["offset_mapping"], strict=True)]
        assert fresh(text).tolist() == expected
        assert fresh.ids(text) == cut["input_ids"]


def test_tokenizers_that_cut_alike_cut_a_text_once(tokenizer: Tokenizer, tiny_encoder: Path) -> None:
    again = Tokenizer.load(tiny_encoder)
    assert again("我喜欢你") is tokenizer("我喜欢你")
    other = Tokenizer.load(tiny_encoder)
    other.backend.backend_tokenizer.add_tokens(["喜欢"])
    assert len(other("我喜欢你")) < len(again("我喜欢你"))
