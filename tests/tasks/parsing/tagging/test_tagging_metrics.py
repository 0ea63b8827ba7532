"""The share of right tags: over words, not over sentences."""

import numpy as np
import pytest

from friend_training.tasks.parsing.tagging.metrics import accuracy_of, score, tag_scores, unit_counts
from friend_training.types import Tags

GOLD = [Tags(("NN", "VB", "NN")), Tags(("UH",))]
PREDICTED = [Tags(("NN", "NN", "NN")), Tags(("NN",))]


def test_accuracy() -> None:
    assert tag_scores(PREDICTED, GOLD) == {"accuracy": 50.0}
    assert tag_scores(GOLD, GOLD) == {"accuracy": 100.0}
    with pytest.raises(ValueError):
        tag_scores([Tags(("NN",))], [GOLD[0]])


def test_counts_of_sentences_add_up() -> None:
    counts = unit_counts(PREDICTED, GOLD)
    assert counts.tolist() == [[2.0, 3.0], [0.0, 1.0]]
    assert np.array_equal(counts.sum(axis=0), score(PREDICTED, GOLD).as_array())
    assert accuracy_of(counts.sum(axis=0)) == 50.0
    assert unit_counts([], []).shape == (0, 2)
