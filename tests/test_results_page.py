"""The page of results says what the results say."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from friend_training.cli.main import app

ROOT = Path(__file__).parent.parent


def test_the_tables_of_the_results_page_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["page", "docs/results.md", "--check"], catch_exceptions=False)
    assert result.exit_code == 0
