"""Where public data and encoders lie on this machine: given, or by FRIEND_TRAINING_DATA and FRIEND_TRAINING_MODELS."""

import os
from pathlib import Path

from friend_training.errors import ConfigError


def named_data_folder(given: str | Path | None) -> Path | None:
    """The folder that was named, there or not."""
    named = given or os.environ.get("FRIEND_TRAINING_DATA")
    return Path(named) if named else None


def data_folder(given: str | Path | None) -> Path:
    named = named_data_folder(given)
    if named is None:
        raise ConfigError("this run needs public datasets: name their folder by --data-dir or FRIEND_TRAINING_DATA")
    if not named.is_dir():
        raise ConfigError(f"the data folder {named} does not exist")
    return named


def model_file(source: str, name: str) -> Path | None:
    """A file of a model that is on this machine: in its folder, or in the hub's cache. Nothing is downloaded."""
    folder = Path(model_source(source))
    if folder.is_dir():
        return folder / name if (folder / name).is_file() else None
    # Only now: it takes a moment, and a folder is asked for more often than the hub.
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(source, name)
    except HFValidationError:  # a path that is no name of the hub
        return None
    return Path(found) if isinstance(found, str) else None


def model_source(source: str) -> str:
    """A folder as given, a folder below FRIEND_TRAINING_MODELS, or else a hub name, left to transformers."""
    below = Path(os.environ.get("FRIEND_TRAINING_MODELS", "")) / source
    for folder in (Path(source), below):
        if folder.is_dir():
            return str(folder)
    return source
