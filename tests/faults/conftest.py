"""The command as a user types it, in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from friend_training.cli.main import main


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command that must be refused: one line, exit code 2. Returns the line."""
    monkeypatch.delenv("FRIEND_TRAINING_DATA", raising=False)

    def run(*arguments: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert stopped.value.code == 2, said
        [line] = said.err.strip().splitlines()
        assert line.startswith("error: ")
        assert len(line) < 1000
        return line

    return run


@pytest.fixture
def done(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command that must succeed. Returns what it prints."""
    monkeypatch.delenv("FRIEND_TRAINING_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert not stopped.value.code, said
        return said.out

    return run


@pytest.fixture
def sparse(tmp_path: Path) -> Callable[[str, bytes, int, bytes], Path]:
    """A file of any size that takes no room: a beginning, so many NUL bytes, an end."""

    def make(name: str, begin: bytes, nothing: int, end: bytes = b"") -> Path:
        path = tmp_path / name
        with path.open("wb") as file:
            file.write(begin)
            file.seek(nothing, 1)
            file.write(end)
            file.truncate()
        return path

    return make
