"""The command: every subcommand with its options and arguments, and how it ends, as recorded."""

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from friend_training.cli.main import app, main

RECORDED = Path(__file__).parent / "recorded" / "commands.json"

MISTAKES = (
    (),
    ("magic",),
    ("run", "no-such-config"),
    ("run", "demo", "--set", "tempo=3"),
    ("run", "demo", "--set", "seed"),
    ("resume", "no-such-run"),
    ("show", "no-such-run"),
    ("report", "no-such-run"),
    ("inspect", "no-such-run"),
    ("evaluate", "no-such-run", "no-such-file"),
    ("predict", "no-such-run", "no-such-file"),
    ("serve", "no-such-run"),
    ("export", "no-such-run", "--out", "nowhere"),
    ("experiment", "no-such-folder"),
    ("compare", "no-such-folder"),
    ("figure", "no-such-folder"),
    ("page", "no-such-page"),
    ("data", "list"),
    ("data", "magic"),
    ("bridges", "no-such-folder"),
    ("theory",),
    ("theory", "--classes", "1"),
    ("agreement", "no-such-run"),
    ("diagnose", "no-such-run"),
)
"""What people type wrong; and two that are right."""


def commands() -> dict[str, dict[str, Any]]:
    """Every command by its whole name."""
    found: dict[str, dict[str, Any]] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        parameters = [one for one in command.params if "--help" not in one.opts]
        found[" ".join(("friend-train", *words))] = {
            "options": sorted((_parameter(one) for one in parameters if _is_option(one)), key=str),
            "arguments": [_parameter(one) for one in parameters if not _is_option(one)],
            "help": ending(*words, "--help"),
            "unknown option": ending(*words, "--no-such-option"),
        }
        for name, inner in sorted(getattr(command, "commands", {}).items()):
            walk(inner, (*words, name))

    walk(get_command(app), ())
    return found


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _parameter(parameter: Any) -> dict[str, Any]:
    return {
        "names": sorted((*parameter.opts, *parameter.secondary_opts)),
        "default": None if parameter.default is None else str(parameter.default),
        "required": parameter.required,
        "repeated": parameter.multiple or parameter.nargs == -1,
        "flag": bool(getattr(parameter, "is_flag", False)),
        "variable": parameter.envvar,
    }


def ending(*words: str) -> int:
    """The exit code of the command, as a shell would see it."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            main(words)
        except SystemExit as stopped:
            return int(stopped.code or 0)
    return 0


def mistakes() -> dict[str, int]:
    return {" ".join(words): ending(*words) for words in MISTAKES}


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("FRIEND_TRAINING_DATA", "FRIEND_TRAINING_MODELS"):
        monkeypatch.delenv(name, raising=False)


def test_a_command_takes_what_it_took() -> None:
    """New commands and options are welcome; those that people have in their scripts stay as they were."""
    found = commands()
    for name, before in recorded()["commands"].items():
        now = found[name]
        assert {**now, "options": []} == {**before, "options": []}, name
        assert [option for option in before["options"] if option not in now["options"]] == [], name
        assert not any(option["required"] for option in now["options"] if option not in before["options"]), name


def test_wrong_input_ends_as_it_ended() -> None:
    assert mistakes() == recorded()["mistakes"]


if __name__ == "__main__":
    os.environ.pop("FRIEND_TRAINING_DATA", None)
    text = json.dumps({"commands": commands(), "mistakes": mistakes()}, indent=1, sort_keys=True)
    RECORDED.write_text(text + "\n", encoding="utf-8")
