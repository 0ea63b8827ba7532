"""--help answers at once, fits into 80 columns and names every command."""

import subprocess
import sys
from typing import Any

import pytest
from rich.cells import cell_len
from typer.main import get_command

from friend_training.cli.main import app
from helpers.command import FriendTrain


def _commands(command: Any = None, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command that can be typed, () for the first page and groups among them."""
    command = command or get_command(app)
    inner = sorted(getattr(command, "commands", {}).items())
    return [words, *(found for name, one in inner for found in _commands(one, (*words, name)))]


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_help_fits_into_80_columns(friend_train: FriendTrain, command: tuple[str, ...]) -> None:
    said = friend_train(*command, "--help")
    assert said.code == 0
    assert "Usage: friend-train" in said.out
    assert max(cell_len(line) for line in said.out.splitlines()) <= 80
    assert "…" not in "".join(line for line in said.out.splitlines() if "│" in line), "nothing is cut off"


@pytest.mark.parametrize("group", [(), ("data",)], ids=" ".join)
def test_a_page_names_every_command(friend_train: FriendTrain, group: tuple[str, ...]) -> None:
    inner = [command[-1] for command in _commands() if command and command[:-1] == group]
    assert len(inner) > 3
    said = friend_train(*group, "--help")
    assert [name for name in inner if f"│ {name} " not in said.out] == []


def test_no_group_is_forgotten() -> None:
    assert {command[:-1] for command in _commands() if command} == {(), ("config",), ("data",)}


def test_help_does_not_wait_for_torch() -> None:
    program = "import sys, friend_training.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"torch", "transformers", "pyarrow", "scipy"}.isdisjoint(loaded)
