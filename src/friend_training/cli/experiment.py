"""`friend-train experiment`: a table or figure of the results page from nothing, one run per variant and seed."""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from friend_training.cli.lists import listed, listed_seeds
from friend_training.cli.progress import watching
from friend_training.cli.stopping import STOPPED
from friend_training.report.words import duration

if TYPE_CHECKING:
    from friend_training.scenarios.experiment import Piece

Todo = list[tuple["Piece", list[str]]]


def experiment(
    folder: Annotated[Path, typer.Argument(help="The experiment's folder, such as experiments/embedded-few-shot.")],
    runs: Annotated[Path, typer.Option(help="Where run folders go; they can be resumed and inspected.")] = Path("runs"),
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2.")] = None,
    variants: Annotated[str | None, typer.Option(help="Only these variants of the config.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Only these methods, such as sst,fdt, and what they start from.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="So many runs at once, each in a process of its own.")] = 1,
    data_dir: Annotated[Path | None, typer.Option(help="The folder of public datasets.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be run and how long it will take.")
    ] = False,
) -> None:
    """Run a whole table or figure.

    Every method of a config, or of several variants of it, for several
    seeds. Each result is appended to FOLDER/results.jsonl as soon as it
    is there, with its config, seed, data fingerprints, code version and
    seconds. What is finished is never run again; what was stopped goes
    on where it stood.

    Try: friend-train experiment experiments/embedded-few-shot --dry-run
    """
    from friend_training.scenarios.experiment import left, pieces

    made = pieces(folder, runs, seeds=listed_seeds(seeds), variants=listed(variants), only=listed(only))
    todo: Todo = [(piece, left(folder, piece)) for piece in made]
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if dry_run:
        _tell_time(folder, todo, jobs, console)
        return
    for piece, methods in todo:
        console.print(f"{piece.name}: {', '.join(methods) or 'finished'}", markup=False)
    unfinished = [piece.only(methods) for piece, methods in todo if methods]
    try:
        if jobs > 1 and len(unfinished) > 1:
            _prepare(unfinished, data_dir, console)
            extra = [] if data_dir is None else ["--data-dir", str(data_dir)]
            _in_processes(folder, runs, unfinished, jobs, extra + ([] if only is None else ["--only", only]))
        else:
            _one_by_one(folder, unfinished, data_dir, console)
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on where it stood.")
        raise typer.Exit(STOPPED) from None


def _tell_time(folder: Path, todo: Todo, jobs: int, console: Console) -> None:
    from friend_training.scenarios.estimate import estimate
    from friend_training.scenarios.experimenting import to_run, unprepared
    from friend_training.scenarios.results import read_results

    missing = unprepared([piece.only(methods) for piece, methods in todo if methods])
    expected = estimate([(piece, to_run(piece, m)) for piece, m in todo], read_results(folder), unprepared=missing)
    for (piece, methods), seconds in zip(todo, expected.pieces, strict=True):
        words = f"{', '.join(methods)}: about {duration(seconds)}" if methods else "finished"
        console.print(f"{piece.name}: {words}", markup=False)
    if any(methods for _, methods in todo):
        if expected.resources:
            console.print(f"encoder and bridge: about {duration(expected.resources)}")
        source = f"by {expected.known} earlier results" if expected.known else "by steps and dialogues to label"
        all_of_it = duration(expected.together(1))
        beside = f", with --jobs {jobs} {duration(expected.together(jobs))}" if jobs > 1 else ""
        console.print(f"about {all_of_it} in all{beside} ({source})")


def _one_by_one(folder: Path, todo: Sequence["Piece"], data_dir: Path | None, console: Console) -> None:
    from friend_training.scenarios.experimenting import run_piece

    for piece in todo:
        with watching(console) as listener:
            run_piece(folder, piece, version=_code_version(), data_dir=data_dir, listener=listener, say=console.print)


def _prepare(todo: Sequence["Piece"], data_dir: Path | None, console: Console) -> None:
    """Encoder and bridge, once for all runs that share them."""
    from friend_training.scenarios.experimenting import prepare, unprepared

    for piece in unprepared(todo):
        with watching(console) as listener:
            prepare(piece, data_dir=data_dir, listener=listener)


def _in_processes(folder: Path, runs: Path, todo: Sequence["Piece"], jobs: int, extra: list[str]) -> None:
    """Runs side by side: torch uses a second core badly on networks this small, a second run uses it well."""
    command = [sys.executable, "-m", "friend_training.cli.main", "experiment", str(folder), "--runs", str(runs)]

    def work(piece: "Piece") -> int:
        variant = [] if piece.variant is None else ["--variants", piece.variant.name]
        return subprocess.run([*command, *extra, "--seeds", str(piece.config.seed), *variant]).returncode

    workers = ThreadPoolExecutor(jobs)
    try:
        failed = [code for code in workers.map(work, todo) if code]
    finally:
        workers.shutdown(cancel_futures=True)
    if failed:
        raise typer.Exit(1)


def _code_version() -> str:
    """The commit of the code, where it is run from a checkout."""
    here = Path(__file__).parent
    found = subprocess.run(["git", "-C", str(here), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"
