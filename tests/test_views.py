"""One pool for tasks that need different views of its items: texts, words, the last utterance of a dialogue."""

from typing import Any

import pytest

from friend_training.errors import DataError
from friend_training.types import Dialogue, Text, Turn, Words, text_of, words_of

CONTEXT = Turn("a", "unheard")


@pytest.mark.parametrize(
    ("item", "text", "words"),
    [
        (Text("x", "See you  soon."), "See you  soon.", ("See", "you", "soon.")),
        (Text("x", "我喜欢它。"), "我喜欢它。", ("我", "喜", "欢", "它", "。")),
        (Text("x", "我 喜欢 它"), "我 喜欢 它", ("我", "喜欢", "它")),
        (Text("x", "Hello！"), "Hello！", ("Hello！",)),
        (Text("x", ""), "", ()),
        (Words("x", ("See", "you", ".")), "See you .", ("See", "you", ".")),
        (Words("x", ("我", "喜欢")), "我喜欢", ("我", "喜欢")),
        (Dialogue("x", (CONTEXT, Turn("b", "see you"))), "see you", ("see", "you")),
        (Dialogue("x", (CONTEXT, Turn("b", "我喜欢", ("我", "喜欢")))), "我喜欢", ("我", "喜欢")),
    ],
    ids=str,
)
def test_views(item: Any, text: str, words: tuple[str, ...]) -> None:
    assert text_of(item) == text
    assert words_of(item) == words


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="an input is 7, expected a Text, Words or a Dialogue"):
        text_of(7)
