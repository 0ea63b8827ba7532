"""Where the public datasets and encoders lie, for tests that need them."""

import os
from pathlib import Path

import pytest


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        pytest.skip(f"{variable} does not name a folder: the public files are not on this machine")
    return Path(value)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _folder("FRIEND_TRAINING_DATA")


@pytest.fixture(scope="session")
def models_dir() -> Path:
    return _folder("FRIEND_TRAINING_MODELS")
