"""friend-train config, run, demo and resume: all methods of a config, from the data to the table.

Whatever ends a long work early, Ctrl-C or a full disk: the message says how to go on.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.cli.__main__ import STOPPED
from friend_training.cli.options import DataDir, DeviceOfRun
from friend_training.errors import DeviceMemoryError, RunError
from friend_training.report.names import duration
from friend_training.report.progress import watching
from friend_training.runs.files import explain_full_disk, is_first

if TYPE_CHECKING:
    from friend_training.study.sections import Config

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


LOOK = (
    "What to look at: F1 and EM from Base to FDT, then the rows without a friend."
    " What they gain too is not the friend's doing."
)
"""Said below the table of the demo."""


EXAMPLES = 1
"""Chosen and rejected pseudo-labels of each task: enough to see what the friend is good for."""


def demo(
    out: Annotated[Path, typer.Option(help="The run folder to make, or to go on with.")] = Path("runs/demo"),
    seed: Annotated[int | None, typer.Option(min=0, help="Draws other labels and weights; 1 in the config.")] = None,
) -> None:
    """See friend-training work: nothing to download, three minutes.

    Two small models learn Base: one from 300 labels finds the arguments
    of predicates in Chinese dialogues (CSRL), the other from 500 rewrites
    the last utterance so that it can be understood alone. Then they go on
    with 1,200 unlabeled dialogues: by self-training (SST), and as friends
    who decide on labels together (FDT). Two controls have no friend: more
    steps on gold, and the sentence parser between the two tasks alone.
    One table compares them on test, and some pseudo-labels are shown.
    """
    from friend_training.cli.results import show_examples
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
    Console(highlight=False, soft_wrap=True).print(LOOK, markup=False)


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
    from friend_training.study.config import find_config, has_own_files

    settings = find_config(config, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    folder = out or Path("runs") / f"{settings.name}-seed{settings.seed}"
    if is_first() and (folder / "run.json").exists():  # the others may see the one that the first has just made
        raise RunError(f"{folder} is a run already; `friend-train resume {folder}`, or choose another folder by --out")
    if has_own_files(settings):
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
    from friend_training.study.folders import is_finished, resumed_config, whole_run

    folder = whole_run(run)
    config = resumed_config(folder, [*(set_ or []), *([] if device is None else [f"device={device}"])])
    if is_finished(folder):
        if is_first():
            typer.echo(f"{folder} is finished; there is nothing left to do.", err=True)
    else:
        do_study(config, folder, data_dir=data_dir)
    show_outcome(folder)


def do_study(config: "Config", folder: Path, *, data_dir: Path | None = None) -> None:
    """Run what is left of a study in its folder, with progress on standard error."""
    console = Console(stderr=True)
    with resumable(folder):
        with console.status("loading the libraries") if console.is_terminal else nullcontext():
            from friend_training.study.study import run_study
        with watching(console, config) if is_first() else nullcontext() as listener:
            run_study(config, folder, data_dir=data_dir, listener=listener)
        if is_first():
            from friend_training.report.page import write_report

            write_report(folder)


def show_outcome(folder: Path) -> None:
    """The table of a finished run, and what to do with it; of several processes one shows it."""
    if not is_first():
        return
    from friend_training.cli.results import test_table
    from friend_training.experiments.warnings import dashes, run_warnings, told

    console = Console(highlight=False)
    console.print(test_table(folder))
    for dash in told(dashes(folder)):
        console.print(dash, soft_wrap=True, markup=False)
    for warned in told(run_warnings(folder)):
        console.print(f"Warning: {warned}", soft_wrap=True, markup=False)
    console.print(f"The run is in {folder}", soft_wrap=True, markup=False)
    report = folder / "report.html"
    look = (
        f"Look at it in a browser: {report}" if report.is_file() else f"Make its report: friend-train report {folder}"
    )
    console.print(look, soft_wrap=True, markup=False)
    console.print(f"See more of it: friend-train show {folder} --examples 3", soft_wrap=True, markup=False)


# friend-train run --dry-run: what a run needs, what of it is missing here, and what it would cost.


MISSING = 2
"""The exit code where something is missing: that of anything else that a run cannot be done with."""


def tell_needs(config: "Config", folder: Path, data_dir: Path | None) -> None:
    """Say everything at once; nothing is made, trained or downloaded."""
    from friend_training.experiments.estimate import encoder_size, needs_of, whole_run

    console = Console(highlight=False, soft_wrap=True)
    needs = needs_of(config, folder, data_dir)
    for need in needs:
        state = "missing" if need.missing else "here   "
        console.print(f"{state}  {need.what}: {need.missing or need.here}", markup=False)
    guess = "; the encoder could not be looked at and is taken for BERT base" if encoder_size(config).assumed else ""
    told = f"{len(config.methods)} methods would take about {duration(whole_run(config))} on two CPU cores"
    how = "by optimizer steps and dialogues to label, timed neither here nor on a graphics card"
    console.print(f"{told} (a rough guess {how}{guess}).")
    missing = sum(bool(need.missing) for need in needs)
    if missing:
        console.print(f"{missing} of {len(needs)} things are missing. Nothing was trained.")
        raise typer.Exit(MISSING)
    console.print("Nothing is missing. Nothing was trained.")


BRIDGE = "srl"
"""The name of the task that a bridge of our own is."""


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Around the work on a run. Finished phases are on disk; the one that was interrupted is done again."""
    try:
        with explain_full_disk(folder):
            yield
    except KeyboardInterrupt:
        begun = (folder / "run.json").is_file()
        advice = f"Go on with: friend-train resume {folder}" if begun else "Nothing had been written yet."
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"Stopped. {advice}", markup=False)
        raise typer.Exit(STOPPED) from None
    except DeviceMemoryError as error:
        section = "bridge_training" if error.task == BRIDGE else f"tasks.{error.task}.training"
        key, less = f"{section}.{error.setting}", max(1, error.value // 2)
        raise RunError(
            f"{error.device} has not enough memory with {key} = {error.value}."
            f" Go on with less: friend-train resume {folder} --set {key}={less}, or elsewhere: --device cpu"
        ) from error
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        first = str(error).splitlines()[0]
        raise RunError(f"{first} Go on where there is more: friend-train resume {folder} --device cpu") from error
