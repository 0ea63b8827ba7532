from dataclasses import replace

import pytest

from friend_training.core.selector import Nothing, Selector, TotalAgreement
from friend_training.errors import ConfigError, DataError
from friend_training.loop.algorithm import check_plan
from helpers.toy_runs import SETTINGS, friends, plan, pool

PLANS = {"stars": plan("stars"), "mood": plan("mood")}
EDGE = friends("stars", "mood")


def check(plans=PLANS, friendships=(EDGE,), inputs=pool(), settings=SETTINGS):  # noqa: B008
    check_plan(plans, friendships, inputs, settings)


def test_a_sound_plan_passes():
    check()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"settings": replace(SETTINGS, shard_size=0)}, ConfigError, "shard_size ≥ 1"),
        ({"settings": replace(SETTINGS, iterations=3)}, ConfigError, "'stars': 2 selectors for 3 iterations"),
        ({"friendships": [friends("stars", "thumb")]}, ConfigError, "no task 'thumb'; there are stars, mood"),
        ({"friendships": [friends("stars", "stars")]}, ConfigError, "joins task 'stars' with itself"),
        ({"friendships": [EDGE, EDGE]}, ConfigError, "two friendships of the same name"),
        ({"friendships": []}, ConfigError, "'stars' has no friend"),
        ({"plans": PLANS | {"a/b": PLANS["mood"]}}, ConfigError, "task 'a/b': a name of letters"),
        ({"inputs": []}, ConfigError, "pool of unlabeled inputs is empty"),
        ({"inputs": [*pool(), pool()[3]]}, DataError, "two inputs of the pool have the id 'pool3'"),
    ],
)
def test_what_cannot_work_is_refused_before_training(changes, error, message):
    with pytest.raises(error, match=message):
        check(**changes)


def test_total_agreement_needs_a_friend_even_at_full_confidence():
    alone = replace(PLANS["stars"], selectors=[Selector(TotalAgreement(), confidence_weight=1.0)] * 2)
    with pytest.raises(ConfigError, match="has no friend"):
        check({"stars": alone}, ())


def test_choosing_nothing_needs_neither_friend_nor_pool():
    check({"stars": replace(PLANS["stars"], selectors=[Selector(Nothing())] * 2)}, (), ())
