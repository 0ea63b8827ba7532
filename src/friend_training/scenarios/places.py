"""Where public data and encoders lie on this machine: given, or by FRIEND_TRAINING_DATA and FRIEND_TRAINING_MODELS."""

import os
from pathlib import Path

from friend_training.errors import ConfigError


def data_folder(given: str | Path | None) -> Path:
    given = None if given is None else Path(given)
    named = given or (Path(os.environ["FRIEND_TRAINING_DATA"]) if os.environ.get("FRIEND_TRAINING_DATA") else None)
    if named is None:
        raise ConfigError("this run needs public datasets: name their folder by --data-dir or FRIEND_TRAINING_DATA")
    if not named.is_dir():
        raise ConfigError(f"the data folder {named} does not exist")
    return named


def model_source(source: str) -> str:
    """A folder as given, a folder below FRIEND_TRAINING_MODELS, or else a hub name, left to transformers."""
    below = Path(os.environ.get("FRIEND_TRAINING_MODELS", "")) / source
    for folder in (Path(source), below):
        if folder.is_dir():
            return str(folder)
    return source
