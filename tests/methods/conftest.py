"""The toy tasks of the core's tests serve here too; what works inside training gets a very small encoder."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "core"))


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    from tiny import prepare

    return prepare(tmp_path_factory.mktemp("tiny") / "encoder")
