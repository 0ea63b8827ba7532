"""--help answers at once, fits into 80 columns and names every command."""

import subprocess
import sys

import pytest
from rich.cells import cell_len
from tiny_study import FriendTrain

COMMANDS = (
    "demo",
    "run",
    "resume",
    "show",
    "report",
    "evaluate",
    "predict",
    "experiment",
    "compare",
    "figure",
    "config",
    "data",
    "bridges",
    "theory",
    "diagnose",
)


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in COMMANDS), ("data", "split"), ("config", "show"), ("config", "list")]
)
def test_help_fits_into_80_columns(friend_train: FriendTrain, command: tuple[str, ...]) -> None:
    said = friend_train(*command, "--help")
    assert said.code == 0
    assert "Usage: friend-train" in said.out
    assert max(cell_len(line) for line in said.out.splitlines()) <= 80
    assert "…" not in "".join(line for line in said.out.splitlines() if "│" in line), "nothing is cut off"


def test_the_first_page_names_every_command(friend_train: FriendTrain) -> None:
    said = friend_train("--help")
    assert all(f"│ {name} " in said.out for name in COMMANDS)


def test_help_does_not_wait_for_torch() -> None:
    program = "import sys, friend_training.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"torch", "transformers", "pyarrow", "scipy"}.isdisjoint(loaded)
