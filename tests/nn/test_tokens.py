"""What a tokenizer remembers: the same text once, and never more than a fixed number of texts."""

import pytest

from friend_training.nn import tokens
from friend_training.nn.tokens import Tokenizer


def test_a_text_is_cut_once(tokenizer: Tokenizer) -> None:
    fresh = Tokenizer(tokenizer.backend)
    assert fresh("电影") is fresh("电影")


def test_old_texts_make_room_for_new_ones(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TEXTS", 5)
    fresh = Tokenizer(tokenizer.backend)
    pieces = fresh("电影")
    for number in range(50):
        fresh(str(number))
        assert len(fresh.memory) <= 5
    assert fresh("电影") == pieces


def test_what_is_asked_for_together_is_there_together(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TEXTS", 3)
    fresh = Tokenizer(tokenizer.backend)
    fresh.remember(["电", "影"])
    fresh.remember(["影", "我", "你", "看"])  # one of them is known, and must not be lost with the others
    assert list(fresh.memory) == ["影", "我", "你", "看"]
