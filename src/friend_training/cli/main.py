"""The command `friend-train`: puts the subcommands together, and says in one message what went wrong.

Whatever needs torch is imported inside the subcommands: `friend-train --help` answers at once.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from friend_training import __version__
from friend_training.cli.__main__ import STOPPED
from friend_training.cli.analyse import agreement, bridges, diagnose, friends, theory
from friend_training.cli.data import data
from friend_training.cli.experiment import compare, experiment, figure, page
from friend_training.cli.init import init
from friend_training.cli.labels import ask, labels
from friend_training.cli.predict import evaluate, predict
from friend_training.cli.publish import export, inspect, report, serve
from friend_training.cli.run import config, demo, resume, run
from friend_training.cli.show import show, verify
from friend_training.errors import ConfigError, FriendTrainingError, naming_missing_packages
from friend_training.runs.files import world

WRONG_INPUT = 2
"""The exit code for anything that is wrong with what was given; typer uses the same for wrong options."""

SEVERAL_PROCESSES = ("run", "resume")
"""The commands that know what to do where torchrun or accelerate launch start them several times."""

QUIET = {
    "HANLP_VERBOSE": "0",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}
"""Libraries under us would draw bars and warnings of their own between our lines; whoever wants them sets these."""


class _Commands(TyperGroup):
    """All commands: whichever is interrupted says so in a line, where it has not said more itself."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(STOPPED) from None


app = typer.Typer(
    name="friend-train",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with [bold]friend-train demo[/bold]. Every command explains itself with --help.",
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"friend-train {__version__}")
        raise typer.Exit


@app.callback()
def friend_train(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Train models of different tasks on each other's advice.

    Two models of related tasks label the same unlabeled text. Their
    answers are translated into a common space and compared; where they
    agree, the labels are probably right, and both models learn from them.
    """
    if world() > 1 and context.invoked_subcommand not in SEVERAL_PROCESSES:
        raise ConfigError(
            f"friend-train {context.invoked_subcommand} works in one process, and here are {world()};"
            f" in several, start: {', '.join(SEVERAL_PROCESSES)}"
        )


app.command()(demo)
app.command()(init)
app.command()(run)
app.command()(resume)
app.command()(show)
app.command()(verify)
app.command()(report)
app.command()(inspect)
app.command()(evaluate)
app.command()(predict)
app.command()(labels)
app.command()(serve)
app.command()(export)
app.command()(experiment)
app.command()(compare)
app.command()(figure)
app.command()(page)
app.add_typer(config, name="config")
app.add_typer(data, name="data")
app.command()(bridges)
app.command()(theory)
app.command()(agreement)
app.command()(diagnose)
app.command()(ask)
app.command()(friends)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 all went well, 2 something given is wrong, 130 stopped by Ctrl-C."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        with naming_missing_packages():
            app(args=None if arguments is None else list(arguments), prog_name="friend-train")
    except FriendTrainingError as error:
        _fail(str(error))
    except OSError as error:  # a folder that may not be written, a full disk, an encoder that is not there
        _fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))


def _fail(message: str) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/bold red]", end=" ")
    console.print(message, markup=False)
    sys.exit(WRONG_INPUT)


if __name__ == "__main__":
    main()
