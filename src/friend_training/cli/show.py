"""friend-train show: what a run has done so far, as tables in the terminal."""

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
