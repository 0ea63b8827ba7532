"""The benchmark of several processes: a tiny measurement leaves its records, and the table compares within rounds."""

import sys
from pathlib import Path

import processes
import pytest


def record(count: int, number: int, seconds: float, run: str = "b") -> processes.Record:
    return processes.Record(
        run=run,
        encoder="scratch",
        task="csrl",
        data="synthetic",
        processes=count,
        batch_size=16,
        round=number,
        steps=10,
        examples=160,
        seconds=seconds,
        cpu_seconds=seconds,
        torch="2",
        cores=2,
        load=0.5,
    )


def test_ratios_are_taken_within_a_round() -> None:
    """The machine was twice as slow in the second round: that does not matter. An older run does not count."""
    old = [record(1, 0, 1.0, "a"), record(2, 0, 100.0, "a")]
    rows = [record(1, 0, 4.0), record(2, 0, 2.0), record(1, 1, 8.0), record(2, 1, 5.0), record(1, 2, 4.0)]
    shown = processes.table([*old, *rows, record(2, 2, 2.5)]).splitlines()
    assert len(shown) == 3
    assert shown[2] == "| scratch | csrl, synthetic | 40.0 | 64.0 | 1.60 | 3, 0.5 |"


def test_a_child_that_fails_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(SystemExit, match=r"\[1, 1\]"):
        processes.start(2, {})


@pytest.mark.slow
def test_a_tiny_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.jsonl"
    size = ["--dialogues", "8", "--batch-size", "3", "--steps", "4", "--rounds", "1"]
    processes.main(["--synthetic", "--task", "rewriting", *size, "--results", str(results)])
    one, two = processes.read(results)
    assert (one.processes, two.processes) == (1, 2)
    assert one.examples == two.examples
    assert 4 <= one.examples <= 12
    assert min(one.seconds, two.seconds, one.cpu_seconds, two.cpu_seconds) > 0
    assert capsys.readouterr().out.count("scratch") == 1
