"""The core's toy tasks and the parsers' little grammar serve here too; networks get a very small encoder."""

import sys
from pathlib import Path

import pytest

for other in ("core", "tasks"):
    sys.path.insert(0, str(Path(__file__).parent.parent / other))


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    from tiny import prepare

    return prepare(tmp_path_factory.mktemp("tiny") / "encoder")
