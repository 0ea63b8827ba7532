import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import friend_training.core.selector as selector_module
from friend_training.core.selector import (
    Best,
    Nothing,
    Random,
    Scores,
    Selector,
    Share,
    Threshold,
    TopN,
    TotalAgreement,
)
from friend_training.errors import ConfigError


def scores(rows):
    units, confidence, match, content = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Scores(list(units), np.array(confidence, float), np.array(match, float), np.array(content, dtype=bool))


ROWS = [
    ("sure-and-agreed", 0.9, 1.0, True),
    ("unsure-but-agreed", 0.1, 1.0, True),
    ("sure-but-not", 0.9, 0.1, True),
    ("unmatched", 0.95, None, True),
    ("empty", 0.99, 1.0, False),
]
BATCH = scores(ROWS)


def decide(selector, batch=BATCH):
    return selector.decide(batch, selector.cutoff([batch]))


def test_the_overall_score_weighs_confidence_and_match():
    overall = Selector(Threshold(0.6), confidence_weight=0.2).overall(BATCH)
    np.testing.assert_allclose(overall, [0.98, 0.82, 0.26, np.nan, 0.998])


def test_threshold_says_why():
    found = decide(Selector(Threshold(0.6), confidence_weight=0.2))
    assert found.reason.tolist() == ["chosen", "chosen", "score below threshold", "nothing to match", "chosen"]
    assert found.chosen.tolist() == [True, True, False, False, True]
    assert found.weight.tolist() == [1, 1, 0, 0, 1]
    assert found.threshold.tolist() == [0.6] * 5


def test_a_score_that_reaches_the_threshold_is_chosen():
    assert decide(Selector(Threshold(0.9), confidence_weight=1.0)).chosen.tolist() == [True, False, True, True, True]


def test_confidence_alone_needs_no_match():
    nowhere = scores([("a", 0.9, None, True), ("b", 0.2, None, True)])
    found = decide(Selector(Threshold(0.5), confidence_weight=1.0), nowhere)
    assert found.overall.tolist() == [0.9, 0.2]
    assert found.reason.tolist() == ["chosen", "score below threshold"]


def test_unmatched_units_can_go_by_their_confidence():
    found = decide(Selector(Threshold(0.9), confidence_weight=0.2, unmatched="confidence"))
    assert found.overall[3] == 0.95
    assert found.chosen[3]


def test_only_content():
    found = decide(Selector(Threshold(0.0), content="only"))
    assert found.reason.tolist() == ["chosen", "chosen", "chosen", "nothing to match", "no content"]


def test_total_agreement_looks_at_the_match_alone():
    found = decide(Selector(TotalAgreement(), unmatched="confidence"))
    assert found.reason.tolist() == ["chosen", "chosen", "matching below 1", "nothing to match", "chosen"]


def test_nothing_is_chosen_and_nothing_else_is_said():
    found = decide(Selector(Nothing(), content="only"))
    assert set(found.reason) == {"not selecting"}
    assert np.isnan(found.threshold).all()


def test_share_is_of_the_units_that_can_be_chosen():
    found = decide(Selector(Share(0.5), content="only"))
    assert found.reason.tolist()[:3] == ["chosen", "chosen", "score below threshold"]
    assert found.threshold[0] == pytest.approx(0.82)


def test_random_has_no_threshold():
    found = decide(Selector(Random(2, seed=1)))
    assert sorted(set(found.reason)) == ["chosen", "not drawn", "nothing to match"]
    assert np.isnan(found.threshold).all()


def test_random_depends_on_its_seed_alone():
    batch = scores([(f"u{n}", 0.5, 1.0, True) for n in range(40)])
    first, again, other = (decide(Selector(Random(20, seed)), batch).chosen.tolist() for seed in (1, 1, 2))
    assert first == again != other


unit_rows = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([None, 0.0, 0.5, 1.0]), st.booleans()),
    max_size=40,
)
selectors = st.builds(
    Selector,
    pick=st.one_of(
        st.builds(Threshold, st.floats(0, 1)),
        st.builds(TotalAgreement),
        st.builds(TopN, st.integers(0, 30)),
        st.builds(Share, st.floats(0, 1)),
        st.builds(Random, st.integers(0, 30), st.integers(0, 3)),
        st.builds(Nothing),
    ),
    confidence_weight=st.sampled_from([0.0, 0.2, 1.0]),
    unmatched=st.sampled_from(["reject", "confidence"]),
    content=st.sampled_from(["any", "only"]),
)


@given(selector=selectors, rows=unit_rows, order=st.randoms(use_true_random=False), cut=st.integers(1, 7))
def test_neither_order_nor_batches_change_what_is_chosen(selector, rows, order, cut):
    named = [(f"u{number}", *row) for number, row in enumerate(rows)]
    whole = decide(selector, scores(named))
    expected = dict(zip([name for name, *_ in named], whole.reason, strict=True))
    order.shuffle(named)
    batches = [scores(named[start : start + cut]) for start in range(0, len(named), cut)]
    cutoff = selector.cutoff(batches)
    found = {}
    for batch in batches:
        found |= dict(zip(batch.unit, selector.decide(batch, cutoff).reason, strict=True))
    assert found == expected


@given(rows=unit_rows, count=st.integers(0, 45), pick=st.sampled_from([TopN, lambda count: Random(count, seed=3)]))
def test_as_many_as_asked_for_or_as_there_are(rows, count, pick):
    batch = scores([(f"u{number}", *row) for number, row in enumerate(rows)])
    possible = sum(match is not None and content for _, match, content in rows)
    found = decide(Selector(pick(count), content="only"), batch)
    assert found.chosen.sum() == min(count, possible)


@given(rows=unit_rows, count=st.integers(1, 20))
def test_top_n_chooses_nothing_worse_than_what_it_leaves(rows, count):
    batch = scores([(f"u{number}", *row) for number, row in enumerate(rows)])
    found = decide(Selector(TopN(count)), batch)
    left = found.overall[~found.chosen & ~np.isnan(found.overall)]
    if found.chosen.any() and len(left):
        assert found.overall[found.chosen].min() >= left.max()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pick": Threshold(0.5), "confidence_weight": 1.2}, "confidence_weight is 1.2"),
        ({"pick": Threshold(float("nan"))}, "value is nan"),
        ({"pick": TopN(-1)}, "count is -1"),
        ({"pick": Share(1.5)}, "fraction is 1.5"),
        ({"pick": Nothing(), "unmatched": "keep"}, "unmatched is 'keep'"),
        ({"pick": Nothing(), "content": "some"}, "content is 'some'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Selector(**settings)


def test_a_share_of_what_comes_only_once_is_refused():
    with pytest.raises(TypeError, match="only once"):
        Selector(Share(0.5)).cutoff(iter([BATCH]))


@given(
    keys=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=60),
    count=st.integers(0, 20),
    cut=st.integers(1, 9),
)
def test_sorting_out_in_between_loses_nothing(keys, count, cut):
    """With no units to spare, the held ones are sorted out again and again."""
    draw = np.array([(n * 7919) % 64 for n in range(len(keys))], np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selector_module, "SPARE", 0)
        best = Best(count)
        for start in range(0, len(keys), cut):
            best.add(np.array(keys[start : start + cut]), draw[start : start + cut])
            assert best._held <= 2 * count + cut
        found = best.cutoff(count)
    ranked = sorted(zip(keys, draw.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[:count]
    expected = ranked[-1] if ranked else (None, None)
    assert (found.score, found.draw) == expected or (not ranked and np.isnan(found.score))
