"""friend-train diagnose: a finished run looked into with dev, whose gold is known."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.progress import counting
from friend_training.cli.run import DataDir


def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.")],
    method: Annotated[str, typer.Option(help="The method whose models are looked at.")] = "fdt",
    examples: Annotated[int, typer.Option(min=0, metavar="N", help="Show N examples of each kind of error.")] = 10,
    data_dir: DataDir = None,
) -> None:
    """Say what the models of a run would choose on dev, and why it is wrong.

    The models of each iteration label the dev dialogues as if they had
    no labels. Tables: how many pseudo-labels matching and confidence
    choose and how many of those are right, and how many would be if
    fewer were chosen; how often the friends agree by chance (ε) and how
    far their errors hang together; what the bridge gets wrong. Then N examples each of errors that only matching
    catches, of those that only confidence catches, of right labels that
    matching throws away, and of the bridge's failures.

    All of it is kept in RUN/diagnosis/: the page, and the numbers alone.
    """
    from friend_training.scenarios.diagnosing import diagnose as look_inside
    from friend_training.scenarios.diagnosis_page import keep_diagnosis
    from friend_training.scenarios.folders import whole_run

    folder = whole_run(run)
    with counting(Console(stderr=True), f"dev of {folder.name}") as progress:
        found = look_inside(folder, method, data_dir, progress)
    typer.echo(keep_diagnosis(folder, found, method, examples=examples))
