"""--help answers at once, fits into 80 columns and names every command."""

import re
import subprocess
import sys
from pathlib import Path
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


def _written(command: tuple[str, ...]) -> list[str]:
    """What a command's help has between brackets, as it is written."""
    found: Any = get_command(app)
    for word in command:
        found = found.commands[word]
    texts = [found.help or "", *(getattr(one, "help", None) or "" for one in found.params)]
    return [bracket for text in texts for bracket in re.findall(r"\[[^\[\]]+\]", text)]


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_brackets_in_help_are_shown(friend_train: FriendTrain, command: tuple[str, ...]) -> None:
    """rich takes [word] for a style; where a word is meant it has to be written \\[word]."""
    lines = friend_train(*command, "--help").out.splitlines()
    shown = "".join("".join(line.strip("│ ").split()) for line in lines)
    for bracket in _written(command):
        assert "".join(bracket.split()) in shown, f"{bracket} is not shown"


def test_help_of_export_names_its_extra(friend_train: FriendTrain) -> None:
    assert "friend-training[onnx]" in "".join(friend_train("export", "--help").out.split())


@pytest.mark.parametrize("command", ["serve", "compare", "show", "report", "inspect", "predict", "resume"])
def test_a_folder_that_is_not_there_is_told_before_torch_is_loaded(command: str, tmp_path: Path) -> None:
    words = {"predict": ["--task", "csrl", "nothing.jsonl"]}.get(command, [])
    program = (
        "import sys; from friend_training.cli.main import main\n"
        f"try: main([{command!r}, 'nowhere', *{words!r}])\n"
        "except SystemExit as end: print(end.code, 'torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert said.stdout.split() == ["2", "False"], said.stderr
    assert "nowhere" in said.stderr
