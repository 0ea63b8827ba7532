"""Options that are given as a list with commas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
