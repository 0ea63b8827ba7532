from dataclasses import replace

import pytest

from friend_training.core.selector import Selector, Threshold, TopN
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import Training
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.friend_training import fdt
from friend_training.methods.self_training import sst
from friend_training.runs.steps import Select, Train
from helpers.toy_runs import SETTINGS, audit, friends, gold, plan, pool, start

EDGE = friends("stars", "mood")


def plans(**changes):
    return {name: plan(name, **changes) for name in ("stars", "mood")}


def test_base_is_iteration_zero(tmp_path):
    run = start(tmp_path / "run")
    outcome = base(run, plans(), settings=SETTINGS)
    assert {name: (found.best_iteration, len(found.dev)) for name, found in outcome.items()} == {
        "stars": (0, 1),
        "mood": (0, 1),
    }
    assert run.store.iterations() == []


def test_base_same_steps_trains_as_often_on_gold_alone(tmp_path):
    run = start(tmp_path / "run")
    outcome = base_same_steps(run, plans(), settings=SETTINGS)
    assert len(outcome["mood"].dev) == 3
    found = [run.require(Train("mood", iteration)) for iteration in range(3)]
    assert [(result["steps"], result["pseudo"]) for result in found] == [(20, 0), (15, 0), (15, 0)]


def test_sst_goes_by_confidence_alone_and_tasks_do_not_meet(tmp_path):
    together, alone = start(tmp_path / "together"), start(tmp_path / "alone")
    sst(together, plans(), pool(), settings=SETTINGS, audit=audit)
    sst(alone, {"mood": plan("mood")}, pool(), settings=SETTINGS)
    assert all(row["overall"] == row["confidence"] for row in together.store.read(1).to_pylist())
    for iteration in range(3):
        step = Train("mood", iteration)
        assert together.require(step)["digest"] == alone.require(step)["digest"]


def test_fdt_lets_friends_decide(tmp_path):
    run = start(tmp_path / "run")
    fdt(run, plans(), [EDGE], pool(), settings=SETTINGS)
    rows = run.store.read(1).to_pylist()
    assert all(row["chosen"] <= (row["match"] == 1.0) for row in rows)
    with pytest.raises(ConfigError, match="at least one friendship"):
        fdt(start(tmp_path / "none"), plans(), [], pool(), settings=SETTINGS)


def test_fdt_with_a_fixed_friend(tmp_path):
    strong = replace(plan("mood"), base=Training(steps=300))
    run = start(tmp_path / "run")
    fdt(run, {"stars": plan("stars"), "mood": strong}, [EDGE], pool(), settings=SETTINGS, fixed=["mood"])
    assert run.result(Train("mood", 1)) is None
    assert run.require(Train("stars", 2))["pseudo"] > 0
    with pytest.raises(ConfigError, match="no task 'moot'"):
        fdt(start(tmp_path / "typo"), plans(), [EDGE], pool(), settings=SETTINGS, fixed=["moot"])


@pytest.mark.parametrize("control", ["as many", "random"])
def test_controls_choose_as_many_as_the_method(tmp_path, control):
    method, other = start(tmp_path / "fdt"), start(tmp_path / "control")
    fdt(method, plans(), [EDGE], pool(), settings=SETTINGS)
    alone = Selector(Threshold(0.5), confidence_weight=1.0)
    same = {}
    for name, made in plans().items():
        counts = chosen_counts(method, name, SETTINGS.iterations)
        chooses = as_many(alone, counts) if control == "as many" else random_as_many(alone, counts, seed=1)
        same[name] = replace(made, selectors=chooses)
    sst(other, same, pool(), settings=SETTINGS)
    for name in same:
        counts = chosen_counts(method, name, 2)
        assert 0 < min(counts) <= max(counts) < len(pool())
        assert chosen_counts(other, name, 2) == counts


def test_as_many_keeps_the_rest_of_the_selector():
    selector = Selector(Threshold(0.5), confidence_weight=0.7, content="only")
    assert as_many(selector, [3, 4]) == [replace(selector, pick=TopN(3)), replace(selector, pick=TopN(4))]


def test_a_shuffled_friend_knows_nothing(tmp_path):
    """Two well-trained tasks agree nearly everywhere; shuffled, they agree as often as chance has it."""
    strong = {
        name: replace(made, base=Training(steps=400), gold=gold(name, 300, 3, "gold")) for name, made in plans().items()
    }
    settings = replace(SETTINGS, iterations=2, shard_size=60)
    informed, blind = start(tmp_path / "informed"), start(tmp_path / "blind")
    fdt(informed, strong, [EDGE], pool(), settings=settings)
    fdt(blind, strong, [shuffled(EDGE, seed=1)], pool(), settings=settings)
    means = [
        [run.require(Select(1))["tasks"][name]["mean_match"] for name in ("stars", "mood")] for run in (informed, blind)
    ]
    assert min(means[0]) > 0.85
    assert max(means[1]) < 0.7
