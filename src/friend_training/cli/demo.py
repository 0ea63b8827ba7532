"""friend-train demo: friend-training from nothing, in a few minutes, on dialogues the project makes itself."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.errors import RunError

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
    from friend_training.cli.examples import show_examples
    from friend_training.cli.study import do_study, show_outcome
    from friend_training.scenarios.folders import is_finished, run_config
    from friend_training.scenarios.shipped import find_config

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
