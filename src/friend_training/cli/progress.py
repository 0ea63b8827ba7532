"""Whatever ends a long work early, Ctrl-C or a full disk: the message says how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from friend_training.cli.__main__ import STOPPED
from friend_training.errors import DeviceMemoryError, RunError
from friend_training.runs.files import explain_full_disk

BRIDGE = "srl"
"""The name of the task that a bridge of our own is."""


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
    except DeviceMemoryError as error:
        section = "bridge_training" if error.task == BRIDGE else f"tasks.{error.task}.training"
        key, less = f"{section}.{error.setting}", max(1, error.value // 2)
        raise RunError(
            f"{error.device} has not enough memory with {key} = {error.value}."
            f" Go on with less: friend-train resume {folder} --set {key}={less}, or elsewhere: --device cpu"
        ) from error
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        first = str(error).splitlines()[0]
        raise RunError(f"{first} Go on where there is more: friend-train resume {folder} --device cpu") from error
