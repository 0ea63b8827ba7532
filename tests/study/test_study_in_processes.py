"""A whole study by two processes: both go through it, one of them writes, and nothing is missing in the end."""

import os
from pathlib import Path
from typing import Any

import pytest

from friend_training.study import data
from friend_training.study.folders import is_finished, read_records
from friend_training.study.study import run_study
from helpers.several import in_processes
from helpers.tiny_config import tiny_config


def live(folder: str) -> dict[str, Any]:
    """One of the processes; what it wrote, and the records it has."""
    written: list[str] = []
    rename = os.replace

    def spy(source: Any, target: Any) -> None:
        written.append(Path(target).name)
        rename(source, target)

    os.replace = spy
    data.SYNTHETIC_TRAIN = 40
    records = run_study(tiny_config("methods=[base, fdt]"), Path(folder))
    return {"written": written, "records": records}


@pytest.mark.slow
def test_a_study_by_two_processes(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    first, second = in_processes(2, tmp_path / "said", live, str(folder))
    assert second["written"] == []
    assert {"results.jsonl", "report.html", "metrics.jsonl", "bridge"} <= set(first["written"])
    assert is_finished(folder)
    assert first["records"] == second["records"] == read_records(folder)
    assert [record["method"] for record in first["records"]] == ["base", "fdt"]
