"""friend-train theory, as typed; and the grid in docs/theory.md is what it prints."""

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from friend_training.analysis.error_rates import corrected_error_rate, match_probability, printed_error_rate
from friend_training.cli.analyse import theory
from friend_training.errors import ConfigError

APP = typer.Typer()
APP.command()(theory)
DOCS = Path(__file__).parents[2] / "docs" / "theory.md"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(APP, list(arguments), env={"COLUMNS": "80", "TERM": "dumb"})
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_both_forms_stand_side_by_side() -> None:
    row = run("--eta-a", "0.3", "--eta-b", "0.3", "--sigma", "10").splitlines()[-2].split()
    assert row == ["0.3", "0.3", "10", "0.181", "0.1892", "0.3867"]


def test_everything_at_once_fits_into_80_columns() -> None:
    sizes = ("--sigma", "10", "--sigma", "10000")
    out = run("--eta-a", "0.75", *sizes, "--target-error", "0.0005", "--simulate", "5000", "--rho", "0")
    assert "…" not in out
    assert max(len(line) for line in out.splitlines()) <= 80
    small, large = (line.split() for line in out.splitlines()[-3:-1])
    assert small[:3] == ["0.75", "0.7", "10"]
    assert small[-1] == "none"
    assert float(large[-1]) < 0.1
    assert small[-2] == large[-2] == "952"
    assert float(small[6]) == pytest.approx(float(small[5]), abs=5 * float(small[8]))


def test_a_copying_friend_never_reaches_the_target() -> None:
    assert run("--rho", "0.2", "--target-error", "0.05").splitlines()[-2].split()[-2:] == ["none", "none"]


def test_values_out_of_range_are_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"eta_a is 1\.5"):
        run("--eta-a", "1.5")
    with pytest.raises(ConfigError, match=r"\|Σ\| is 0"):
        run("--sigma", "0")


def test_the_grid_in_the_docs_is_true() -> None:
    rows = re.findall(
        r"^ (0\.\d) +(0\.\d) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) ± ([\d.]+)$",
        DOCS.read_text(encoding="utf-8"),
        re.M,
    )
    assert len(rows) == 18
    for row in rows:
        eta_a, eta_b, size, agreed, printed, corrected, simulated, se = map(float, row)
        assert agreed == pytest.approx(match_probability(eta_a, eta_b, 1 / size), abs=6e-4)
        assert printed == pytest.approx(printed_error_rate(eta_a, eta_b, 1 / size), abs=6e-5)
        assert corrected == pytest.approx(corrected_error_rate(eta_a, eta_b, 1 / size), abs=6e-5)
        assert abs(simulated - corrected) < 4 * se + 1e-4
