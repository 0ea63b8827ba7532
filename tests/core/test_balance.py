"""What is chosen keeps the label distribution of gold, whatever the rule of picking is."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.selector import (
    Nothing,
    Pick,
    Random,
    Scores,
    Selector,
    Share,
    Threshold,
    TopN,
    TotalAgreement,
    gold_shares,
    quotas,
)
from friend_training.errors import ConfigError, DataError

SHARES = {'"a"': 0.5, '"b"': 0.3, '"c"': 0.2}


def batch(labels: str, start: int = 0) -> Scores:
    """Units with these labels; the surer and the better matched, the earlier they stand."""
    count = len(labels)
    sure = np.linspace(0.9, 0.5, count)
    names = [f"u{start + number}" for number in range(count)]
    content = np.ones(count, dtype=bool)
    return Scores(names, sure, np.where(sure > 0.6, 1.0, 0.0), content, [f'"{label}"' for label in labels])


def chosen(pick: Pick, *batches: Scores, weight: float = 1.0) -> Counter[str]:
    selector = Selector(pick, confidence_weight=weight, balance=SHARES)
    line = selector.cutoff(batches)
    taken = [selector.decide(one, line).chosen for one in batches]
    return Counter(
        label.strip('"')
        for one, mask in zip(batches, taken, strict=True)
        for label, yes in zip(one.label, mask, strict=True)
        if yes
    )


PLENTY = batch("aaaabbbcc" * 12)


def test_the_best_of_each_label_are_chosen_until_its_share_is_full():
    assert chosen(TopN(40), PLENTY) == {"a": 20, "b": 12, "c": 8}
    selector = Selector(TopN(40), confidence_weight=1.0, balance=SHARES)
    mask = selector.decide(PLENTY, selector.cutoff([PLENTY])).chosen
    for label in SHARES:
        own = np.array([name == label for name in PLENTY.label])
        assert PLENTY.confidence[own & mask].min() > PLENTY.confidence[own & ~mask].max()


@pytest.mark.parametrize(
    ("pick", "weight", "total"),
    [(Random(40, seed=3), 1.0, 40), (Share(0.25), 1.0, 27), (Threshold(0.6), 1.0, 81), (TotalAgreement(), 0.2, 81)],
)
def test_every_rule_can_be_balanced(pick, weight, total):
    found, expected = chosen(pick, PLENTY, weight=weight), quotas(SHARES, total)
    available = (
        Counter(PLENTY.label)
        if isinstance(pick, Random | Share)
        else Counter(label for label, sure in zip(PLENTY.label, PLENTY.confidence, strict=True) if sure > 0.6)
    )
    assert found == {label.strip('"'): min(expected[label], available[label]) for label in SHARES}


@pytest.mark.parametrize("pick", [TopN(43), Share(43 / 108), Threshold(0.6), TotalAgreement(), Random(43, seed=3)])
def test_the_store_tells_what_quotas_have_changed(pick):
    """The same rule without quotas: what it alone chooses found a quota full, what it would not choose fills one."""
    balanced = Selector(pick, confidence_weight=1.0, balance=SHARES)
    alone = Selector(pick, confidence_weight=1.0)
    if not isinstance(pick, TopN | Share | Random):
        balanced = replace(balanced, balance={'"a"': 1.0})  # a threshold is never lowered: quotas only leave out
    found = balanced.decide(PLENTY, balanced.cutoff([PLENTY]))
    free = alone.decide(PLENTY, alone.cutoff([PLENTY])).chosen
    told = {str(why): found.reason == why for why in set(found.reason)}
    assert (told["chosen"] == (found.chosen & free)).all()
    assert (told["quota full"] == (free & ~found.chosen)).all()
    if "chosen to fill a quota" in told:
        assert (told["chosen to fill a quota"] == (found.chosen & ~free)).all()
    else:
        assert not (found.chosen & ~free).any()
    assert ("chosen to fill a quota" in told) == isinstance(pick, TopN | Share | Random)


def test_a_label_that_is_scarce_leaves_its_room_empty():
    assert chosen(TopN(10), batch("a" * 30 + "b")) == {"a": 5, "b": 1}


def test_a_label_without_a_share_is_not_chosen():
    assert chosen(TopN(10), batch("dddddaaaaa")) == {"a": 5}


def test_a_threshold_still_holds():
    lowest = Selector(Threshold(0.89), confidence_weight=1.0, balance=SHARES)
    mask = lowest.decide(PLENTY, lowest.cutoff([PLENTY])).chosen
    assert PLENTY.confidence[mask].min() >= 0.89
    assert not lowest.decide(PLENTY, lowest.cutoff([batch("a")])).chosen[PLENTY.confidence < 0.89].any()


def test_equal_scores_do_not_overfill_a_share():
    same = Scores([f"u{n}" for n in range(50)], np.full(50, 0.9), np.ones(50), np.ones(50, bool), ['"a"'] * 50)
    assert chosen(TotalAgreement(), same, weight=0.2) == {"a": 25}
    assert chosen(Threshold(0.5), same) == {"a": 25}


def test_nothing_stays_nothing():
    assert chosen(Nothing(), PLENTY) == {}


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_batches_do_not_change_what_is_chosen(labels, count, cut):
    whole = batch("".join(labels))
    parts = [
        Scores(whole.unit[rows], whole.confidence[rows], whole.match[rows], whole.content[rows], whole.label[rows])
        for rows in (slice(cut, None), slice(0, cut))
    ]
    assert chosen(TopN(count), *parts) == chosen(TopN(count), whole)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(0, 500))
def test_quotas_are_near_their_shares_and_add_up(counts, total):
    shares = {str(place): count / sum(counts) for place, count in enumerate(counts)}
    found = quotas(shares, total)
    assert sum(found.values()) == total
    assert all(abs(found[label] - share * total) < 1 for label, share in shares.items())


def test_gold_shares_go_by_the_labels_json():
    assert gold_shares(["no", "yes", "yes", "yes"]) == {'"no"': 0.25, '"yes"': 0.75}
    assert gold_shares([(1, 2), (1, 2)], tuple[int, int]) == {"[1,2]": 1.0}
    with pytest.raises(DataError, match="no gold labels"):
        gold_shares([])


def test_shares_are_shares():
    with pytest.raises(ConfigError, match="balance is"):
        Selector(TopN(1), balance={"a": 1.5})
