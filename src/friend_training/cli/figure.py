"""`friend-train figure`: a figure of the paper, drawn from the results of an experiment."""

from pathlib import Path
from typing import Annotated

import typer

from friend_training.core.files import check_output


def figure(
    folder: Annotated[Path, typer.Argument(help="The experiment's folder, such as experiments/embedded-strength.")],
    out: Annotated[Path, typer.Option(help="The file to write: .svg, .png or .pdf.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
) -> None:
    """Draw the figure of an experiment from its results.jsonl.

    The experiment says which one: pick thresholds (the paper's figure
    3a), strength of the base model (3b and 3c), co-updating (4). Points
    are means over seeds, bars their standard deviation. Whatever has
    been run so far is drawn.

    Try: friend-train figure experiments/embedded-strength --out fig.svg
    """
    from friend_training.evaluation.curves import draw
    from friend_training.scenarios.figures import panels

    check_output(out, force=force)
    draw(panels(folder), out)
    typer.echo(f"{out} is drawn", err=True)
