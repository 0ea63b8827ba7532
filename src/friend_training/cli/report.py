"""friend-train report: a run as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.progress import counting
from friend_training.cli.run import DataDir
from friend_training.core.files import check_output
from friend_training.errors import FriendTrainingError


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder, or that of one of its methods.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write it.", show_default="RUN/report.html")
    ] = None,
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that is already there.")] = False,
) -> None:
    """Write the report of a run, finished or not: one HTML file.

    Scores of all methods, how many pseudo-labels were chosen and how
    many of them are right, what other thresholds would have done,
    examples to look at, time and memory. It needs no network and can be
    sent to anyone; texts of the run's data are in it.

    Every run writes it by itself when it ends.
    """
    from friend_training.report.kept import is_kept
    from friend_training.report.page import write_report
    from friend_training.report.reading import read_study

    if out is not None:  # the report inside the run is its own
        check_output(out, force=force)
    study = read_study(run)
    if study.is_ours and not is_kept(study.data_folder):
        _keep_texts(study.data_folder, data_dir)
    typer.echo(f"The report is {write_report(run, out)}")


def _keep_texts(study: Path, data_dir: Path | None) -> None:
    """Runs of earlier versions did not keep their texts. Where the data are gone, there are no texts to show."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with counting(console, "reading the data of the run") as progress:
            from friend_training.scenarios.kept import keep_data_of

            keep_data_of(study, data_dir, progress)
    except FriendTrainingError as error:
        console.print(f"The report shows labels without their texts: {error}", markup=False)
