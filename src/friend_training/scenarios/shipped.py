"""The configs that come with the package, found wherever it is installed: those that need no data."""

from pathlib import Path

from friend_training.errors import ConfigError
from friend_training.scenarios.config import Config, load_config

FOLDER = Path(__file__).parent


def find_config(given: str | Path, overrides: list[str] | None = None, *, folder: str | Path = "") -> Config:
    """A config by its path, from `folder` if it is relative, or by the name of one that comes with the package."""
    path = Path(folder) / given
    shipped = {found.stem: found for found in sorted(FOLDER.glob("*.yaml"))}
    if not path.is_file():
        if str(given) not in shipped:
            raise ConfigError(f"{given}: no such config file; by name there are {', '.join(shipped)}")
        path = shipped[str(given)]
    return load_config(path, overrides)
