"""friend-train inspect, as somebody types it."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from friend_training.cli.main import app
from friend_training.errors import ConfigError, RunError
from helpers import patience


def started(*arguments: object, **more: str) -> subprocess.Popen[str]:
    # whoever runs the tests in the background may have Ctrl-C ignored, and children inherit that
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from friend_training.cli.main import main; main()"
    )
    command = [sys.executable, "-c", program, "inspect", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "300", **more}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


def test_it_serves_until_it_is_stopped(study: Path) -> None:
    process = started(study, "--port", "0")
    try:
        assert process.stderr is not None
        found = re.search(r"open (http://127\.0\.0\.1:\d+/)\s", process.stderr.readline())
        assert found is not None
        with urllib.request.urlopen(found[1], timeout=patience.ANSWER) as answer:
            assert b"Inspector" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(patience.ANSWER) in (0, 130)
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()


def test_beyond_this_machine_a_token_is_made_and_printed(study: Path) -> None:
    process = started(study, "--port", "0", "--host", "0.0.0.0")
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"open http://0\.0\.0\.0:(\d+)/\?token=([\w-]{32,})\s", line)
        assert found is not None, line
        address = f"http://127.0.0.1:{found[1]}/api/run"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address, timeout=patience.ANSWER)
        asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {found[2]}"})
        with urllib.request.urlopen(asked, timeout=patience.ANSWER) as answer:
            assert answer.status == 200
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_of_the_environment_is_not_printed(study: Path, host: str) -> None:
    process = started(study, "--port", "0", "--host", host, FRIEND_TRAINING_TOKEN="0123456789abcdef")
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert re.search(r"open http://[\d.]+:\d+/\?token=…", line) is not None, line
        assert "FRIEND_TRAINING_TOKEN" in line
        process.send_signal(signal.SIGINT)
        process.wait(patience.ANSWER)
        assert "0123456789abcdef" not in line + process.stderr.read()
    finally:
        process.kill()
        process.wait()


def test_what_cannot_be_is_told(study: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(app, ["inspect", str(study), "--port", port])
        assert isinstance(result.exception, ConfigError)
        assert f"port {port}" in str(result.exception)
    assert isinstance(CliRunner().invoke(app, ["inspect", str(tmp_path), "--port", "0"]).exception, RunError)
    short = CliRunner().invoke(app, ["inspect", str(study), "--port", "0", "--token", "short"])
    assert isinstance(short.exception, ConfigError)
