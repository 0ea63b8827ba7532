"""Options that several commands have, and how a page of tables is told."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.errors import ConfigError

if TYPE_CHECKING:
    from friend_training.study.sections import Config


def listed(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]


def listed_seeds(given: str | None) -> list[int] | None:
    names = listed(given)
    if names is not None and not all(name.isdecimal() for name in names):
        raise ConfigError(f"--seeds {given}: numbers were expected, such as 1,2")
    return None if names is None else [int(name) for name in names]


# How a page of tables is written.


class PageFormat(StrEnum):
    TERMINAL = "terminal"
    MARKDOWN = "markdown"


PageOption = Annotated[
    PageFormat, typer.Option("--format", help="How tables are written; where nobody looks on it is Markdown.")
]


def tell_page(text: str, format: str = PageFormat.TERMINAL) -> None:
    """Print Markdown: as it is into a file or a pipe, with drawn tables in a terminal, unless Markdown is asked for."""
    console = Console(highlight=False)
    if format == PageFormat.MARKDOWN or not console.is_terminal:
        typer.echo(text)
        return
    from friend_training.experiments.tables import markdown_for_terminal

    for part in markdown_for_terminal(text):
        console.print(part)


# The option --device of every command that computes with networks.


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


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="FRIEND_TRAINING_DATA",
        help="Folder of the public datasets; for your own files, the folder their names start from.",
    ),
]


def config_with(run: Path, task: str) -> "Config":
    """The config of a run that has this task."""
    from friend_training.study.folders import run_config

    config = run_config(run)
    if task not in config.sections:
        raise ConfigError(f"--task {task}: {run} has no such task; its tasks are {', '.join(config.sections)}")
    return config


Push = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Also upload the folder to the hub as NAME (user/name), private.", show_default=False
    ),
]
