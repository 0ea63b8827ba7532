"""A whole study whose pool is labelled by two processes: the same bytes as when one process does everything."""

from pathlib import Path

import pytest
from small import contents, small_config

from friend_training.scenarios import data
from friend_training.scenarios.study import run_study


@pytest.mark.slow
def test_two_workers_make_the_same_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "EMBEDDED_TRAIN", 40)
    for name, changes in (("one", []), ("two", ["engine.workers=2"])):
        run_study(small_config("methods=[base, fdt]", *changes), tmp_path / name)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    different = {Path(name).name for name in one | two if one.get(name) != two.get(name)}
    assert different == {"config.yaml"}  # which says who labelled
    assert "methods/fdt/store/iteration-001/shard-00001.parquet" in one
