"""A room (a folder of this package) opens its names on first use.

Importing one file of a room loads neither the room's other files nor the packages that only those need: the help of a
command waits for no torch, and a tagger for no pyarrow.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from friend_training.errors import naming_missing_packages


def opened_on_first_use(room: str, files: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a room: `files` gives the public names that are found in each of its files.

    If the file needs a package that is not installed, the error names the extra that brings it.
    """
    places = {name: f"{room}.{file}" for file, names in files.items() for name in names}

    def open_name(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        with naming_missing_packages():
            found = getattr(import_module(places[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return open_name
