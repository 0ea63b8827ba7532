"""The very small encoder of the networks."""

import pytest


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    from helpers.tiny import prepare

    return prepare(tmp_path_factory.mktemp("tiny") / "encoder")
