"""The pages of results say what the results say."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from friend_training.cli.experiment import BLOCK
from friend_training.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if BLOCK.search(page.read_text(encoding="utf-8"))
]
APPENDIX = [page for page in PAGES if page.startswith("docs/appendix/")]
INTERVAL = re.compile(r"[+-]\d+\.\d \[[+-]\d+\.\d, [+-]\d+\.\d\]")
PROGRAMS = re.compile(r"```.*?```", re.DOTALL)
"""Programs and what they print; tests/examples runs those."""
SAID_IN_PROSE = ["README.md", "docs/results.md", "docs/notes-on-the-paper.md", "experiments/HISTORY.md"]
ARCHIVED = ["real-domain-generalisation", "real-few-shot-checked --against fdt-checked"]
"""Their tables stand on no page, but HISTORY.md names their numbers."""


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_tables_of_all_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert {"README.md", "docs/results.md"} <= set(PAGES)
    result = CliRunner().invoke(app, ["page", *PAGES, "--check"], catch_exceptions=False)
    assert result.exit_code == 0


def test_intervals_in_prose_stand_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tables = {found for page in PAGES for block in BLOCK.finditer(text(page)) for found in INTERVAL.findall(block[0])}
    for experiment in ARCHIVED:
        command = ["compare", "--show", "differences", *f"experiments/archive/{experiment}".split()]
        tables |= set(INTERVAL.findall(CliRunner().invoke(app, command, catch_exceptions=False).stdout))
    for page in SAID_IN_PROSE:
        said = set(INTERVAL.findall(PROGRAMS.sub("", BLOCK.sub("", text(page)))))
        assert said
        assert said <= tables, page


def test_the_page_of_results_is_short() -> None:
    assert len(text("docs/results.md").splitlines()) <= 300
    assert len(text("experiments/HISTORY.md").splitlines()) <= 150


@pytest.mark.parametrize("page", APPENDIX)
def test_a_page_of_the_appendix_has_three_tables_at_most(page: str) -> None:
    assert len(re.findall(r"^\|[-: |]+\|$", text(page), re.MULTILINE)) <= 3
