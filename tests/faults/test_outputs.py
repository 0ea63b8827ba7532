"""Commands that write destroy nothing that is not theirs."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

LINE = json.dumps({"id": "1", "turns": [{"speaker": "A", "text": "你好"}]}) + "\n"

Command = Callable[..., str]


@pytest.fixture
def given(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(LINE, encoding="utf-8")
    return path


def test_a_device_is_not_replaced_by_a_file(refused: Command, given: Path, device: Path) -> None:
    """As root, `data convert IN /dev/null` once made a file of /dev/null."""
    assert "is a device" in refused("data", "convert", given, device, "--force")
    assert device.is_char_device()


def test_a_pipe_is_not_replaced_by_a_file(refused: Command, given: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "is a pipe" in refused("data", "convert", given, pipe, "--force")
    assert pipe.is_fifo()


def test_what_is_there_is_replaced_only_with_force(refused: Command, done: Command, given: Path) -> None:
    out = given.with_name("out.jsonl")
    out.write_text("mine")
    assert f"{out} is already there; --force replaces it" in refused("data", "convert", given, out)
    assert out.read_text() == "mine"
    done("data", "convert", given, out, "--force")
    assert json.loads(out.read_text()) == json.loads(LINE)
    parts = given.parent / "parts"
    done("data", "split", given, parts, "--part", "all=rest")
    assert "is already there" in refused("data", "split", given, parts, "--part", "all=rest")
    done("data", "split", given, parts, "--part", "all=rest", "--force")


def test_a_temporary_name_of_somebody_else_is_left_alone(done: Command, given: Path) -> None:
    (given.parent / "out.jsonl.tmp").mkdir()
    (given.parent / "out.jsonl.tmp" / "thesis.txt").write_text("mine")
    done("data", "convert", given, given.parent / "out.jsonl")
    assert (given.parent / "out.jsonl.tmp" / "thesis.txt").read_text() == "mine"


def test_a_failed_command_leaves_nothing(refused: Command, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(LINE + "{broken\n", encoding="utf-8")
    refused("data", "convert", path, tmp_path / "out.jsonl")
    assert [found.name for found in tmp_path.iterdir()] == ["in.jsonl"]


def test_paths_may_look_like_marks_of_the_console(done: Command, refused: Command, given: Path) -> None:
    """`out[/bold]` is the file `bold]` in the folder `out[`; rich took it for a mark that was never opened."""
    out = given.parent / "out[/bold]"
    assert f"{out}: 1 dialogue examples" in done("data", "convert", given, out)
    parts = given.parent / "parts[/bold]"
    assert f"{parts / 'all'}.jsonl: 1 examples" in done("data", "split", given, parts, "--part", "all=rest")
    assert "[/bold]: no such file" in refused("data", "check", "[/bold]")
