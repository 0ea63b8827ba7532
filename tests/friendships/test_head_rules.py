"""Head rules: known phrases, gold heads by hand, and what must hold for any tree."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.errors import DataError
from friend_training.friendships.parsing import head_child, lexical_heads
from friend_training.types import Bracket, Tree
from helpers.small_treebank import small_treebank

LABELS = ("S", "NP", "VP", "PP", "SBAR+S", "NP+QP", "FRAG", "UNHEARD-OF")
TAGS = ("NN", "VBD", "IN", "DT", ",", "``")


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP", "DT JJ NN NN", 3),
        ("NP", "NP CC NP", 2),
        ("NP", "NP PP", 0),
        ("NP", "NNP CD", 0),
        ("NP", "NNP POS", 1),
        ("VP", "MD RB VP", 0),
        ("VP", "TO VP", 1),
        ("VP", "VP CC VP", 0),
        ("PP", "ADVP IN NP", 1),
        ("S", "PP , NP VP .", 3),
        ("SBAR", "IN S", 0),
        ("ADJP", "RB JJ PP", 1),
        ("QP", "RB $ CD CD", 1),
        ("FRAG", "`` NP : NP .", 1),
        ("UNHEARD-OF", "NP PP .", 1),
        ("PRN", "-LRB- -RRB-", 1),
    ],
)
def test_which_child_is_the_head(label: str, children: str, head: int) -> None:
    assert head_child(label, children.split()) == head


def test_the_heads_of_a_small_treebank(tmp_path: Path) -> None:
    for example, heads in small_treebank(tmp_path):
        assert lexical_heads(example.tree) == heads.heads, example.words


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any nested brackets, the whole sentence covered by one or not."""
    words = draw(st.integers(1, 8))
    spans: set[tuple[int, int]] = set()
    for start, length in draw(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8)), max_size=12)):
        end = min(words, start + length)
        if start < end and all(not (s < start < e < end or start < s < end < e) for s, e in spans):
            spans.add((start, end))
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    brackets = tuple(Bracket(start, end, draw(st.sampled_from(LABELS))) for start, end in ordered)
    return Tree(brackets, tuple(draw(st.sampled_from(TAGS)) for _ in range(words)))


@given(trees())
def test_one_arc_enters_every_phrase(tree: Tree) -> None:
    heads = lexical_heads(tree)
    assert len(heads) == len(tree.tags)
    assert heads.count(0) == 1
    for bracket in tree.brackets:
        inside = range(bracket.start + 1, bracket.end + 1)
        assert sum(heads[word - 1] not in inside for word in inside) == 1


def test_no_words_no_heads() -> None:
    assert lexical_heads(Tree((), ())) == ()


@pytest.mark.parametrize("brackets", [((0, 2), (1, 3)), ((0, 4),), ((1, 1),)])
def test_brackets_that_are_no_tree(brackets: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(DataError, match="no tree"):
        lexical_heads(Tree(tuple(Bracket(start, end, "NP") for start, end in brackets), ("NN", "NN", "NN")))
