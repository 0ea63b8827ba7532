"""friend-train inspect: a page that walks through the pseudo-labels of a run."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.run import DataDir


def inspect(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    method: Annotated[
        str | None, typer.Option(help="Whose pseudo-labels.", show_default="fdt, else the last that has some")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8747,
    token: Annotated[
        str | None, typer.Option(envvar="FRIEND_TRAINING_TOKEN", help="What every request must bring.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Look at the pseudo-labels of a run in a browser, and correct them.

    Every label in its dialogue, beside what its friend says of it; the
    matching score taken apart, the other scores, the decision and why.
    Sliders show at once what another weight or threshold would choose,
    and how much of that is right, where the data can tell.

    What you accept, correct or reject is kept in the run folder and used
    by its next iteration: labels as gold, rejected ones never.

    Only this machine can ask, unless --host names another address; then
    every request must bring a token (made and printed if none is given).

    Try: friend-train inspect runs/demo
    """
    from friend_training.web.inspector.serving import serve_inspector

    notes = Console(stderr=True, highlight=False, soft_wrap=True)

    def ready(address: str) -> None:
        notes.print(f"open {address}", markup=False)
        notes.print("stop with Ctrl-C")

    serve_inspector(run, method=method, host=host, port=port, token=token, data_dir=data_dir, ready=ready)
