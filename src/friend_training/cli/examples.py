"""A few chosen and rejected pseudo-labels of a run: texts from its pool, everything else from its store."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from friend_training.cli.progress import counting
from friend_training.cli.readable import readable
from friend_training.cli.words import method_in_words
from friend_training.core.run import Run
from friend_training.errors import RunError
from friend_training.examples import Dialogue
from friend_training.scenarios.config import Config
from friend_training.scenarios.folders import method_folder, methods_there, run_config

TITLES = {
    (True, "csrl"): "Chosen for CSRL, best overall scores first",
    (False, "csrl"): "Rejected for CSRL, most confident first",
    (True, "rewriting"): "Chosen for rewriting, best overall scores first",
    (False, "rewriting"): "Rejected for rewriting, most confident first",
}


def show_examples(
    folder: Path,
    *,
    count: int,
    data_dir: Path | None,
    console: Console,
    method: str | None = None,
    iteration: int | None = None,
) -> None:
    """Print `count` pseudo-labels of each task and decision.

    Labels that say something come first, and those that had something to be compared with. The rejected ones are those
    that self-training would have believed: the model is sure of them.
    """
    config = run_config(folder)
    name, run = _labelled(folder, method)
    number = iteration or max(run.store.iterations())
    rows = run.store.read(number)
    pool = _pool(config, data_dir, console)
    console.print(f"[bold]Pseudo-labels of {method_in_words(name)}, iteration {number}[/bold]\n")
    for (chosen, task), title in TITLES.items():
        some = _some(rows, task, chosen, count)
        if some:
            console.print(title, style="bold green" if chosen else "bold red")
        for row in some:
            console.print(readable(row, pool[row["input"]]), end="\n\n")


def _labelled(folder: Path, method: str | None) -> tuple[str, Run]:
    runs = {name: Run.open(method_folder(folder, name)) for name in methods_there(folder)}
    having = [name for name, run in runs.items() if run.store.iterations()]
    if not having:
        raise RunError(f"{folder}: no pseudo-labels have been selected in this run yet")
    wanted = method or ("fdt" if "fdt" in having else having[-1])
    if wanted not in having:
        raise RunError(f"{folder}: method {wanted!r} has no pseudo-labels, only {', '.join(having)}")
    return wanted, runs[wanted]


def _some(rows: pa.Table, task: str, chosen: bool, count: int) -> list[dict[str, Any]]:
    of_task = rows.filter(pc.and_(pc.equal(rows["task"], task), pc.equal(rows["chosen"], chosen)))
    score = "overall" if chosen else "confidence"
    compared = of_task.append_column("compared", pc.is_valid(of_task["overall"]))
    ordered = compared.sort_by(
        [("content", "descending"), ("compared", "descending"), (score, "descending"), ("unit", "ascending")]
    )
    found: list[dict[str, Any]] = ordered.slice(0, count).to_pylist()
    return found


def _pool(config: Config, data_dir: Path | None, console: Console) -> dict[str, Dialogue]:
    """The store keeps ids; the pool is made or read again, as the run did."""
    with counting(console, "reading the pool") as progress:
        from friend_training.scenarios.data import load_data

        return {dialogue.id: dialogue for dialogue in load_data(config, data_dir, progress).pool}
