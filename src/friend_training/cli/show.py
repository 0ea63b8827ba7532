"""friend-train show: what a run has done so far, as tables in the terminal."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.options import DataDir


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.")],
    examples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also show N chosen and N rejected pseudo-labels of each task.")
    ] = 0,
    method: Annotated[
        str | None, typer.Option(help="Whose pseudo-labels to show.", show_default="fdt, else the last that has some")
    ] = None,
    iteration: Annotated[
        int | None, typer.Option(min=1, help="Of which iteration.", show_default="the last one")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Show the tables of a run, finished or not.

    Scores of each method on test (P, R, F1 for CSRL; ROUGE-L, EM, WER
    for rewriting), its scores on dev by iteration, how many
    pseudo-labels were chosen and how many of those are right (where the
    data can tell), and where the time went.
    """
    from friend_training.cli.results import chosen_table, dev_table, show_examples, test_table, time_table
    from friend_training.study.folders import is_finished, whole_run

    folder = whole_run(run)
    console = Console(highlight=False)
    for table in (test_table, dev_table, chosen_table, time_table):
        console.print(table(folder))
    if examples:
        show_examples(folder, count=examples, data_dir=data_dir, console=console, method=method, iteration=iteration)
    if not is_finished(folder):
        console.print(f"Not finished. Go on with: friend-train resume {folder}", soft_wrap=True, markup=False)


# friend-train verify: whether all files of a run are what the run wrote.


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
