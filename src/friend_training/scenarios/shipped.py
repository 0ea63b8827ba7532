"""The configs that come with the package, found wherever it is installed."""

from pathlib import Path

from friend_training.errors import ConfigError
from friend_training.scenarios.config import Config, load_config

FOLDER = Path(__file__).parent


def find_config(given: str, overrides: list[str] | None = None) -> Config:
    """A config by its path, or by the name of one that comes with the package."""
    path = Path(given)
    shipped = {found.stem: found for found in sorted(FOLDER.glob("*.yaml"))}
    if not path.exists() and given in shipped:
        path = shipped[given]
    if not path.is_file():
        raise ConfigError(f"{given}: no such config file; by name there is {', '.join(shipped)}")
    return load_config(path, overrides)
