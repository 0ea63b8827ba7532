from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from friend_training.cli.analyse import bridges, show
from friend_training.errors import ConfigError, DataError
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles
from helpers.tiny_ltp import save_tiny_ltp

app = typer.Typer()
app.command()(bridges)


class FirstCharacter:
    """A bridge and a finder: the second character is the predicate, the first its ARG0."""

    name = "first"

    def find(self, texts: Sequence[str]) -> list[tuple[Predicate, ...]]:
        return [(Predicate(1, 2),) if len(text) > 1 else () for text in texts]

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, (SentenceArgument("ARG0", 0, 1),)) for p in s.predicates) for s in sentences]


class Silent(FirstCharacter):
    name = "silent"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        return [tuple(SentenceRoles(p, ()) for p in s.predicates) for s in sentences]


def test_bridges_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    show(["猫吃[鱼]", "啊"], [FirstCharacter(), Silent()], finder=FirstCharacter(), console=Console(width=80))
    printed = capsys.readouterr().out
    assert "猫吃[鱼]" in printed
    assert all(name in printed for name in ("predicate", "first", "silent"))
    [row] = [line for line in printed.splitlines() if "ARG0" in line]
    assert "吃" in row
    assert "ARG0 猫" in row
    assert "-" in row
    assert "no predicate found" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


def test_the_command_reads_arguments_and_a_file(tmp_path: Path) -> None:
    save_tiny_ltp(tmp_path / "ltp-tiny-zh-srl")
    file = tmp_path / "sentences.txt"
    file.write_text("今天看书。\n\n我在北京\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["昨天小明买了新手机。", "--models", str(tmp_path), "--file", str(file)])
    assert result.exit_code == 0, result.output
    printed = result.stdout.splitlines()
    given = ["昨天小明买了新手机。", "今天看书。", "我在北京"]
    assert [line for line in printed if line in given] == given


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--models", "."], ConfigError, "--file"),
        (["你好"], ConfigError, "--models"),
        (["--file", "nothing.txt"], DataError, r"nothing\.txt"),
    ],
)
def test_what_is_missing_is_said(
    arguments: list[str], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FRIEND_TRAINING_MODELS", raising=False)
    with pytest.raises(error, match=message):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
