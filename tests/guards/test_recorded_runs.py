"""Bytes of recorded runs: a rebuilt house trains the same weights, stores the same labels and gives the same scores.

Bits depend on the machine. Where it calculates as the one that recorded did, every byte is compared; on another, what
is there and how much of it are compared exactly, and the size of weights with tolerance.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.compare_runs import differences
from helpers.machine import fingerprint
from helpers.recorded_runs import RECORDED, RUNS, description

TOLERANCE = 0.005
"""How far the mean size of weights may be off (relative) on another machine. Means of scores are not compared there:
one of a dozen labels that stands at a tie moves them by any amount."""


@pytest.fixture(scope="module", params=["toy", "small", pytest.param("small-with-controls", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What was recorded of a run, and the same run made now."""
    folder = tmp_path_factory.mktemp("run") / request.param
    RUNS[request.param](folder)
    recorded = json.loads((RECORDED / f"{request.param}.json").read_text(encoding="utf-8"))
    return recorded, folder


def test_step_files_keep_their_names(run: tuple[dict[str, Any], Path]) -> None:
    recorded, folder = run
    now_part_of_others = {"counts.json"}  # the Test step of each task keeps its own counts
    kept = {folder: sorted({*names} - now_part_of_others) for folder, names in recorded["steps"].items()}
    assert description(folder)["steps"] == kept


def test_a_run_holds_what_it_held(run: tuple[dict[str, Any], Path]) -> None:
    recorded, folder = run
    missing = recorded["contents"].keys() - description(folder)["contents"].keys()
    assert not missing


def test_bytes_are_as_they_were(run: tuple[dict[str, Any], Path]) -> None:
    recorded, folder = run
    found = description(folder)["contents"]
    before = {name: content for name, content in recorded["contents"].items() if name in found}
    if recorded["machine"] == fingerprint():
        assert {name: found[name]["digest"] for name in before} == {name: before[name]["digest"] for name in before}
    for name, content in before.items():
        assert content["numbers"].keys() == found[name]["numbers"].keys(), name
        for number, value in content["numbers"].items():
            if number != "mean":
                tolerance = TOLERANCE if number == "mean size" else 0
                assert found[name]["numbers"][number] == pytest.approx(value, rel=tolerance), name


def test_the_fingerprint_of_a_machine_is_stable() -> None:
    assert fingerprint() == fingerprint()


def test_a_comparison_sees_every_kind_of_difference(tmp_path: Path) -> None:
    """The reader itself: one that never finds anything would pass for ever."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        RUNS["toy"](folder)
    assert differences(first, second) == []
    weights = next(second.rglob("weights.npy"))
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(bytes(changed))
    metrics = second / "metrics.jsonl"
    metrics.write_text("".join(metrics.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    next(second.glob("phases/select-1.json")).unlink()
    shard = next(second.rglob("shard-*.parquet"))
    shard.write_bytes(next(path for path in second.rglob("shard-*.parquet") if path != shard).read_bytes())
    found = differences(first, second)
    assert any(line.startswith("other bytes: checkpoints") for line in found)
    assert any(line.startswith("other bytes: store") for line in found)
    assert any(line.startswith("only before: metrics.jsonl") for line in found)
    assert "step file only before: phases/select-1.json" in found
