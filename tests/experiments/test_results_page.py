"""The pages of results say what the results say."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from friend_training.cli.experiment import BLOCK
from friend_training.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if BLOCK.search(page.read_text(encoding="utf-8"))
]


def test_the_page_of_results_has_tables() -> None:
    assert "docs/results.md" in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_of_a_page_are_up_to_date(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["page", page, "--check"], catch_exceptions=False)
    assert result.exit_code == 0
