"""Options that are given as a list with commas."""

from friend_training.errors import ConfigError


def listed(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]


def listed_seeds(given: str | None) -> list[int] | None:
    names = listed(given)
    if names is not None and not all(name.isdecimal() for name in names):
        raise ConfigError(f"--seeds {given}: numbers were expected, such as 1,2")
    return None if names is None else [int(name) for name in names]
