from dataclasses import replace
from pathlib import Path

import pytest

from friend_training.errors import DataError
from friend_training.tasks.sources import read_lexicon
from friend_training.types import Text

ENGLISH = """# a remark
positive: lovely fun
positive: superb
negative: dull rude
negation: not isn't
"""
CHINESE = "positive: 好看 不错 好\nnegative: 难看 坏\nnegation: 不 没\n"


def lexicon(tmp_path: Path, words: str, *, spaced: bool):
    path = tmp_path / "words.txt"
    path.write_text(words, encoding="utf-8")
    return read_lexicon(path, spaced=spaced)


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("What a LOVELY, superb day!", "positive"),
        ("dull.", "negative"),
        ("funny", "neutral"),  # a word, not a piece of one
        ("lovely but dull", "neutral"),
        ("it isn’t much fun", "negative"),
        ("he is not rude at all", "positive"),
        ("not that I know, but it is fun", "positive"),  # the negation is too far away
        ("", "neutral"),
    ],
)
def test_words_vote_and_negations_turn_them_round(tmp_path, text, polarity):
    assert lexicon(tmp_path, ENGLISH, spaced=True)(Text("a", text)) == polarity


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("这个真好看", "positive"),
        ("不好看", "negative"),
        ("还不错", "positive"),
        ("坏人", "negative"),
        ("走吧", "neutral"),
    ],
)
def test_text_without_spaces(tmp_path, text, polarity):
    assert lexicon(tmp_path, CHINESE, spaced=False)(Text("a", text)) == polarity


def test_it_may_say_nothing(tmp_path):
    silent = replace(lexicon(tmp_path, ENGLISH, spaced=True), undecided=None)
    assert silent(Text("a", "well")) is None
    assert silent(Text("a", "fun")) == "positive"


def test_a_wrong_line_says_where(tmp_path):
    with pytest.raises(DataError, match=r"words.txt:2: expected one of positive, negative, negation and a colon"):
        lexicon(tmp_path, "positive: good\nugly bad\n", spaced=True)
