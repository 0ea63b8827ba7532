"""friend-train run: all methods of a config, from the data to the table."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.options import DataDir, DeviceOfRun
from friend_training.errors import RunError
from friend_training.runs.files import is_first

# friend-train config: which configs there are, and what one says in full.


config = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="See what a config sets, and what each setting is for."
)


@config.command("show")
def show(
    given: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A YAML file, or a name that `friend-train config list` prints.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting first. Repeat for more."),
    ] = None,
) -> None:
    """Print a config in full, with a sentence about each setting.

    A config file says only what differs from the defaults. This is what
    it comes to: every setting, what it is for, the values it can have,
    and what it would be if it were left out. The output is a config
    itself, to change and to run:

    friend-train config show demo > mine.yaml
    """
    from friend_training.study.config import explained_config, find_config

    typer.echo(explained_config(find_config(given, set_ or ())), nl=False)


@config.command("list")
def list_() -> None:
    """Name the configs that come with the package and need no data.

    More of them, for public datasets, are in the project's folder
    configs/; they are given by their path.
    """
    from friend_training.study.config import opening_words, shipped_configs

    for name, path in shipped_configs().items():
        typer.echo(f"{name}: {opening_words(path)}")


# friend-train demo: friend-training from nothing, in a few minutes, on dialogues the project makes itself.


EXAMPLES = 1
"""Chosen and rejected pseudo-labels of each task: enough to see what the friend is good for."""


def demo(
    out: Annotated[Path, typer.Option(help="The run folder to make, or to go on with.")] = Path("runs/demo"),
    seed: Annotated[int | None, typer.Option(min=0, help="Draws other labels and weights; 1 in the config.")] = None,
) -> None:
    """See friend-training work: nothing to download, a few minutes.

    Two models learn from 100 labels each: one finds the arguments of
    predicates in Chinese dialogues (CSRL), the other rewrites the last
    utterance so that it can be understood alone. Then they go on with
    unlabeled dialogues, once by self-training (SST) and once as friends
    (FDT). One table compares them on test, and some of the pseudo-labels
    that were chosen and rejected are shown.
    """
    from friend_training.cli.results import show_examples
    from friend_training.cli.study import do_study, show_outcome
    from friend_training.study.config import find_config
    from friend_training.study.folders import is_finished, run_config

    there = (out / "run.json").exists()
    config = run_config(out) if there else find_config("demo", [] if seed is None else [f"seed={seed}"])
    if seed is not None and config.seed != seed:
        raise RunError(f"{out} was made with seed {config.seed}, not {seed}; choose another folder by --out")
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    if is_finished(out):
        notes.print(
            f"The demo has been run before; this is what came of it. To run it again, remove {out}", markup=False
        )
    else:
        notes.print(
            f"Going on with {out}" if there else f"Running the demo in {out}; Ctrl-C stops it, nothing is lost."
        )
        do_study(config, out)
    show_examples(out, count=EXAMPLES, data_dir=None, console=Console(highlight=False))
    show_outcome(out)


def run(
    config: Annotated[
        str,
        typer.Argument(
            help="A YAML file, or the name of one that comes with us: demo, synthetic-few-shot,"
            " synthetic-domain-generalisation. `friend-train config show` explains it."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The run folder to make.", show_default="runs/<name>-seed<seed>")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a setting of the config, named in it or not. Repeat for more."
        ),
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
    from friend_training.cli.study import do_study, show_outcome, tell_needs
    from friend_training.study.config import FriendsConfig, find_config

    settings = find_config(config, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    folder = out or Path("runs") / f"{settings.name}-seed{settings.seed}"
    if is_first() and (folder / "run.json").exists():  # the others may see the one that the first has just made
        raise RunError(f"{folder} is a run already; `friend-train resume {folder}`, or choose another folder by --out")
    if isinstance(settings, FriendsConfig):
        from friend_training.study.run_data import base_of

        data_dir = base_of(settings, data_dir, Path(config).parent, Path())
    if dry_run:
        tell_needs(settings, folder, data_dir)
        return
    do_study(settings, folder, data_dir=data_dir)
    show_outcome(folder)


# friend-train resume: go on with a run that was stopped, however it was stopped.


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
    from friend_training.study.folders import is_finished, resumed_config, whole_run

    folder = whole_run(run)
    config = resumed_config(folder, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    if is_finished(folder):
        if is_first():
            typer.echo(f"{folder} is finished; there is nothing left to do.", err=True)
    else:
        do_study(config, folder, data_dir=data_dir)
    show_outcome(folder)
