"""What a command loads before its first answer: torch and transformers take seconds, so not without need."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PROGRAM = """
import atexit, sys
atexit.register(lambda: print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr))
from friend_training.cli.main import main
main(sys.argv[1:])
"""


def loaded_by(arguments: Sequence[object]) -> set[str]:
    """The packages that were loaded when the command ended, in a process of its own."""
    started = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(started, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("command", ["show", "show --examples 2", "compare", "report", "predict --help", "config list"])
def test_commands_that_only_read_records_load_no_torch(command: str, finished: Path, tmp_path: Path) -> None:
    name, *options = command.split()
    given: list[object] = [finished] if name in ("show", "compare", "report") else []
    if name == "report":
        options += ["--out", str(tmp_path / "report.html")]
    found = loaded_by([name, *given, *options])
    assert {"friend_training", "typer"} <= found
    assert not found & {"torch", "transformers", "accelerate", "sklearn"}


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_classifier_of_scikit_learn_answers_without_transformers(command: str, own: Path) -> None:
    found = loaded_by([command, own, "--task", "mood", own.parent / "test.csv"])
    assert "sklearn" in found
    assert not found & {"transformers", "accelerate"}


def test_a_network_answers_without_what_only_training_from_scratch_needs(own: Path) -> None:
    program = PROGRAM.replace('name.partition(".")[0]', "name")
    started = [sys.executable, "-c", program, "predict", own, "--task", "polarity", own.parent / "test.csv"]
    done = subprocess.run([str(one) for one in started], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = set(done.stderr.splitlines()[-1].split())
    assert "friend_training.tasks.text_classification.task" in found
    assert not found & {
        "friend_training.tasks.csrl.task",
        "friend_training.bridges.ltp",
        "friend_training.study.data",
        "transformers.models.roformer.modeling_roformer",
    }
