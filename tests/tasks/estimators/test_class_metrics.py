import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from friend_training.tasks.class_metrics import accuracy_of, class_counts, classification_scores, macro_f1_of

LABELS = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40))
def test_scores_are_those_of_scikit_learn(pairs):
    predicted, gold = (list(column) for column in zip(*pairs, strict=True))
    found = classification_scores(predicted, gold)
    assert found["accuracy"] == pytest.approx(100 * accuracy_score(gold, predicted))
    expected = f1_score(gold, predicted, labels=sorted(set(gold)), average="macro", zero_division=0)
    assert found["macro_f1"] == pytest.approx(100 * expected)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=40))
def test_counts_of_parts_add_up(pairs):
    predicted, gold = (list(column) for column in zip(*pairs, strict=True))
    counts = class_counts(predicted, gold, ["a", "b", "c", "d"])
    whole = np.stack([counts.sum(0), counts.sum(0)])
    scores = classification_scores(predicted, gold)
    np.testing.assert_allclose(100 * accuracy_of(whole), scores["accuracy"])
    np.testing.assert_allclose(100 * macro_f1_of(whole), scores["macro_f1"])


def test_no_answer_is_a_wrong_one():
    assert classification_scores([None, "a"], ["a", "a"]) == {"accuracy": 50.0, "macro_f1": pytest.approx(200 / 3)}
