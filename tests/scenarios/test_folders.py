"""Where the parts of a study lie."""

from pathlib import Path

from friend_training.scenarios.folders import shared_resources, whole_run


def test_shared_resources_are_remembered_as_seen_from_the_run(tmp_path: Path) -> None:
    run, shared = tmp_path / "a" / "run", tmp_path / "shared"
    run.mkdir(parents=True)
    assert shared_resources(run, None) is None
    assert shared_resources(run, shared) == shared
    (tmp_path / "a").rename(tmp_path / "b")
    found = shared_resources(tmp_path / "b" / "run", None)
    assert found is not None
    assert found.resolve() == shared


def test_a_method_belongs_to_its_study(tmp_path: Path) -> None:
    method = tmp_path / "run" / "methods" / "fdt"
    method.mkdir(parents=True)
    assert whole_run(method) == method, "a folder of that name need not be part of a run"
    (tmp_path / "run" / "run.json").write_text("{}")
    assert whole_run(method) == tmp_path / "run"
    assert whole_run(tmp_path / "run") == tmp_path / "run"
