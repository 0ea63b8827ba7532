"""Ctrl-C, a full disk: whatever ends a run early, the message says how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from friend_training.core.files import explain_full_disk

STOPPED = 130
"""The exit code of programs that SIGINT ended."""


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Around the work on a run. Finished phases are on disk; the one that was interrupted is done again."""
    try:
        with explain_full_disk(folder):
            yield
    except KeyboardInterrupt:
        begun = (folder / "run.json").is_file()
        advice = f"Go on with: friend-train resume {folder}" if begun else "Nothing had been written yet."
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"Stopped. {advice}", markup=False)
        raise typer.Exit(STOPPED) from None
