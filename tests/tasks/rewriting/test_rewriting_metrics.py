import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.tasks.rewriting.metrics import (
    RewritingScore,
    bleu_of,
    exact_match_of,
    published_scores,
    restored_f1_of,
    rouge_l_of,
    score,
    unit_counts,
    word_error_rate_of,
)

texts = st.text("ab甲", max_size=7)
cases = st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=6)


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
    counts = score(["王芳喜欢", "喝咖啡"], ["王芳喜欢喝绿茶", "喝咖啡"], ["她喜欢", "喝咖啡"])
    assert counts.as_dict()["em"] == 50
    assert counts.as_dict()["wer"] == pytest.approx(100 * 3 / 10)
    assert counts.as_dict()["rouge_l"] == pytest.approx(100 * (2 * 4 / 11 + 1) / 2)
    # n-grams: 7 of 7, 5 of 5, 3 of 3, 1 of 1 match; 7 characters against 10.
    assert counts.as_dict()["bleu"] == pytest.approx(100 * math.exp(1 - 10 / 7))
    # Missing in 她喜欢 are 王芳 and 喝绿茶; 王芳 is restored and nothing else was added.
    assert counts.as_dict()["restored_f1"] == pytest.approx(100 * 2 * 2 / (2 + 5))


def test_who_leaves_everything_as_it_is_restores_nothing() -> None:
    said, meant = ["他来了", "好的", "好的"], ["王芳来了", "好的", "好的"]
    as_it_is = score(said, meant, said).as_dict()
    assert as_it_is["em"] == pytest.approx(200 / 3)
    assert as_it_is["restored_f1"] == 0
    assert score(meant, meant, said).as_dict()["restored_f1"] == 100
    # Two characters of four are right, and both that were missing are there.
    assert score(["王芳好的来了"], ["王芳来了"], ["他来了"]).as_dict()["restored_f1"] == pytest.approx(100 * 4 / 6)


def test_a_character_is_restored_as_often_as_it_is_missing() -> None:
    assert RewritingScore.of("人人人", "人人", "人").restored == 1
    assert RewritingScore.of("人人人", "人人", "人").added == 2


def test_nothing_to_restore_and_nothing_added() -> None:
    assert score(["好"], ["好"], ["好"]).as_dict()["restored_f1"] == 100


def test_bleu_clips_repeated_ngrams() -> None:
    # 1-grams 2/4 (a occurs once in the reference, b once), 2-grams 1/3, no 3-gram: zero without smoothing.
    counts = RewritingScore.of("aaba", "xabx", "")
    assert counts.matching == (2, 1, 0, 0)
    assert counts.possible == (4, 3, 2, 1)
    assert counts.as_dict()["bleu"] == 0
    # With a second utterance the corpus has all orders: (6/8 · 4/6 · 2/4 · 1/2)^(1/4).
    both = counts + RewritingScore.of("abcd", "abcd", "")
    assert both.as_dict()["bleu"] == pytest.approx(100 * ((6 / 8) * (4 / 6) * (2 / 4) * (1 / 2)) ** 0.25)


def test_unsegmented_chinese_is_scored_by_characters() -> None:
    same = {"rouge_l": 100, "em": 100, "wer": 0, "bleu": 100, "restored_f1": 100}
    assert score(["他喜欢喝茶"], ["他喜欢喝茶"], ["他喜欢"]).as_dict() == same


def test_empty_texts() -> None:
    nothing = {"rouge_l": 0, "em": 0, "bleu": 0, "restored_f1": 0}
    assert score([""], [""], [""]).as_dict()["rouge_l"] == 100
    assert score(["ab"], [""], [""]).as_dict() == {**nothing, "wer": 200}
    assert score([""], ["ab"], [""]).as_dict() == {**nothing, "wer": 100}
    assert unit_counts([], [], []).shape == (0, 17)


def test_sequences_must_be_parallel() -> None:
    with pytest.raises(ValueError):
        score(["a"], ["a", "b"], ["a", "b"])
    with pytest.raises(ValueError):
        score(["a"], ["a"], [])


@given(texts, texts)
def test_distances_agree_with_the_definitions(prediction: str, reference: str) -> None:
    counts = RewritingScore.of(prediction, reference, "ab")
    assert counts.edits == slow_edit_distance(prediction, reference)
    if prediction or reference:
        common = slow_longest_common_subsequence(prediction, reference)
        assert counts.rouge_l == pytest.approx(2 * common / (len(prediction) + len(reference)))


@given(cases, st.integers(0, 6))
def test_metrics_of_parts_add_up(given_cases: list[tuple[str, str, str]], cut: int) -> None:
    columns = [[case[column] for case in given_cases] for column in range(3)]
    whole = score(*columns)
    parts = score(*(column[:cut] for column in columns)) + score(*(column[cut:] for column in columns))
    assert parts.as_dict() == pytest.approx(whole.as_dict())
    summed = unit_counts(*columns).sum(0)
    both = np.stack([summed, np.zeros_like(summed)])  # every metric takes many counts at once
    expected = whole.as_dict()
    for metric, name, of_nothing in (
        (rouge_l_of, "rouge_l", 0),
        (exact_match_of, "em", 0),
        (word_error_rate_of, "wer", 0),
        (bleu_of, "bleu", 0),
        (restored_f1_of, "restored_f1", 100),
    ):
        np.testing.assert_allclose(metric(both), [expected[name], of_nothing])


def test_published_scores_by_hand() -> None:
    # One utterance lacks its b, the next has it in front: joined they are the same text.
    joined = published_scores(["a", "bc"], ["ab", "c"], ["a", "c"])
    assert joined["wer_joined"] == 0
    assert score(["a", "bc"], ["ab", "c"], ["a", "c"]).as_dict()["wer"] == pytest.approx(100 * 2 / 3)
    # Of the common aa one character is distinct: precision 1 of 1, recall 1 of 2. Ours: 2 · 2 / (2 + 3).
    assert published_scores(["aa"], ["aab"], [""])["rouge_l_distinct"] == pytest.approx(100 * 2 / 3)
    assert score(["aa"], ["aab"], [""]).as_dict()["rouge_l"] == pytest.approx(80)
    # Missing are 腊, 八 and the first 粥; 粥 alone was restored. n-grams that hold one of them: 1 of 1 and of 3 each.
    restored = published_scores(["粥喝了吗", "好"], ["腊八粥喝了吗", "好"], ["喝了吗", "好"])
    assert [restored[f"restoration_{order}"] for order in (1, 2, 3)] == pytest.approx([50, 50, 50])


def test_the_restoration_score_leaves_out_utterances_that_miss_nothing() -> None:
    # What is added to the second one does not count against the rewriter, as it does in restored F1.
    said, meant, made = ["他来了", "好的"], ["王芳来了", "好的"], ["王芳来了", "王芳好的"]
    assert published_scores(made, meant, said)["restoration_1"] == 100
    assert score(made, meant, said).as_dict()["restored_f1"] == pytest.approx(100 * 4 / 6)


def test_published_scores_of_nothing() -> None:
    assert set(published_scores([], [], []).values()) == {0}
    assert published_scores([""], [""], [""])["rouge_l_distinct"] == 100


@given(cases)
def test_joined_sentences_never_cost_more(rows: list[tuple[str, str, str]]) -> None:
    predictions, references, utterances = (list(column) for column in zip(*rows, strict=True))
    plain = score(predictions, references, utterances).as_dict()["wer"]
    assert published_scores(predictions, references, utterances)["wer_joined"] <= plain + 1e-9


@given(texts, texts)
def test_distinct_rouge_is_full_for_equal_texts_and_none_without_a_common_character(a: str, b: str) -> None:
    found = published_scores([a], [b], [""])["rouge_l_distinct"]
    assert 0 <= found <= 100 + 1e-9
    assert a != b or found == pytest.approx(100)
    assert not a or set(a) & set(b) or found == 0
