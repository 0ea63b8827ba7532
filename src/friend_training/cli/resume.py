"""friend-train resume: go on with a run that was stopped, however it was stopped."""

from pathlib import Path
from typing import Annotated

import typer

from friend_training.cli.device import DeviceOfRun
from friend_training.cli.run import DataDir
from friend_training.core.processes import is_first

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.")]


def resume(
    run: Run,
    data_dir: DataDir = None,
    device: DeviceOfRun = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change what the machine asks for: threads, engine, batch_size, labelling_pieces. Repeat for more.",
        ),
    ] = None,
) -> None:
    """Go on with a run that was stopped or killed.

    Finished phases are not done again; the one that was interrupted
    starts over. The outcome is the same, to the bit, as if the run had
    never been stopped. The run must see the data it began with.

    On another device it goes on as well, though not to the bit. Where a
    device has too little memory, lower the setting that the error names:
    --set tasks.csrl.training.batch_size=8. The run's config and results
    then say so.
    """
    from friend_training.cli.study import do_study, show_outcome
    from friend_training.scenarios.folders import is_finished, resumed_config, whole_run

    folder = whole_run(run)
    config = resumed_config(folder, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    if is_finished(folder):
        if is_first():
            typer.echo(f"{folder} is finished; there is nothing left to do.", err=True)
    else:
        do_study(config, folder, data_dir=data_dir)
    show_outcome(folder)
