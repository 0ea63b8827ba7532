"""A small run, the inspector that looks at it, and a client that asks as a browser on this machine would."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import Look, look_at
from helpers.small_run import small_study

ADDRESS = "http://127.0.0.1:8747"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return small_study(tmp_path / "small")


@pytest.fixture
def look(study: Path) -> Look:
    return look_at(study)


@pytest.fixture
def client(look: Look) -> Iterator[TestClient]:
    # A server that fails must answer as it would in life, not raise into the test.
    with TestClient(make_app(look), base_url=ADDRESS, raise_server_exceptions=False) as asking:
        yield asking
