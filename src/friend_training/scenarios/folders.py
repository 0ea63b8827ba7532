"""Where things lie in the folder of a study: a run that holds one more run for each of its methods."""

import os
from pathlib import Path

from friend_training.core.files import write_text
from friend_training.core.run import Run
from friend_training.scenarios.config import Config, parse_config

RESULTS = "results.jsonl"
"""One record per method; written last, so a run that has it is finished."""

_METHODS, _RESOURCES = "methods", "resources.txt"


def method_folder(run: Path, method: str) -> Path:
    return run / _METHODS / method


def whole_run(folder: Path) -> Path:
    """The study that a folder belongs to: advice about a method's folder can be followed as it is printed."""
    outer = folder.resolve().parent.parent
    inside = folder.resolve().parent.name == _METHODS and (outer / "run.json").is_file()
    return outer if inside else folder


def run_config(folder: Path) -> Config:
    """The config of a run, if this program can read the run."""
    return parse_config(Run.open(folder).config_text, str(folder / "config.yaml"))


def is_finished(folder: Path) -> bool:
    return (folder / RESULTS).is_file()


def shared_resources(run: Path, given: Path | None) -> Path | None:
    """The folder of an encoder and bridge that several runs share, remembered so that a resumed run finds it.

    The path is kept as seen from the run: both can be moved together.
    """
    record = run / _RESOURCES
    if given is not None:
        write_text(record, os.path.relpath(given, run) + "\n")
        return given
    return run / record.read_text(encoding="utf-8").strip() if record.is_file() else None
