"""The benchmark beside the machine: every way is timed in every round; what differs by more than noise is said."""

from dataclasses import replace
from pathlib import Path

import ceiling
import page
import pytest


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("ceiling") / "ceiling.jsonl"
    ceiling.main(["--synthetic", "--rounds", "1", "--dialogues", "6", "--results", str(results)])
    return results


def test_every_task_is_labelled_and_trained_in_both_precisions(measured: Path) -> None:
    records = ceiling.read(measured)
    assert {one.key[1:] for one in records} == {
        (what, precision) for what in ("labelling", "training") for precision in ("fp32", "bf16")
    }
    assert len(records) == 8
    assert {one.machine for one in records} == {ceiling.machine()}
    for one in records:
        assert all(len(rounds) == 1 for rounds in (one.products, one.bare, one.ours, one.straightforward))
        assert f"| {one.task} | {one.what}, {one.precision} |" in ceiling.table(records)


def ours(*seconds: float) -> ceiling.Ceiling:
    two = (1.0,) * len(seconds)
    return ceiling.Ceiling(
        "a machine", "2", "today", "csrl", "labelling", "fp32", 10, two, two, seconds, (3.0,) * len(seconds)
    )


def test_what_differs_by_more_than_noise_is_said() -> None:
    before = [ours(2.0, 2.1, 2.2)]
    assert ceiling.differences(before, [ours(1.0, 1.1, 1.2)]) == ["csrl, labelling, fp32: 48% before, 91% now"]
    assert ceiling.differences(before, [ours(1.0, 1.1, 2.0)]) == [], "the ranges meet"
    assert ceiling.differences([ours(2.0)], [ours(1.95)]) == [], "less than a twentieth"
    assert ceiling.differences(before, [replace(ours(1.0), machine="another one")]) == []


def test_a_claim_is_a_range_over_machines() -> None:
    two = [ours(1.0), replace(ours(2.0), machine="another one")]
    assert "| csrl | labelling | 1.50 to 3.00 |" in page.beside_the_loop([], two)
