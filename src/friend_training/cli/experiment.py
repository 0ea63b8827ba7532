"""`friend-train experiment`: a table of the results page from nothing, one run per seed."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.progress import watching


def experiment(
    folder: Annotated[Path, typer.Argument(help="The experiment's folder, such as experiments/embedded-few-shot.")],
    runs: Annotated[Path, typer.Option(help="Where run folders go; they can be resumed and inspected.")] = Path("runs"),
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2.")] = None,
    only: Annotated[str | None, typer.Option(help="Only these methods, such as base,sst,fdt.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="So many runs at once, each in a process of its own.")] = 1,
    data_dir: Annotated[Path | None, typer.Option(help="The folder of public datasets.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")] = False,
) -> None:
    """Run a whole table: every method of a config, for several seeds.

    Each result is appended to FOLDER/results.jsonl as soon as it is there, with its config, seed, data fingerprints and
    code version. What is finished is never run again; what was stopped goes on where it stood.
    """
    from friend_training.scenarios.experiment import config_id, done, pieces, prepare, run_piece

    chosen = tuple(int(seed) for seed in seeds.split(",")) if seeds else None
    todo = pieces(folder, runs, seeds=chosen, only=tuple(only.split(",")) if only else None)
    finished = done(folder)
    console = Console(stderr=True)
    for piece in todo:
        left = [m for m in piece.config.methods if (config_id(piece.config), m, piece.config.seed) not in finished]
        console.print(f"seed {piece.config.seed}: {', '.join(left) if left else 'finished'}")
    if dry_run:
        return
    if jobs > 1:
        todo[0].folder.parent.mkdir(parents=True, exist_ok=True)
        prepare(todo[0], data_dir=data_dir)
        extra = ([] if data_dir is None else ["--data-dir", str(data_dir)]) + ([] if only is None else ["--only", only])
        _in_processes(folder, runs, [piece.config.seed for piece in todo], jobs, extra)
        return
    for piece in todo:
        with watching(console) as listener:
            run_piece(folder, piece, version=_code_version(), data_dir=data_dir, listener=listener, say=console.print)


def _in_processes(folder: Path, runs: Path, seeds: list[int], jobs: int, extra: list[str]) -> None:
    """Seeds side by side: torch uses a second core badly on networks this small, a second run uses it well."""
    command = [sys.executable, "-m", "friend_training.cli.main", "experiment", str(folder), "--runs", str(runs)]
    command += extra
    running: list[subprocess.Popen[bytes]] = []
    for seed in seeds:
        while len(running) >= jobs:
            running[0].wait()
            running = [process for process in running if process.poll() is None]
        running.append(subprocess.Popen([*command, "--seeds", str(seed)]))
    if any(process.wait() for process in running):
        raise typer.Exit(1)


def _code_version() -> str:
    """The commit of the code, where it is run from a checkout."""
    here = Path(__file__).parent
    found = subprocess.run(["git", "-C", str(here), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"
