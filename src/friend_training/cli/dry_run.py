"""friend-train run --dry-run: what a run needs, what of it is missing here, and what it would cost."""

from pathlib import Path

import typer
from rich.console import Console

from friend_training.report.words import duration
from friend_training.scenarios.config import Config

MISSING = 2
"""The exit code where something is missing: that of anything else that a run cannot be done with."""


def tell_needs(config: Config, folder: Path, data_dir: Path | None) -> None:
    """Say everything at once; nothing is made, trained or downloaded."""
    from friend_training.scenarios.estimate import encoder_size, whole_run
    from friend_training.scenarios.needs import needs_of

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
