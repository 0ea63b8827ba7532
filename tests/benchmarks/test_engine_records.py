"""What is read off the records of engines: overheads within rounds, and memory over the length of the pool."""

from dataclasses import replace
from pathlib import Path

import engine_records
import pytest
from engine_records import Record


def record(engine: str, number: int, seconds: float, cpu: float, **other: object) -> Record:
    plain = Record(
        run="b",
        round=number,
        what="overhead",
        engine=engine,
        encoder="one layer",
        dialogues=100,
        shard_size=10,
        units=220,
        open_seconds=0.1,
        label_seconds=seconds,
        label_cpu_seconds=cpu,
        first_seconds=1.0,
        first_cpu_seconds=2.0,
        select_seconds=0.1,
        store_bytes=1000,
        peak_mb=500.0,
        workers_peak_mb=None,
        store="same",
        torch="2",
        cores=2,
        load=1.0,
    )
    return replace(plain, **other)  # type: ignore[arg-type]


ROUNDS = [
    record("local-2", 0, 11.0, 20.0),
    record("ray-2", 0, 13.0, 29.0),
    record("ray-2", 1, 25.0, 29.0),
    record("local-2", 1, 21.0, 20.0),
]


def test_overheads_are_taken_within_a_round_of_the_last_run() -> None:
    """The machine was half as fast in the second round; an older run, and a round of one engine, do not count."""
    old = [record("local-2", 0, 1.0, 1.0, run="a"), record("ray-2", 0, 9.0, 9.0, run="a")]
    (found,) = engine_records.overheads([*old, *ROUNDS, record("local-2", 2, 1.0, 1.0)])
    assert found.rounds == 2
    assert found.wall == pytest.approx((13 / 11 + 25 / 21) / 2 - 1)
    assert found.cpu == pytest.approx(0.45)
    assert found.wall_after_start == pytest.approx(0.2)
    assert found.cpu_after_start == pytest.approx(0.5)
    assert found.same
    (other,) = engine_records.overheads([*ROUNDS[:3], replace(ROUNDS[3], store="another")])
    assert not other.same
    assert "DIFFERENT" in engine_records.said(other)


def test_memory_is_that_of_the_largest_process() -> None:
    rows = [
        record("here", 0, 1.0, 1.0, what="memory", dialogues=10, peak_mb=400.0),
        record("here", 0, 1.0, 1.0, what="memory", dialogues=100, peak_mb=410.0),
        record("local-2", 0, 1.0, 1.0, what="memory", dialogues=10, peak_mb=300.0, workers_peak_mb=450.0),
    ]
    assert engine_records.memory_growth([*ROUNDS, *rows]) == {
        ("one layer", "here"): {10: 400.0, 100: 410.0},
        ("one layer", "local-2"): {10: 450.0},
    }


def test_nothing_measured_is_no_record(tmp_path: Path) -> None:
    assert engine_records.read(tmp_path / "none.jsonl") == []
