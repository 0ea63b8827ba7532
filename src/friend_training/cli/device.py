"""The option --device of every command that computes with networks."""

from typing import Annotated

import typer

Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Where to compute: auto, cpu, cuda, cuda:N (a card) or mps.")
]

DeviceOfRun = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Where to compute: auto, cpu, cuda, cuda:N (a card) or mps.",
        show_default="device of the config, auto if it has none",
    ),
]
