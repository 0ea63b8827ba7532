"""CKY against all binary trees with all labels, written down one by one."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from friend_training.tasks.parsing.constituency.model import cky

Span = tuple[int, int]


def binary_trees(first: int, last: int) -> Iterator[tuple[Span, ...]]:
    if last - first == 1:
        yield ((first, last),)
    for split in range(first + 1, last):
        for left, right in product(binary_trees(first, split), binary_trees(split, last)):
            yield ((first, last), *left, *right)


def test_there_are_as_many_binary_trees_as_known() -> None:
    """The numbers of Catalan."""
    assert [len(list(binary_trees(0, words))) for words in range(1, 6)] == [1, 1, 2, 5, 14]


def best_labelling(scores: NDArray[np.float32], words: int) -> float:
    """Over all binary trees and all ways to label their spans; label 0 is none, and not for the whole sentence."""
    totals = []
    for tree in binary_trees(0, words):
        labels = scores.shape[2]
        for labelling in product(range(labels), repeat=len(tree)):
            if labelling[0]:
                totals.append(sum(scores[i, j, label] for (i, j), label in zip(tree, labelling, strict=True)))
    return float(max(totals))


@given(seed=st.integers(0, 2**32 - 1), words=st.integers(1, 3))
@settings(max_examples=40)
def test_the_best_labelled_tree(seed: int, words: int) -> None:
    """With three labels: CKY gets the best label of each span and finds the tree that wins among all labelled ones."""
    scores = np.random.default_rng(seed).normal(size=(words + 1, words + 1, 3)).astype(np.float32)
    best = scores.max(axis=2)
    best[0, words] = scores[0, words, 1:].max()
    chosen = cky(best[None], np.array([words]))[0]
    assert best[chosen].sum() == pytest.approx(best_labelling(scores, words), abs=1e-5)


@given(seed=st.integers(0, 2**32 - 1), lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6))
@settings(max_examples=60)
def test_the_best_of_all_trees_in_batches_of_any_lengths(seed: int, lengths: list[int]) -> None:
    fences = max(lengths) + 1
    scores = np.random.default_rng(seed).normal(size=(len(lengths), fences, fences)).astype(np.float32)
    chosen = cky(scores, np.array(lengths))
    for row, length in enumerate(lengths):
        best = max(binary_trees(0, length), key=lambda tree: sum(scores[row][span] for span in tree))
        assert {(int(i), int(j)) for i, j in zip(*np.nonzero(chosen[row]), strict=True)} == set(best)
