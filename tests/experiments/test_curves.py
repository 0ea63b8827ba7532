"""Figures: what is drawn is what was given, and the same every time."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes

from friend_training.errors import ConfigError
from friend_training.experiments.figures import Curve, Level, Panel, Point, draw

FDT = Curve("FDT", (Point(90, (40.0, 50.0)), Point(10, (20.0, 22.0))))
BASE = Curve("Base", (Point(10, (15.0,)), Point(90, (30.0,))), quiet=True)
PANEL = Panel("CSRL", "labels (%)", "F1", (FDT, BASE), (Level("FDT, all labels", (55.0, 57.0)),))


def test_a_point_is_the_mean_and_the_deviation_over_seeds() -> None:
    assert (Point(1, (2.0, 4.0)).mean, Point(1, (2.0, 4.0)).deviation) == (3.0, pytest.approx(2**0.5))
    assert Point(1, (2.0,)).deviation == 0


def test_curves_levels_and_words_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[list[float], list[float], list[float] | None, str]] = []
    levels: list[float] = []
    errorbar, axhline = Axes.errorbar, Axes.axhline

    def watched_errorbar(axes: Axes, x: list[float], y: list[float], **looks: object) -> object:
        drawn.append((x, y, looks["yerr"], str(looks["label"])))  # type: ignore[arg-type]
        return errorbar(axes, x, y, **looks)  # type: ignore[arg-type]

    def watched_axhline(axes: Axes, y: float, **looks: object) -> object:
        levels.append(y)
        return axhline(axes, y, **looks)  # type: ignore[arg-type]

    monkeypatch.setattr(Axes, "errorbar", watched_errorbar)
    monkeypatch.setattr(Axes, "axhline", watched_axhline)
    out = tmp_path / "figures" / "strength.svg"
    draw([PANEL, PANEL], out)
    fdt, base = drawn[:2]
    assert fdt == ([10, 90], [21.0, 45.0], [pytest.approx(2**0.5), pytest.approx(50**0.5)], "FDT")
    assert base == ([10, 90], [15.0, 30.0], None, "Base"), "one seed has no bars"
    assert (len(drawn), levels) == (4, [56.0, 56.0])
    assert out.read_bytes().startswith(b"<?xml")


def test_equal_figures_have_equal_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    for path in (first, second):
        draw([PANEL], path)
    assert first.read_bytes() == second.read_bytes()


def test_the_ending_says_the_format(tmp_path: Path) -> None:
    draw([PANEL], tmp_path / "figure.PNG")
    assert (tmp_path / "figure.PNG").read_bytes().startswith(b"\x89PNG")
    for name in ("figure.jpeg2", "figure"):
        with pytest.raises(ConfigError, match="svg, png, pdf"):
            draw([PANEL], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.PNG"]
