"""What run, resume and demo have in common: do a study and show what came of it."""

from contextlib import nullcontext
from pathlib import Path

import typer
from rich.console import Console

from friend_training.cli.progress import resumable
from friend_training.cli.results import test_table
from friend_training.report.names import duration
from friend_training.report.progress import watching
from friend_training.runs.files import is_first
from friend_training.study.sections import Config


def do_study(config: Config, folder: Path, *, data_dir: Path | None = None) -> None:
    """Run what is left of a study in its folder, with progress on standard error."""
    console = Console(stderr=True)
    with resumable(folder):
        with console.status("loading the libraries") if console.is_terminal else nullcontext():
            from friend_training.study.study import run_study
        with watching(console, config) if is_first() else nullcontext() as listener:
            run_study(config, folder, data_dir=data_dir, listener=listener)
        if is_first():
            from friend_training.report.page import write_report

            write_report(folder)


def show_outcome(folder: Path) -> None:
    """The table of a finished run, and what to do with it; of several processes one shows it."""
    if not is_first():
        return
    console = Console(highlight=False)
    console.print(test_table(folder))
    from friend_training.experiments.warnings import run_warnings

    for warned in run_warnings(folder):
        console.print(f"Warning: {warned}", soft_wrap=True, markup=False)
    console.print(f"The run is in {folder}", soft_wrap=True, markup=False)
    report = folder / "report.html"
    look = (
        f"Look at it in a browser: {report}" if report.is_file() else f"Make its report: friend-train report {folder}"
    )
    console.print(look, soft_wrap=True, markup=False)
    console.print(f"See more of it: friend-train show {folder} --examples 3", soft_wrap=True, markup=False)


# friend-train run --dry-run: what a run needs, what of it is missing here, and what it would cost.


MISSING = 2
"""The exit code where something is missing: that of anything else that a run cannot be done with."""


def tell_needs(config: Config, folder: Path, data_dir: Path | None) -> None:
    """Say everything at once; nothing is made, trained or downloaded."""
    from friend_training.experiments.estimate import encoder_size, needs_of, whole_run

    console = Console(highlight=False, soft_wrap=True)
    needs = needs_of(config, folder, data_dir)
    for need in needs:
        state = "missing" if need.missing else "here   "
        console.print(f"{state}  {need.what}: {need.missing or need.here}", markup=False)
    guess = "; the encoder could not be looked at and is taken for BERT base" if encoder_size(config).assumed else ""
    told = f"{len(config.methods)} methods would take about {duration(whole_run(config))} on two CPU cores"
    how = "by optimizer steps and dialogues to label, timed neither here nor on a graphics card"
    console.print(f"{told} (a rough guess {how}{guess}).")
    missing = sum(bool(need.missing) for need in needs)
    if missing:
        console.print(f"{missing} of {len(needs)} things are missing. Nothing was trained.")
        raise typer.Exit(MISSING)
    console.print("Nothing is missing. Nothing was trained.")
