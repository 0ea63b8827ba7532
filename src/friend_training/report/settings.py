"""What was run, with what, where: the config in short, and the machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from friend_training.core.json_files import read_json_object

PACKAGES = ("torch", "transformers", "numpy", "pyarrow", "scikit-learn")
"""Those that decide what comes out; the others are in environment.json."""


def settings(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The config in short, two levels deep; all of it stands below, as it was given."""
    found = []
    for name, value in config.items():
        if isinstance(value, dict):
            plain = {key: one for key, one in value.items() if not isinstance(one, dict) or _is_aim(one)}
            if plain:
                found.append((prefix + name, " · ".join(f"{key} {_words(one)}" for key, one in plain.items())))
            if not prefix:
                nested = {key: one for key, one in value.items() if isinstance(one, dict) and not _is_aim(one)}
                found += settings(nested, f"{name}.")
        else:
            found.append((prefix + name, _words(value)))
    return found


def machine(folder: Path) -> list[tuple[str, str]]:
    path = folder / "environment.json"
    if not path.is_file():
        return []
    environment = read_json_object(path, "what the run was made with")
    there = environment.get("packages")
    there = there if isinstance(there, dict) else {}
    packages = " · ".join(f"{name} {there[name]}" for name in PACKAGES if name in there)
    plain = [(name, _words(value)) for name, value in environment.items() if name != "packages"]
    return [*plain, *([("packages", packages)] if packages else [])]


def _is_aim(value: dict[str, Any]) -> bool:
    """What a threshold is found by ({precision: 0.8}) is one setting, not a section of them."""
    return value.keys() in ({"precision"}, {"share"})


def _words(value: Any) -> str:
    match value:
        case dict():
            return " ".join(f"{name} {_words(one)}" for name, one in value.items())
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_words(one) for one in value)
        case _:
            return str(value)
