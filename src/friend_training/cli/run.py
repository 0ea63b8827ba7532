"""friend-train run: all methods of a config, from the data to the table."""

from pathlib import Path
from typing import Annotated

import typer

from friend_training.cli.device import DeviceOfRun
from friend_training.core.processes import is_first
from friend_training.errors import RunError

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="FRIEND_TRAINING_DATA",
        help="Folder of the public datasets; for your own files, the folder their names start from.",
    ),
]


def run(
    config: Annotated[
        str,
        typer.Argument(
            help="A YAML file, or the name of one that comes with us: demo, embedded-few-shot,"
            " embedded-domain-generalisation."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The run folder to make.", show_default="runs/<name>-seed<seed>")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the config. Repeat for more."),
    ] = None,
    data_dir: DataDir = None,
    device: DeviceOfRun = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what is missing on this machine, and what the run would cost.")
    ] = False,
) -> None:
    """Train and compare the methods of a config.

    Makes the encoder and the bridge (or loads them), trains Base once,
    then every method from that same Base, and prints one table of their
    scores on test. Everything is kept in the run folder: config, models,
    every pseudo-label with its scores, metrics.

    A run can be stopped at any time (Ctrl-C) and resumed. --dry-run
    exits with 2 where something is missing.

    Networks compute on the config's `device`: auto (a graphics card
    where there is one), cpu, cuda, cuda:N or mps. Several cards label
    with `engine: {kind: local, workers: N}` and train under accelerate
    launch (docs/scale.md).

    Try: friend-train run demo --set seed=2 --set iterations=1
    """
    from friend_training.cli.dry_run import tell_needs
    from friend_training.cli.study import do_study, show_outcome
    from friend_training.scenarios.shipped import find_config

    settings = find_config(config, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    folder = out or Path("runs") / f"{settings.name}-seed{settings.seed}"
    if is_first() and (folder / "run.json").exists():  # the others may see the one that the first has just made
        raise RunError(f"{folder} is a run already; `friend-train resume {folder}`, or choose another folder by --out")
    if dry_run:
        tell_needs(settings, folder, data_dir)
        return
    do_study(settings, folder, data_dir=data_dir)
    show_outcome(folder)
