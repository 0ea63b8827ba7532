"""What is read in a terminal of 80 columns: tables, not Markdown, and no line is longer."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from helpers.command import FriendTrain

PAGES = ("dev", "chosen", "details", "differences", "seeds")


@pytest.fixture
def _in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes what it writes to for a terminal


def plain(out: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out)


def assert_narrow(out: str) -> None:
    """Lines that end in a path or a command to copy are never broken."""
    for line in plain(out).splitlines():
        assert cell_len(line) <= 80 or "/" in line, line


@pytest.mark.usefixtures("_in_a_terminal")
@pytest.mark.parametrize("shown", ["scores", *PAGES])
def test_compare_draws_tables(finished: Path, friend_train: FriendTrain, shown: str) -> None:
    said = friend_train("compare", finished, "--show", shown)
    assert said.code == 0, said.err
    assert_narrow(said.out)
    assert "──" in said.out
    assert "| ---" not in said.out
    assert "|---" not in said.out


@pytest.mark.parametrize("shown", PAGES)
def test_compare_is_markdown_in_a_pipe_and_where_it_is_asked_for(
    finished: Path, friend_train: FriendTrain, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = friend_train("compare", finished, "--show", shown).out
    assert re.search(r"^\|( ?---|--:)", piped, re.MULTILINE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert friend_train("compare", finished, "--show", shown, "--format", "markdown").out == piped


def test_other_formats_are_for_scores_alone(finished: Path, friend_train: FriendTrain) -> None:
    said = friend_train("compare", finished, "--show", "dev", "--format", "csv")
    assert said.code == 2
    assert "only --show scores" in said.err


def test_a_summary_of_a_run_without_controls_is_refused(finished: Path, friend_train: FriendTrain) -> None:
    said = friend_train("compare", finished, "--show", "summary")
    assert said.code == 2
    assert "the strongest control, and none was run" in said.err


@pytest.mark.usefixtures("_in_a_terminal")
def test_show_keeps_methods_whole(finished: Path, friend_train: FriendTrain) -> None:
    said = friend_train("show", finished, "--examples", "1")
    assert said.code == 0, said.err
    assert_narrow(said.out)
    rows = [line.split()[0] for line in plain(said.out).splitlines() if line.startswith(" ") and line.split()]
    assert rows.count("FDT") >= 4
    assert rows.count("Base") >= 2


@pytest.mark.usefixtures("_in_a_terminal")
def test_diagnose_draws_tables(own: Path, friend_train: FriendTrain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.parent)
    said = friend_train("diagnose", own, "--examples", "1", "--data-dir", own.parent)
    assert said.code == 0, said.err
    assert_narrow(said.out)
    assert "|---" not in said.out
    assert (own / "diagnosis" / "fdt.md").read_text(encoding="utf-8").count("|---") > 2, "what is kept is Markdown"


@pytest.mark.usefixtures("_in_a_terminal")
@pytest.mark.parametrize(
    "words", [("config", "list"), ("data", "list"), ("theory", "--eta-a", "0.3", "--target-error", "0.2")]
)
def test_other_tables_fit(friend_train: FriendTrain, words: tuple[str, ...]) -> None:
    said = friend_train(*words)
    assert said.code == 0, said.err
    if words != ("config", "list"):  # lines of prose, broken by the terminal
        assert_narrow(said.out)
