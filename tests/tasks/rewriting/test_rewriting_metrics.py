import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.tasks.rewriting.metrics import (
    RewritingScore,
    bleu_of,
    exact_match_of,
    rouge_l_of,
    score,
    unit_counts,
    word_error_rate_of,
)

texts = st.text("ab甲", max_size=7)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=6)


def slow_edit_distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    change = slow_edit_distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(change, slow_edit_distance(a[1:], b) + 1, slow_edit_distance(a, b[1:]) + 1)


def slow_longest_common_subsequence(a: str, b: str) -> int:
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + slow_longest_common_subsequence(a[1:], b[1:])
    return max(slow_longest_common_subsequence(a[1:], b), slow_longest_common_subsequence(a, b[1:]))


def test_by_hand() -> None:
    # Three characters of seven missing, then a perfect one of three.
    counts = score(["王芳喜欢", "喝咖啡"], ["王芳喜欢喝绿茶", "喝咖啡"])
    assert counts.as_dict()["em"] == 50
    assert counts.as_dict()["wer"] == pytest.approx(100 * 3 / 10)
    assert counts.as_dict()["rouge_l"] == pytest.approx(100 * (2 * 4 / 11 + 1) / 2)
    # n-grams: 7 of 7, 5 of 5, 3 of 3, 1 of 1 match; 7 characters against 10.
    assert counts.as_dict()["bleu"] == pytest.approx(100 * math.exp(1 - 10 / 7))


def test_bleu_clips_repeated_ngrams() -> None:
    # 1-grams 2/4 (a occurs once in the reference, b once), 2-grams 1/3, no 3-gram: zero without smoothing.
    counts = RewritingScore.of("aaba", "xabx")
    assert counts.matching == (2, 1, 0, 0)
    assert counts.possible == (4, 3, 2, 1)
    assert counts.as_dict()["bleu"] == 0
    # With a second utterance the corpus has all orders: (6/8 · 4/6 · 2/4 · 1/2)^(1/4).
    both = counts + RewritingScore.of("abcd", "abcd")
    assert both.as_dict()["bleu"] == pytest.approx(100 * ((6 / 8) * (4 / 6) * (2 / 4) * (1 / 2)) ** 0.25)


def test_unsegmented_chinese_is_scored_by_characters() -> None:
    assert score(["他喜欢喝茶"], ["他喜欢喝茶"]).as_dict() == {"rouge_l": 100, "em": 100, "wer": 0, "bleu": 100}


def test_empty_texts() -> None:
    assert score([""], [""]).as_dict()["rouge_l"] == 100
    assert score(["ab"], [""]).as_dict() == {"rouge_l": 0, "em": 0, "wer": 200, "bleu": 0}
    assert score([""], ["ab"]).as_dict() == {"rouge_l": 0, "em": 0, "wer": 100, "bleu": 0}
    assert unit_counts([], []).shape == (0, 14)


def test_sequences_must_be_parallel() -> None:
    with pytest.raises(ValueError):
        score(["a"], ["a", "b"])


@given(texts, texts)
def test_distances_agree_with_the_definitions(prediction: str, reference: str) -> None:
    counts = RewritingScore.of(prediction, reference)
    assert counts.edits == slow_edit_distance(prediction, reference)
    if prediction or reference:
        common = slow_longest_common_subsequence(prediction, reference)
        assert counts.rouge_l == pytest.approx(2 * common / (len(prediction) + len(reference)))


@given(pairs, st.integers(0, 6))
def test_metrics_of_parts_add_up(cases: list[tuple[str, str]], cut: int) -> None:
    predictions, references = [p for p, _ in cases], [r for _, r in cases]
    whole = score(predictions, references)
    parts = score(predictions[:cut], references[:cut]) + score(predictions[cut:], references[cut:])
    assert parts.as_dict() == pytest.approx(whole.as_dict())
    summed = unit_counts(predictions, references).sum(0)
    both = np.stack([summed, np.zeros_like(summed)])  # every metric takes many counts at once
    expected = whole.as_dict()
    for metric, name in (
        (rouge_l_of, "rouge_l"),
        (exact_match_of, "em"),
        (word_error_rate_of, "wer"),
        (bleu_of, "bleu"),
    ):
        np.testing.assert_allclose(metric(both), [expected[name], 0])
