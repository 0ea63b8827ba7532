"""Eisner against all projective trees with one root, written down one by one."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from friend_training.tasks.parsing.dependency.model import eisner

Tree = tuple[int, ...]


def is_tree(heads: Tree) -> bool:
    """Every word leads up to the root, which has one dependent."""
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def is_projective(heads: Tree) -> bool:
    arcs = [tuple(sorted((word, head))) for word, head in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def trees(words: int) -> list[Tree]:
    return [heads for heads in product(range(words + 1), repeat=words) if is_tree(heads) and is_projective(heads)]


def total(scores: NDArray[np.float32], heads: Tree) -> float:
    return float(sum(scores[word, head] for word, head in enumerate(heads)))


def test_there_are_as_many_trees_as_known() -> None:
    """1, 2, 7, 30, 143: the sequence of projective trees (Kuhlmann 2010)."""
    assert [len(trees(words)) for words in range(1, 6)] == [1, 2, 7, 30, 143]


@given(seed=st.integers(0, 2**32 - 1), lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6))
@settings(max_examples=60)
def test_the_best_of_all_trees_in_batches_of_any_lengths(seed: int, lengths: list[int]) -> None:
    longest = max(lengths)
    scores = np.random.default_rng(seed).normal(size=(len(lengths), longest, longest + 1)).astype(np.float32)
    found = eisner(scores, np.array(lengths))
    for row, length in enumerate(lengths):
        best = max(trees(length), key=lambda heads: total(scores[row], heads))
        assert tuple(found[row, :length]) == best
        assert not found[row, length:].any()


def test_scores_from_outside_the_sentence_do_not_matter() -> None:
    scores = np.zeros((1, 4, 5), dtype=np.float32)
    scores[0, :, 3:] = 100.0  # words 3 and 4 are padding
    scores[0, 2:] = 100.0
    scores[0, 1, 1] = 1.0
    assert eisner(scores, np.array([2]))[0].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("words", [1, 7, 30])
def test_long_sentences_get_one_projective_tree(words: int) -> None:
    scores = np.random.default_rng(words).normal(size=(3, words, words + 1)).astype(np.float32)
    scores[:, :, 0] += 5.0  # every word would like to be the root
    for heads in eisner(scores, np.full(3, words)).tolist():
        assert is_tree(tuple(heads))
        assert is_projective(tuple(heads))


def test_two_roots_are_never_better() -> None:
    """Without the rule every word would hang on the root: the best tree has one of them there, the rest below it."""
    scores = np.full((1, 3, 4), -10.0, dtype=np.float32)
    scores[0, :, 0] = 0.0
    scores[0, 2, 0] = 1.0
    (heads,) = eisner(scores, np.array([3])).tolist()
    assert heads.count(0) == 1
    assert heads[2] == 0


def test_the_brute_force_knows_what_crosses() -> None:
    assert not is_projective((3, 4, 0, 3))
    assert is_projective((2, 0, 4, 2))
    assert not is_tree((2, 1))
