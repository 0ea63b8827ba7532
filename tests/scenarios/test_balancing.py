"""Shares of the kinds of gold labels, and selectors that keep to them."""

import numpy as np
import pytest

from friend_training.core.picks import Share, TopN
from friend_training.core.selector import Scores, Selector
from friend_training.errors import DataError
from friend_training.examples import Argument, CsrlExample, Dialogue, Predicate, RewritingExample, Roles, Turn
from friend_training.scenarios.balancing import csrl_shares, rewriting_shares

DIALOGUE = Dialogue("d", (Turn("A", "看电影吗"), Turn("B", "看")), (Predicate(0, 1),))
FILM = Argument("ARG1", 0, 1, 3)
HERE = Argument("ARG1", 1, 0, 1)


def example(*arguments: Argument) -> CsrlExample:
    return CsrlExample(DIALOGUE, (Roles(Predicate(0, 1), arguments),))


def test_of_the_gold_labels_that_say_something() -> None:
    gold = [example(FILM), example(HERE), example(HERE, FILM), example(HERE), example()]
    assert csrl_shares(gold) == {"across": 0.5, "within": 0.5}
    with pytest.raises(DataError, match="no gold labels"):
        csrl_shares([example()])


def test_how_many_utterances_need_a_rewrite() -> None:
    gold = [RewritingExample(DIALOGUE, text) for text in ("看", "看电影", "看", "看")]
    assert rewriting_shares(gold) == {"changed": 0.25, "unchanged": 0.75}


@pytest.mark.parametrize("pick", [TopN(4), Share(0.5)])
def test_the_best_of_each_kind_are_chosen(pick: TopN | Share) -> None:
    """The four best are all within; of those that reach another turn the two best come in, however low they are."""
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    kinds = ["within"] * 5 + ["across"] * 3
    scores = Scores([f"u{n}" for n in range(8)], score, score, np.ones(8, bool), kinds)
    chosen = {}
    for balance in (None, {"across": 0.5, "within": 0.5}):
        selector = Selector(pick, 0.5, balance=balance)
        chosen[balance is None] = np.flatnonzero(selector.decide(scores, selector.cutoff([scores])).chosen).tolist()
    assert chosen == {True: [0, 1, 2, 3], False: [0, 1, 5, 6]}
