"""The OpenAPI description is true: what it promises is kept, what it forbids is refused, and nothing crashes."""

from typing import Any

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="the extra dev brings schemathesis")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from friend_training.inference.model import Friends  # noqa: E402
from friend_training.web.service.app import abilities_of, make_app  # noqa: E402

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
"""That valid data are accepted is not among them: a schema cannot say that a predicate must stand in the last turn."""

OPERATIONS = ["POST /v1/rewrite", "POST /v1/roles", "POST /v1/agreement", "GET /health", "GET /metrics"]


TOKEN = {"Authorization": "Bearer 0123456789abcdef"}
"""schemathesis calls itself 'testserver', which is not a name of this machine: so it shows a token."""


@pytest.fixture(scope="module")
def guarded_app(friends: Friends) -> Any:
    """An app of its own: schemathesis starts it in an event loop of its own."""
    return make_app(friends, abilities_of(friends), token="0123456789abcdef")


@pytest.mark.parametrize(
    ("operation", "mode"), [(one, "positive") for one in OPERATIONS] + [(one, "negative") for one in OPERATIONS[:3]]
)
def test_schemathesis(guarded_app: Any, operation: str, mode: str) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", guarded_app, headers=TOKEN)
    verb, path = operation.split()
    cases = schema[path][verb].as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def asked(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers=TOKEN)

    asked()
