"""The examples of classifiers, fixed friends and triangles, run as they stand."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_polarity_and_emotion_help_each_other(tmp_path: Path) -> None:
    for before, after in load("polarity_and_emotion").main(tmp_path / "run").values():
        assert after > before + 1


def test_a_rule_and_a_file_are_friends(tmp_path: Path) -> None:
    before, after = load("fixed_friend").main(tmp_path / "run")
    assert after > before


def test_three_friends_know_how_good_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By construction the rule is right in 0.5 + 0.5/3 of the cases."""
    triangles = load("three_friends").main(tmp_path / "run")
    assert set(triangles) == {1, 2}
    for found in triangles.values():
        rule = found.friends[2]
        assert rule.accuracy == pytest.approx(2 / 3, abs=0.05)
        assert found.warnings == ()
    assert "1 polarity" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["polarity_and_emotion", "fixed_friend", "three_friends"])
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 80
