"""Rooms speak through their `__init__`: it lists public names, opens each on first use and loads nothing before."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import friend_training

PACKAGE = Path(next(iter(friend_training.__path__)))
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
ROOMS = [folder.name for folder in FOLDERS if folder.parent == PACKAGE and folder.name != "cli"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_of_a_room_is_found_in_one_of_its_files(room: str) -> None:
    module = import_module(f"friend_training.{room}")
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"'friend_training.{room}' has no attribute 'no_such_name'"):
        module.no_such_name  # noqa: B018


def test_a_public_name_exists_once() -> None:
    """And it is not the name of a file: whichever was imported first would hide the other."""
    found: dict[str, str] = {}
    for room in ROOMS:
        files = {path.stem for path in (PACKAGE / room).iterdir()}
        for name in import_module(f"friend_training.{room}").__all__:
            assert name not in files, f"{room}.{name} is also a file"
            assert name not in found, f"{name} is in {room} and in {found[name]}"
            found[name] = room


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_folder_says_what_it_is(folder: Path) -> None:
    name = ".".join(("friend_training", *folder.relative_to(PACKAGE).parts))
    assert import_module(name).__doc__, name


def test_entering_all_rooms_loads_nothing_heavy() -> None:
    program = f"import sys, {', '.join(f'friend_training.{room}' for room in ROOMS)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"torch", "transformers", "pyarrow", "matplotlib", "numpy", "pydantic"}.isdisjoint(done.stdout.split())
