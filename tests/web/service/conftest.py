"""An untrained run behind the service, in the test's own process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from friend_training import load
from friend_training.inference.model import Friends
from friend_training.web.service.app import abilities_of, make_app
from helpers.untrained_run import make_run


@pytest.fixture(scope="session")
def friends(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Friends:
    return load(make_run(tmp_path_factory.mktemp("served") / "run", tiny_encoder))


@pytest.fixture(scope="session")
def app(friends: Friends) -> Any:
    return make_app(friends, abilities_of(friends))


@pytest.fixture(scope="session")
def client(app: Any) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client
