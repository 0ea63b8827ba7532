"""What run, resume and demo have in common: do a study and show what came of it."""

from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from friend_training.cli.progress import watching
from friend_training.cli.results import test_table
from friend_training.cli.stopping import resumable
from friend_training.core.processes import is_first
from friend_training.scenarios.config import Config


def do_study(config: Config, folder: Path, *, data_dir: Path | None = None) -> None:
    """Run what is left of a study in its folder, with progress on standard error."""
    console = Console(stderr=True)
    with resumable(folder):
        with console.status("loading the libraries") if console.is_terminal else nullcontext():
            from friend_training.scenarios.study import run_study
        with watching(console) if is_first() else nullcontext() as listener:
            run_study(config, folder, data_dir=data_dir, listener=listener)


def show_outcome(folder: Path) -> None:
    """The table of a finished run, and what to do with it; of several processes one shows it."""
    if not is_first():
        return
    console = Console(highlight=False)
    console.print(test_table(folder))
    console.print(f"The run is in {folder}", soft_wrap=True, markup=False)
    report = folder / "report.html"
    look = (
        f"Look at it in a browser: {report}" if report.is_file() else f"Make its report: friend-train report {folder}"
    )
    console.print(look, soft_wrap=True, markup=False)
    console.print(f"See more of it: friend-train show {folder} --examples 3", soft_wrap=True, markup=False)
