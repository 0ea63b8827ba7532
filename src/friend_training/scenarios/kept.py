"""Keeping in the run folder what a reader wants to see of its data: the pool's texts and the labels of gold."""

from pathlib import Path

from friend_training.core.run import Run
from friend_training.report.kept import is_kept, keep_gold, keep_inputs
from friend_training.scenarios.config import Config
from friend_training.scenarios.data import RunData, load_data
from friend_training.scenarios.folders import run_config
from friend_training.scenarios.making import Progress
from friend_training.tasks.rewriting.edits import build_script

MOST_GOLD = 2000
"""Gold rewrites are texts; to find the edits of so many takes a second or two, and shares need no more."""


def keep_data(folder: Path, config: Config, data: RunData) -> None:
    """Once per run: the report, made at the end or years later, then needs nothing but the folder."""
    if is_kept(folder):
        return
    scripts = [
        build_script(example.dialogue, example.rewrite, span_source=config.span_source)
        for example in data.rewriting_gold[:MOST_GOLD]
    ]
    keep_gold(
        folder,
        {
            "csrl": [roles for example in data.csrl_gold[:MOST_GOLD] for roles in example.roles],
            "rewriting": [script for script in scripts if script is not None],
        },
    )
    keep_inputs(folder, data.pool)


def keep_data_of(study: Path, data_dir: Path | None, progress: Progress) -> None:
    """The same for a study that was made before studies did it themselves: its data are made or read once more."""
    config, run = run_config(study), Run.open(study)
    data = load_data(config, data_dir, progress)
    run.check_fingerprints({**run.fingerprints, "pool": data.pool_fingerprint})
    keep_data(study, config, data)
