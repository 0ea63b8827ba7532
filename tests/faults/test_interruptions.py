"""Ctrl-C at chosen moments of a command's first seconds: one line, the exit code of SIGINT, nothing half-written."""

import subprocess
import sys
from pathlib import Path

import pytest

from friend_training.runs import files, run
from helpers import patience

PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
kind, moment, *sys.argv[1:] = sys.argv[1:]

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass  # a signal is handled between two steps of the interpreter

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            interrupt()

def called(frame, event, argument):
    if event == "call" and frame.f_globals.get("__name__", "") + "." + frame.f_code.co_name == moment:
        sys.setprofile(None)
        interrupt()

if kind == "import":
    sys.meta_path.insert(0, Finder())
else:
    sys.setprofile(called)
from friend_training.cli.__main__ import start
start()
"""
"""friend-train ARGUMENTS, interrupted while a module is being imported, or as a function is called."""


def interrupted(kind: str, moment: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", PROGRAM, kind, moment, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=patience.ANSWER)


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        ("typer", "--help"),
        ("rich.console", "show nowhere"),
        ("friend_training.cli.run", "run demo --out RUN"),
        ("numpy", "compare nowhere"),
        ("friend_training.study.config", "run demo --out RUN"),
        ("pyarrow", "run demo --out RUN"),
        ("torch._C", "run demo --out RUN"),
        ("transformers.modeling_utils", "run demo --out RUN"),
    ],
)
def test_while_something_is_being_loaded(tmp_path: Path, moment: str, command: str) -> None:
    done = interrupted("import", moment, *command.replace("RUN", str(tmp_path / "run")).split())
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("friend_training.study.config.find_config", "Stopped.\n"),
        ("friend_training.cli.run.do_study", "Stopped.\n"),
        ("friend_training.study.study.run_study", "Stopped. Nothing had been written yet.\n"),
        ("friend_training.study.data.load_data", "Stopped. Nothing had been written yet.\n"),
    ],
)
def test_before_anything_is_written(tmp_path: Path, moment: str, said: str) -> None:
    done = interrupted("call", moment, "run", "demo", "--out", str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["environment", "begin_manifest", "atomic_folder"])
def test_while_the_run_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, moment, stopped)
    with pytest.raises(KeyboardInterrupt):
        run.Run.create(tmp_path / "run", "name: a\n", {})
    assert list(tmp_path.iterdir()) == []


def test_a_new_run_has_its_manifest_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one that is killed in between would be damaged for ever: its files have digests, and nobody knows them."""
    there: list[set[str]] = []

    def named(source: Path, target: Path) -> None:
        there.append({path.name for path in source.iterdir()})
        source.rename(target)

    monkeypatch.setattr(files, "_take_name", named)
    made = run.Run.create(tmp_path / "run", "name: a\n", {})
    assert {"run.json", "manifest.json"} <= there[0]
    assert {path.name for path in made.folder.iterdir()} == there[0]


def test_a_command_that_reads(tmp_path: Path) -> None:
    done = interrupted("call", "friend_training.experiments.results.gather", "compare", str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")
