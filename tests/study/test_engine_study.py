"""A whole study whose pool is labelled by others: the same bytes as when one process does everything."""

import importlib.util
from pathlib import Path

import pytest

from friend_training.study import data
from friend_training.study.study import run_study
from helpers.study_contents import contents
from helpers.tiny_config import tiny_config

without_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("engine.workers=2", id="two-processes"),
        pytest.param("engine={kind: ray, address: null, workers: 2}", id="ray", marks=without_ray),
    ],
)
def test_others_make_the_same_study(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 40)
    for name, changes in (("here", []), ("there", [engine])):
        run_study(tiny_config("methods=[base, fdt]", *changes), tmp_path / name)
    here, there = contents(tmp_path / "here"), contents(tmp_path / "there")
    different = {Path(name).name for name in here | there if here.get(name) != there.get(name)}
    assert different == {"config.yaml", "manifest.json"}  # which say who labelled
    assert "methods/fdt/store/iteration-001/shard-00001.parquet" in here
