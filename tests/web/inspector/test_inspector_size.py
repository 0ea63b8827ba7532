"""A run of many units costs the page no more than one of few: answers have a size of their own, whatever the run's."""

import pytest
from fastapi.testclient import TestClient

from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import look_at
from helpers.small_run import large_study

FEW, MANY = 1_000, 20_000
MOVED = {"task": "csrl", "iteration": 1, "confidence_weight": 0.3, "threshold": 0.45}


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The bytes of each answer, of a run of few units and one of many."""
    found: dict[str, list[int]] = {"/api/run": [], "/api/selection": [], "/api/units": []}
    for units in (FEW, MANY):
        study = large_study(tmp_path_factory.mktemp("large") / str(units), units)
        with TestClient(make_app(look_at(study)), base_url="http://127.0.0.1:8747") as client:
            for path, of_size in found.items():
                wanted = {"/api/run": {}, "/api/selection": MOVED, "/api/units": MOVED | {"size": 25}}[path]
                answer = client.get(path, params=wanted)
                assert answer.status_code == 200, answer.text
                of_size.append(len(answer.content))
    return found


@pytest.mark.parametrize("path", ["/api/run", "/api/selection", "/api/units"])
def test_twenty_times_the_units_are_no_larger_an_answer(sizes: dict[str, list[int]], path: str) -> None:
    few, many = sizes[path]
    assert many < 1.5 * few
