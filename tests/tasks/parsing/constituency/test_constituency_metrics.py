"""Labelled brackets, counted by hand in the manner of evalb."""

import numpy as np
import pytest

from friend_training.tasks.parsing.constituency.metrics import (
    ConstituencyScore,
    bracket_f1_of,
    bracket_scores,
    score,
    unit_counts,
)
from friend_training.types import Bracket, Tree

TAGS = ("DT", "NN", ",", "VBD", "RP", ".")


def tree(*brackets: tuple[int, int, str], tags: tuple[str, ...] = TAGS) -> Tree:
    return Tree(tuple(Bracket(*bracket) for bracket in brackets), tags)


GOLD = tree((0, 6, "S"), (0, 2, "NP"), (3, 5, "VP"), (4, 5, "PRT"))


def test_a_tree_is_right_about_itself() -> None:
    assert bracket_scores([GOLD], [GOLD]) == {
        "precision": 100.0,
        "recall": 100.0,
        "f1": 100.0,
        "complete": 100.0,
        "tag_accuracy": 100.0,
    }


def test_counts_by_hand() -> None:
    predicted = tree((0, 6, "S"), (0, 2, "NP"), (0, 4, "VP"), (4, 5, "PRT"), tags=("DT", "JJ", ":", "VBD", "RP", "."))
    found = ConstituencyScore.of(predicted, GOLD)
    assert (found.brackets.correct, found.brackets.predicted, found.brackets.gold) == (3, 4, 4)
    assert (found.complete, found.sentences) == (0, 1)
    assert (found.tags_right, found.words) == (3, 4), "the tags of punctuation are not counted"


@pytest.mark.parametrize(
    "same",
    [
        tree((0, 5, "S"), (0, 3, "NP"), (2, 5, "VP"), (4, 5, "PRT")),  # where punctuation is attached
        tree((0, 6, "S"), (0, 2, "NP"), (2, 3, "PRN"), (3, 5, "VP"), (4, 5, "PRT")),  # a phrase of a comma only
        tree((0, 6, "S"), (0, 2, "NP"), (3, 5, "VP"), (4, 5, "ADVP")),
        tree((0, 6, "TOP+S"), (0, 2, "NP"), (3, 5, "VP"), (4, 5, "PRT")),
    ],
)
def test_what_makes_no_difference(same: Tree) -> None:
    assert bracket_scores([same], [GOLD])["complete"] == 100.0


def test_chains_are_split_and_equal_brackets_counted_twice() -> None:
    gold, once = tree((0, 2, "NP+NP"), (3, 5, "S+VP")), tree((0, 2, "NP"), (3, 5, "VP"))
    found = score([once], [gold]).brackets
    assert (found.correct, found.predicted, found.gold) == (2, 2, 4)
    found = score([gold], [once]).brackets
    assert (found.correct, found.predicted, found.gold) == (2, 4, 2)
    # Two brackets that only punctuation sets apart are equal too.
    twice = tree((0, 3, "NP"), (0, 2, "NP"))
    assert score([twice], [gold]).brackets.correct == 2


def test_counts_of_sentences_add_up() -> None:
    predicted = [tree((0, 6, "S")), GOLD, tree()]
    gold = [GOLD, GOLD, GOLD]
    counts = unit_counts(predicted, gold)
    assert counts.shape == (3, 7)
    assert np.array_equal(counts.sum(axis=0), score(predicted, gold).as_array())
    assert bracket_f1_of(counts.sum(axis=0)) == pytest.approx(bracket_scores(predicted, gold)["f1"])
    assert bracket_f1_of(counts)[1] == 100.0
    assert unit_counts([], []).shape == (0, 7)
    assert bracket_scores([], [])["f1"] == 0.0
