"""What the service answers, and that it is what the models say."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from friend_training import load
from friend_training.inference.model import Friends
from friend_training.web.service.app import abilities_of, make_app
from helpers.untrained_run import make_run

TURNS = ["你喜欢喝茶吗？", "他来看你。"]


def _plain(answer: Any) -> Any:
    return json.loads(json.dumps(asdict(answer)))


def _close(a: Any, b: Any) -> bool:
    """Equal, but for the last digits of numbers: batches are padded differently."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(_close(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == pytest.approx(b, rel=1e-4)) if isinstance(a, float) else bool(a == b)


def test_rewrite(client: TestClient, friends: Friends) -> None:
    answer = client.post("/v1/rewrite", json={"turns": TURNS})
    assert answer.status_code == 200
    assert _close(answer.json(), _plain(friends.rewrite(TURNS)))


def test_roles(client: TestClient, friends: Friends) -> None:
    expected = [_plain(one) for one in friends.roles(TURNS, ["来", "看"])]
    named = [{"speaker": "A", "text": TURNS[0]}, {"speaker": "B", "text": TURNS[1]}]
    for asked in (
        {"turns": TURNS},
        {"turns": named, "predicates": ["看", {"start": 1, "end": 2}]},
        {"turns": TURNS, "predicates": None},
    ):
        answer = client.post("/v1/roles", json=asked)
        assert answer.status_code == 200
        assert _close(answer.json()["predicates"], expected), asked
    assert client.post("/v1/roles", json={"turns": TURNS, "predicates": []}).json() == {"predicates": []}


def test_agreement(client: TestClient, friends: Friends) -> None:
    answer = client.post("/v1/agreement", json={"turns": TURNS})
    assert answer.status_code == 200
    assert _close(answer.json(), _plain(friends.agreement(TURNS)))


def test_lines_of_jsonl_are_answered_together(client: TestClient, friends: Friends) -> None:
    """As they stand in a file, labels and all; what is wrong with one does not keep the others from their answers."""
    turns = [{"speaker": "A", "text": "小李喝绿茶吗？"}, {"speaker": "B", "text": "他不喝。"}]
    line = {
        "id": "d1",
        "turns": turns,
        "predicates": [{"start": 2, "end": 3, "arguments": []}],
        "rewrite": "小李不喝。",
    }
    blank = {"id": "d2", "turns": [{"speaker": "A", "text": ""}]}
    for kind in ("rewrite", "roles", "agreement"):
        answer = client.post("/v1/batch", json={"ask": kind, "dialogues": [line, blank]})
        assert answer.status_code == 200, answer.text
        first, second = answer.json()["answers"]
        assert (first["id"], second["id"]) == ("d1", "d2")
        alone = {"turns": turns} | ({} if kind == "rewrite" else {"predicates": [{"start": 2, "end": 3}]})
        expected = client.post(f"/v1/{kind}", json=alone).json()
        assert first[kind] == (expected["predicates"] if kind == "roles" else expected)
        assert first["error"] is None
        assert "no text" in second["error"]
        assert second[kind] is None
    too_many = client.post("/v1/batch", json={"ask": "rewrite", "dialogues": [line] * 65})
    assert "has 65 entries; expected at most 64" in too_many.json()["error"]


def test_health_and_metrics(client: TestClient) -> None:
    assert client.get("/health").json() == {
        "status": "ok",
        "run": "untrained",
        "method": "fdt",
        "agreement": True,
        "finder": True,
    }
    before = client.get("/metrics").text
    client.post("/v1/rewrite", json={"turns": TURNS})
    client.post("/v1/rewrite", json={"turns": 3})
    client.get("/nothing/here")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    counts = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in _samples(answer.text)}
    earlier = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in _samples(before)}
    name = 'friend_training_requests_total{endpoint="/v1/rewrite",status="%d"}'
    assert counts[name % 200] == earlier.get(name % 200, 0) + 1
    assert counts[name % 422] == earlier.get(name % 422, 0) + 1
    assert counts['friend_training_requests_total{endpoint="other",status="404"}'] >= 1
    batches = "friend_training_batch_size_count"
    assert counts[batches] == earlier[batches] + 1
    seconds = 'friend_training_request_seconds_bucket{endpoint="/v1/rewrite",le="+Inf"}'
    assert counts[seconds] == counts['friend_training_request_seconds_count{endpoint="/v1/rewrite"}']
    assert "/nothing" not in answer.text


def _samples(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/docs", "/static/page.js", "/static/docs.js", "/static/service.css"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        foreign = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in foreign
        assert "https://" not in foreign
        assert "innerHTML" not in foreign
    described = client.get("/openapi.json").json()["paths"]
    assert set(described) == {
        "/v1/condense",
        "/v1/rewrite",
        "/v1/roles",
        "/v1/agreement",
        "/v1/batch",
        "/health",
        "/metrics",
    }


def test_with_a_token(friends: Friends) -> None:
    app = make_app(friends, abilities_of(friends), token="0123456789abcdef")
    with TestClient(app, base_url="http://somewhere.example") as client:
        refused = client.post("/v1/rewrite", json={"turns": TURNS})
        assert (refused.status_code, "token" in refused.json()["error"]) == (401, True)
        assert client.get("/health").status_code == 401
        given = {"Authorization": "Bearer 0123456789abcdef"}
        assert client.post("/v1/rewrite", json={"turns": TURNS}, headers=given).status_code == 200


def test_only_this_machine_without_one(client: TestClient) -> None:
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 403
    page = {"Origin": "http://evil.example"}
    assert client.post("/v1/rewrite", json={"turns": TURNS}, headers=page).status_code == 403


def test_a_run_without_bridge_and_finder(tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run", tiny_encoder)
    (run / "bridge").rename(tmp_path / "gone")
    friends = load(run)
    monkeypatch.setitem(friends.__dict__, "finder", None)
    abilities = abilities_of(friends)
    assert len(abilities.notes) == 2
    with TestClient(make_app(friends, abilities), base_url="http://localhost") as client:
        health = client.get("/health").json()
        assert (health["agreement"], health["finder"]) == (False, False)
        refused = client.post("/v1/agreement", json={"turns": TURNS, "predicates": ["来"]})
        assert (refused.status_code, "bridge" in refused.json()["error"]) == (409, True)
        assert str(tmp_path) not in refused.text
        refused = client.post("/v1/roles", json={"turns": TURNS})
        assert (refused.status_code, "no way to find them" in refused.json()["error"]) == (422, True)
        assert client.post("/v1/roles", json={"turns": TURNS, "predicates": ["来"]}).status_code == 200


def test_condense(client: TestClient, friends: Friends) -> None:
    answer = client.post("/v1/condense", json={"history": TURNS[:1], "question": TURNS[1]})
    assert answer.status_code == 200
    made = friends.rewrite(TURNS)
    assert answer.json()["text"] == made.text == friends.condense(TURNS[:1], TURNS[1]).text
    assert friends.rewrite(TURNS, unless_sure=1.0).text == TURNS[1]
