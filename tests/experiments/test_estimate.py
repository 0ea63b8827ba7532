"""How long an experiment will take: from what it took before, else from what there is to do."""

from dataclasses import replace
from pathlib import Path

import pytest

from friend_training.experiments.estimate import RATES, Estimate, estimate, modelled
from friend_training.experiments.experiment import Piece, Variant
from friend_training.study.config import CaseStudyConfig
from helpers.tiny_config import tiny_config

PLACE = Path("runs")


def piece(*changes: str, variant: str | None = None) -> Piece:
    config = tiny_config("methods=[base, sst, fdt]", *changes)
    named = None if variant is None else Variant(name=variant)
    return Piece(config, PLACE / (variant or "") / f"seed-{config.seed}", PLACE / "resources", named)


def record(of: Piece, method: str, seconds: float | None) -> dict[str, object]:
    return {"config_id": of.config_id, "method": method, "seed": of.config.seed, "seconds": seconds}


def test_the_same_method_of_another_seed_is_the_best_guess() -> None:
    first, second = piece("seed=1"), piece("seed=2")
    results = [record(first, "fdt", 100.0), record(piece("seed=3"), "fdt", 140.0), record(first, "bridge-alone", None)]
    found = estimate([(first, []), (second, ["fdt"])], results, unprepared=[])
    assert found.pieces == (0.0, 120.0)
    assert found.known == 2


def test_other_methods_are_modelled_and_corrected_by_what_is_known() -> None:
    one = piece()
    plain = estimate([(one, ["sst"])], [], unprepared=[]).pieces[0]
    assert plain == modelled(one.config, "sst") > 0
    slow = [record(one, "fdt", 3 * modelled(one.config, "fdt"))]
    assert estimate([(one, ["sst"])], slow, unprepared=[]).pieces[0] == pytest.approx(3 * plain)
    foreign = [slow[0] | {"config_id": "of other settings"}]
    assert estimate([(one, ["sst"])], foreign, unprepared=[]).pieces[0] == plain


def test_the_model_counts_steps_and_dialogues() -> None:
    config = tiny_config("iterations=2")
    more = config.model_copy(update={"iterations": 4})
    rate = RATES["scratch"].step * 4 / 16 * 32 / 256
    answers = RATES["scratch"].answer * 32 / 256
    assert modelled(config, "base") == pytest.approx(24 * rate + 2 * (6 + 6) * answers)
    assert modelled(more, "base") == modelled(config, "base")
    labelled = modelled(config, "sst") - modelled(config, "base-same-steps")
    assert labelled == pytest.approx(2 * 2 * 12 * answers)
    assert modelled(more, "sst") > 1.8 * modelled(config, "sst") - modelled(config, "base")
    assert modelled(config, "base-full") > 2 * modelled(config, "base")
    assert modelled(config, "cps") > modelled(config, "mt") > modelled(config, "base-same-steps")
    assert modelled(config, "bridge-alone") == 0
    slow = CaseStudyConfig.model_validate(config.model_dump() | {"encoder": {"kind": "pretrained", "source": "x"}})
    assert modelled(slow, "fdt") > modelled(config, "fdt")


def test_a_longer_base_takes_longer_and_an_equal_one_is_not_known_to_be_equal() -> None:
    low = piece(variant="low")
    high = piece("tasks.csrl.pick_threshold=0.9", variant="high")
    longer = piece("tasks.csrl.base_steps=50", variant="longer")
    found = estimate([(one, ["base"]) for one in (low, high, longer)], [], unprepared=[])
    assert found.pieces[0] > 0
    assert found.pieces[1] == found.pieces[0], "whether it is taken over is seen when its data are there"
    assert found.pieces[2] > found.pieces[0]


def test_jobs_share_the_work_but_not_what_comes_first() -> None:
    found = Estimate(pieces=(60.0, 50.0, 40.0, 10.0), resources=5.0, known=0)
    assert found.together(1) == 165
    assert found.together(2) == 5 + 90
    assert found.together(9) == 65


def test_encoder_and_bridge_take_time_once() -> None:
    one = piece()
    nothing = estimate([(one, ["sst"])], [], unprepared=[])
    first = estimate([(one, ["sst"])], [], unprepared=[one])
    assert nothing.resources == 0
    assert first.resources == pytest.approx(12 * RATES["scratch"].step * 4 / 16 * 32 / 256)
    ltp = replace(one, config=tiny_config("bridge={kind: ltp, source: x}"))
    assert estimate([(one, ["sst"])], [], unprepared=[ltp]).resources == 0


def test_a_bridge_counts_where_a_method_asks_one() -> None:
    with_bridge, without = piece(), piece("methods=[base, sst]")
    assert estimate([(with_bridge, ["fdt"])], [], unprepared=[with_bridge]).resources > 0
    assert estimate([(without, ["sst"])], [], unprepared=[without]).resources == 0
