"""The two parsers: gold agrees with gold, and parsers that do not look at the sentence agree with nobody."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.analysis.agreement import measured_epsilon
from friend_training.core.friendship import decide
from friend_training.core.task import Prediction
from friend_training.friendships.parsing import (
    MatchSpans,
    Scoring,
    constituency_dependency,
    disputed_phrases,
    lexical_heads,
    match_arcs,
    phrases_of,
)
from friend_training.testing import MatchCase, check_friendship, check_matcher
from friend_training.types import Bracket, Heads, Tree, Words
from helpers.small_treebank import small_treebank

SCORINGS: tuple[Scoring, ...] = ("head-rules", "paper", "paper-all")

Gold = tuple[list[Words], list[Tree], list[Heads]]


@pytest.fixture
def gold(tmp_path: Path) -> Gold:
    pairs = small_treebank(tmp_path)
    return [e.words for e, _ in pairs], [e.tree for e, _ in pairs], [heads for _, heads in pairs]


def predicted(words: Sequence[Words], labels: Sequence[Any]) -> list[list[Prediction]]:
    return [[Prediction(one.id, label, 0.5)] for one, label in zip(words, labels, strict=True)]


def score(scoring: Scoring, words: Sequence[Words], trees: Sequence[Tree], heads: Sequence[Heads]) -> list[float]:
    matches = constituency_dependency(scoring).match(words, predicted(words, trees), predicted(words, heads))
    assert all(match.first == match.second and len(match.first) == 1 for match in matches)
    return [match.first[0] for match in matches if match.first[0] is not None]


def chain(words: Words) -> Heads:
    return Heads(tuple(range(len(words.words))))


def backward_chain(words: Words) -> Heads:
    return Heads((*range(2, len(words.words) + 1), 0))


def all_on_the_first(words: Words) -> Heads:
    return Heads((0, *[1] * (len(words.words) - 1)))


def at_random(words: Words) -> Heads:
    draw = random.Random(words.id)
    return Heads((0, *(draw.randint(1, word - 1) for word in range(2, len(words.words) + 1))))


def flat(words: Words, tags: tuple[str, ...]) -> Tree:
    return Tree((Bracket(0, len(words.words), "S"),), tags)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_gold_agrees_with_gold(gold: Gold, scoring: Scoring) -> None:
    assert score(scoring, *gold) == [1.0] * len(gold[0])


@pytest.mark.parametrize("parser", [chain, backward_chain, all_on_the_first, at_random])
def test_heads_that_ignore_the_sentence_score_low(gold: Gold, parser: Any) -> None:
    words, trees, _ = gold
    assert mean(score("head-rules", words, trees, [parser(one) for one in words])) < 0.2


def test_flat_trees_score_low(gold: Gold) -> None:
    words, trees, heads = gold
    flattened = [flat(one, tree.tags) for one, tree in zip(words, trees, strict=True)]
    assert mean(score("head-rules", words, flattened, heads)) < 0.2
    assert max(score("head-rules", words, flattened, [chain(one) for one in words])) < 0.2


def test_why_the_paper_s_scoring_is_not_the_default(gold: Gold) -> None:
    words, trees, heads = gold
    assert score("paper", words, trees, [chain(one) for one in words]) == [1.0] * len(words)
    flattened = [flat(one, tree.tags) for one, tree in zip(words, trees, strict=True)]
    assert score("paper", words, flattened, heads) == [1.0] * len(words)


def test_a_wrong_attachment_costs_something(gold: Gold) -> None:
    """'for her sister' hangs on the cake: one arc of eleven is wrong, and one of four phrases is another."""
    words, trees, heads = gold
    wrong = Heads((*heads[0].heads[:7], 7, *heads[0].heads[8:]))
    (scored,) = score("head-rules", words[:1], trees[:1], [wrong])
    arcs, phrases = 10 / 11, 2 * 4 / (5 + 5)  # the cook | a big cake … | her sister | for … | make …
    assert scored == pytest.approx(2 * arcs * phrases / (arcs + phrases))
    # That phrase is none in the tree, but every phrase of the tree is still entered once.
    assert score("paper", words[:1], trees[:1], [wrong]) == [1.0]


def test_the_shares_of_the_paper_s_scoring() -> None:
    spans = ((0, 4), (0, 2), (2, 4))
    heads = (3, 3, 0, 3)  # two arcs enter [0, 2)
    assert MatchSpans()([spans], [heads])[0].first == (pytest.approx(2 / 3),)
    assert MatchSpans(every=True)([spans], [heads])[0].first == (0.0,)
    assert MatchSpans()([spans], [(0,)])[0].first == (pytest.approx(2 / 3),), (
        "a span beyond the sentence is not entered"
    )


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_single_word_has_nothing_to_match(scoring: Scoring) -> None:
    words = [Words("a", ("Yes",))]
    assert score(scoring, words, [Tree((Bracket(0, 1, "INTJ"),), ("UH",))], [Heads((0,))]) == []


@pytest.mark.parametrize("scoring", SCORINGS)
def test_conformance(gold: Gold, scoring: Scoring) -> None:
    words, trees, heads = gold
    check_friendship(
        constituency_dependency(scoring),
        inputs=[*words, words[0]],
        first=predicted([*words, words[0]], [*trees, trees[0]]),
        second=predicted([*words, words[0]], [*heads, chain(words[0])]),
        agreeing=range(len(words)),
        symmetric=scoring == "head-rules",
    )


def test_shuffled_friends_hardly_ever_agree(gold: Gold) -> None:
    words, trees, heads = gold
    friendship = constituency_dependency()
    found = measured_epsilon(friendship, words, predicted(words, trees), predicted(words, heads), seed=1, rounds=3)
    assert found.epsilon == 0.0
    assert found.unshuffled.total_agreement == 1.0


any_heads = st.integers(1, 7).flatmap(lambda n: st.tuples(*[st.integers(0, n)] * n))


@given(any_heads)
def test_phrases_are_the_yields(heads: tuple[int, ...]) -> None:
    """Also where heads go in circles: a word is below all that it leads to."""

    def leads_to(word: int) -> set[int]:
        found: set[int] = set()
        while word and word not in found:
            found.add(word)
            word = heads[word - 1]
        return found

    above = {word: leads_to(word) for word in range(1, len(heads) + 1)}
    below = [sum(1 << (word - 1) for word in above if top in above[word]) for top in above]
    assert phrases_of(heads) == {y for y in below if y.bit_count() > 1 and y.bit_count() < len(heads)}


@given(any_heads, any_heads)
def test_total_agreement_is_the_same_tree(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    (match,) = match_arcs([a], [b])
    if max(len(a), len(b)) > 1:
        assert (match.first == (1.0,)) == (a == b)
    check_matcher(
        match_arcs,
        cases=[MatchCase(a, b, 1, 1), MatchCase((2, 0), (2, 0), 1, 1, agree=True)],
        symmetric=True,
    )


def test_in_parts_the_arcs_that_the_friend_disputes_are_left_open(gold: Gold) -> None:
    """Gold agrees with gold; of a chain only the arcs that are right are learnt."""
    words, trees, heads = gold
    first = [[Prediction(one.id, tree, 0.5)] for one, tree in zip(words, trees, strict=True)]
    chains = [Heads(tuple(range(len(one.words)))) for one in words]
    friendship = constituency_dependency(choose="parts")
    assert friendship.joint_second is not None
    arcs = friendship.translate_first(words, first)
    for predicted in (heads, chains):
        second = [[Prediction(one.id, label, 0.5)] for one, label in zip(words, predicted, strict=True)]
        found = decide("dependency", [friendship], {}, words, {"constituency": first, "dependency": second})
        for (unit,), label, known in zip(found, predicted, arcs, strict=True):
            open_words = {word for word, head in enumerate(label.heads) if head != known[word]}
            assert unit.label == replace(label, unsure=tuple(sorted(open_words)))


def test_gold_disputes_no_phrase_of_gold_and_chains_dispute_most(gold: Gold) -> None:
    words, trees, heads = gold
    own = predicted(words, trees)
    agreed = disputed_phrases(words, own, [], predicted(words, heads))
    assert [units[0].label for units in agreed] == trees
    foreign = disputed_phrases(words, own, [], predicted(words, [chain(one) for one in words]))
    for tree, (unit,) in zip(trees, foreign, strict=True):
        label = unit.label
        spans = {(one.start, one.end) for one in tree.brackets}
        assert set(label.brackets) <= set(tree.brackets)
        assert {(one.start, one.end) for one in set(tree.brackets) - set(label.brackets)} <= set(label.unsure)
        assert {span for span in spans if span[1] - span[0] == 1}.isdisjoint(label.unsure), "nothing is said of these"
    assert sum(len(unit.label.unsure) for (unit,) in foreign) > len(words)
    assert disputed_phrases(words, own, [], [[] for _ in words]) == own, "a friend without an answer"


def test_what_one_friend_leaves_open_the_next_one_keeps_open(gold: Gold) -> None:
    words, trees, heads = gold
    some = [replace(tree, unsure=((0, 1),)) for tree in trees]
    for (unit,) in disputed_phrases(words, predicted(words, some), [], predicted(words, heads)):
        assert unit.label.unsure == ((0, 1),)


def test_a_phrase_around_another_head_is_disputed() -> None:
    words = [Words("s", ("the", "big", "dog", "barks"))]
    tree = Tree((Bracket(0, 4, "S"), Bracket(0, 3, "NP"), Bracket(3, 4, "VP")), ("DT", "JJ", "NN", "VBZ"))
    other_head, other_phrase = Heads((4, 1, 1, 0)), Heads((2, 4, 4, 0))
    for heads, unsure in ((other_head, ((0, 3),)), (other_phrase, ((0, 2), (0, 3)))):
        [[unit]] = disputed_phrases(words, predicted(words, [tree]), [], predicted(words, [heads]))
        assert unit.label.unsure == unsure
        assert Bracket(0, 3, "NP") not in unit.label.brackets


def test_each_friend_s_answer_is_proposed_as_a_label_of_the_other(gold: Gold) -> None:
    words, trees, heads = gold
    friendship = constituency_dependency()
    assert friendship.propose_first is not None
    assert friendship.propose_second is not None
    found = friendship.propose_second(words, predicted(words, heads), predicted(words, trees))
    assert [one.label for units in found for one in units if one is not None] == heads
    flat_trees = [flat(one, tree.tags) for one, tree in zip(words, trees, strict=True)]
    for tree, (one,) in zip(
        trees, friendship.propose_first(words, predicted(words, flat_trees), predicted(words, heads)), strict=True
    ):
        assert one is not None
        spans = {(bracket.start, bracket.end) for bracket in tree.brackets}
        proposed = {(bracket.start, bracket.end) for bracket in one.label.brackets}
        assert proposed <= spans
        assert {span for span in spans if span[1] - span[0] > 1} <= proposed | set(one.label.unsure)
        assert one.label.unsure_tags == tuple(range(len(tree.tags))), "heads say nothing of tags"
        assert lexical_heads(replace(one.label, unsure=())) is not None, "what is proposed is a tree"


def test_nothing_is_proposed_that_cannot_be_said() -> None:
    words = [Words("s", ("a", "b", "c", "d"))]
    tree = flat(words[0], ("X",) * 4)
    friendship = constituency_dependency()
    assert friendship.propose_first is not None
    assert friendship.propose_second is not None
    crossing = Heads((3, 4, 0, 3))
    assert friendship.propose_first(words, predicted(words, [tree]), predicted(words, [crossing])) == [[None]]
    named = Heads((2, 0, 2, 2), ("a", "b", "c", "d"))
    assert friendship.propose_second(words, predicted(words, [named]), predicted(words, [tree])) == [[None]]
    assert friendship.propose_second(words, predicted(words, [named]), [[]]) == [[None]]
