"""What the diagnoses beside this file share: they measure the runs of an experiment seed by seed on dev, as if it had
no labels, and save a record per seed in the experiment's folder. Nothing goes back into training.

    python experiments/diagnosis/NAME.py RUNS   # measure; RUNS is the folder with the experiment's runs: seed-1, …
    python experiments/diagnosis/NAME.py        # only print the tables of what is saved
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from friend_training.study.data import load_data
from friend_training.study.folders import run_config
from friend_training.study.run_data import RunData
from friend_training.study.sections import Config

EXPERIMENTS = Path(__file__).parents[1]
ALL_OF_DEV = 1000
"""The study uses 300 units of each task; for a diagnosis there are 580 predicates and 1,000 rewrites."""

Measured = dict[str, Any]
"""One seed's record: `seed`, and by the name of a table its rows."""


def measured_seeds(
    measure: Callable[[Path, Path | None], Measured], records: str, description: str | None
) -> list[Measured]:
    """The records of all seeds: measured anew where the command is given the runs, else those that are saved.

    `measure` takes a seed's folder and the folder of the public datasets; `records` is the file below experiments/.
    """
    saved = EXPERIMENTS / records
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="the folder with the experiment's runs: seed-1, seed-2, …")
    parser.add_argument("--data-dir", type=Path, help="the folder of the public datasets")
    parser.add_argument(
        "--experiment", type=Path, default=saved.parent, help="whose runs these are; records are saved there"
    )
    given = parser.parse_args()
    saved = given.experiment / saved.name
    if given.runs is not None:
        lines = [json.dumps(measure(seed, given.data_dir)) for seed in sorted(given.runs.glob("seed-*"))]
        saved.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]


def config_and_data(study: Path, data_dir: Path | None, *, dev: int | None = None) -> tuple[Config, RunData]:
    """A seed's config and data with `dev` units of dev (else as many as the config says) and next to no pool."""
    config = run_config(study)
    wanted = {"pool": 1} if dev is None else {"pool": 1, "dev": dev}
    config = config.model_copy(update={"data": config.data.model_copy(update=wanted)})
    return config, load_data(config, data_dir)


def by_seed(title: str, records: list[Measured], table: str, form: str = ".1f") -> str:
    """A table with a column per seed and their mean; a cell has one number, or several of them."""
    seeds = [f"seed {record['seed']}" for record in records]
    rows = [f"| {title} | {' | '.join(seeds)} | mean |"]
    rows.append("|---|" + "--:|" * (len(records) + 1))
    for name in records[0][table]:
        found = [record[table][name] for record in records]
        cells: list[list[float]] = [one if isinstance(one, list) else [one] for one in found]
        cells.append([fmean(column) for column in zip(*cells, strict=True)])
        rows.append(f"| {name} | {' | '.join(' · '.join(format(x, form) for x in cell) for cell in cells)} |")
    return "\n".join(rows)
