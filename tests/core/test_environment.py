"""What a run says it was made with."""

from pathlib import Path

import pytest

from friend_training.runs.run import environment


def test_a_package_that_is_half_installed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, told in (("whole", "Name: whole\nVersion: 1.0\n"), ("half", None)):
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        if told is not None:
            (tmp_path / f"{name}-1.0.dist-info" / "METADATA").write_text(told)
    monkeypatch.syspath_prepend(str(tmp_path))
    packages = environment()["packages"]
    assert packages["whole"] == "1.0"
    assert None not in packages
    assert len(packages) > 10
