"""friend-train verify: whether all files of a run are what the run wrote."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

DAMAGED = 2
"""The exit code where something is damaged: that of any other run that cannot be used."""


def verify(run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.")]) -> None:
    """Check every file of a run, and say what can be made again.

    Compares all that later steps read (data, labels, models, records,
    settings) with what the run wrote, of a study with all its methods.
    Exits with 2 where something is damaged, and changes nothing.

    What a step made can be made again: remove what is named and resume
    the run. It ends in the same bits, on the device it was made on.
    """
    from friend_training.report.verification import verify as verify_run
    from friend_training.study.folders import whole_run

    folder = whole_run(run)
    found = verify_run(folder)
    console = Console(highlight=False, soft_wrap=True)
    for damage in found.damages:
        console.print(damage.problem, markup=False)
        fate = "can be made again" if damage.remove else "cannot be made again; take it from a copy"
        console.print(f"  {fate}", markup=False)
    if not found.damages:
        console.print(f"{folder} is whole: {found.checked} parts are what the run wrote.", markup=False)
        return
    remove = dict.fromkeys(path for damage in found.damages for path in damage.remove)
    console.print(f"{len(found.damages)} of {found.checked} parts are damaged.", markup=False)
    if remove:
        console.print("To have made again what can be, remove the records of its steps and resume:", markup=False)
        console.print(
            f"rm {shlex.join(map(str, remove))}\nfriend-train resume {shlex.quote(str(folder))}", markup=False
        )
    raise typer.Exit(DAMAGED)
