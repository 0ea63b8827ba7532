"""The commands `serve` and `export`, as a user types them."""

import json
import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from friend_training.web.server import listening
from helpers import patience
from helpers.command import FriendTrain
from helpers.untrained_run import make_run

TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "untrained", tiny_encoder)


def test_serve_until_it_is_stopped(untrained: Path) -> None:
    """With a token of the environment, which nothing prints."""
    command = [sys.executable, "-m", "friend_training.cli.main", "serve", str(untrained), "--port", "0"]
    environment = os.environ | {"COLUMNS": "200", "FRIEND_TRAINING_TOKEN": TOKEN}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if "http://" in line)
            address = urlsplit(line[line.index("http://") :].split()[0])
            connection = HTTPConnection(address.hostname or "", address.port, timeout=patience.ANSWER)
            assert TOKEN not in line
            connection.request("GET", "/health", headers={"Authorization": f"Bearer {TOKEN}"})
            assert json.load(connection.getresponse())["method"] == "fdt"
            connection.close()
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
            assert "Traceback" not in rest
            assert TOKEN not in rest
            process.wait(patience.ANSWER)
        finally:
            process.kill()
    assert process.returncode in (0, -signal.SIGTERM)


def test_a_run_that_is_none_and_a_port_that_is_taken(
    friend_train: FriendTrain, untrained: Path, tmp_path: Path
) -> None:
    said = friend_train("serve", tmp_path, "--port", "0")
    assert (said.code, "not a run folder" in said.err) == (2, True)
    with listening("127.0.0.1", 0) as taken:
        taken.listen()
        said = friend_train("serve", untrained, "--port", taken.getsockname()[1])
    assert (said.code, "cannot listen on 127.0.0.1" in said.err) == (2, True)
    said = friend_train("serve", untrained, "--port", "0", "--token", "short")
    assert (said.code, "--token: at least 16" in said.err) == (2, True)


def test_export(friend_train: FriendTrain, untrained: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    said = friend_train("export", untrained, "--task", "csrl", "--out", out, "--method", "base")
    assert said.code == 0, said.err
    assert "README.md" in said.err
    assert "`base`" in (out / "README.md").read_text(encoding="utf-8")
    said = friend_train("export", untrained, "--task", "csrl", "--out", out)
    assert (said.code, "already there" in said.err) == (2, True)


@pytest.mark.parametrize("command", ["serve", "export"])
def test_help_fits_into_80_columns(friend_train: FriendTrain, command: str) -> None:
    said = friend_train(command, "--help")
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert "…" not in "".join(line for line in said.out.splitlines() if "│" in line)
