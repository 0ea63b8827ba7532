"""Attachment scores, by hand; punctuation counted or skipped."""

import numpy as np
import pytest

from friend_training.errors import ConfigError
from friend_training.tasks.parsing.dependency.metrics import (
    attachment_scores,
    is_punctuation,
    las_of,
    score,
    uas_of,
    unit_counts,
)
from friend_training.types import Heads, Words

WORDS = Words("a", ("Dogs", ",", "bark", "loudly", "."))
GOLD = Heads((3, 1, 0, 3, 3), ("nsubj", "punct", "root", "advmod", "punct"))
PREDICTED = Heads((3, 3, 0, 3, 1), ("obj", "punct", "root", "advmod", "punct"))


def test_with_and_without_punctuation() -> None:
    assert attachment_scores([PREDICTED], [GOLD]) == {"uas": 60.0, "las": 40.0}
    skipped = attachment_scores([PREDICTED], [GOLD], [WORDS], punctuation="skipped")
    assert skipped == {"uas": 100.0, "las": pytest.approx(200 / 3)}
    with pytest.raises(ConfigError, match="words"):
        attachment_scores([PREDICTED], [GOLD], punctuation="skipped")


def test_relations_that_nobody_knows_are_not_scored() -> None:
    assert attachment_scores([PREDICTED], [Heads(GOLD.heads)]) == {"uas": 60.0}
    assert attachment_scores([Heads(GOLD.heads)], [GOLD]) == {"uas": 100.0, "las": 0.0}
    mixed = score([PREDICTED, PREDICTED], [GOLD, Heads(GOLD.heads)])
    assert mixed.as_dict() == {"uas": 60.0, "las": 40.0}, "LAS is over the words with a gold relation"


def test_a_right_relation_to_a_wrong_head_is_wrong() -> None:
    assert attachment_scores([Heads((2, 0), ("a", "b"))], [Heads((0, 1), ("a", "b"))]) == {"uas": 0.0, "las": 0.0}


def test_counts_of_sentences_add_up() -> None:
    counts = unit_counts([PREDICTED, GOLD], [GOLD, GOLD])
    assert np.array_equal(counts.sum(axis=0), score([PREDICTED, GOLD], [GOLD, GOLD]).as_array())
    assert uas_of(counts).tolist() == [60.0, 100.0]
    assert las_of(counts.sum(axis=0)) == 70.0
    assert unit_counts([], []).shape == (0, 4)
    skipped = unit_counts([PREDICTED], [GOLD], [WORDS], punctuation="skipped")
    assert skipped.tolist() == [[3.0, 3.0, 2.0, 3.0]]


@pytest.mark.parametrize("word", [",", "...", "``", "''", "--", "-LRB-", "。", "》", "?!"])
def test_punctuation(word: str) -> None:
    assert is_punctuation(word)


@pytest.mark.parametrize("word", ["a", "U.S.", "'s", "%", "&", "$", "-5", "#", "*-1"])
def test_no_punctuation(word: str) -> None:
    assert not is_punctuation(word)
