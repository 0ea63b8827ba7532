"""Malformed, huge and hostile requests: a 4xx with a clear line, never a traceback, never a path of this machine."""

import json

import pytest
from starlette.testclient import TestClient

from friend_training.web.service.messages import BODY_BYTES, PREDICATES, TURN_CHARACTERS, TURNS


def _turns(*turns: object, **others: object) -> bytes:
    return json.dumps({"turns": turns, **others}).encode()


BAD: dict[str, tuple[bytes, int, str]] = {
    "no body": (b"", 422, "body"),
    "broken JSON": (b'{"turns": ["', 422, "broken JSON"),
    "not UTF-8": (b'{"turns": ["\xff\xfe"]}', 400, ""),
    "only a number": (b"7", 422, "body"),
    "null": (b"null", 422, "body"),
    "a list": (b"[]", 422, "body"),
    "NaN": (b'{"turns": NaN}', 422, "turns"),
    "NaN as a place": (b'{"turns": ["a"], "predicates": [{"start": NaN, "end": Infinity}]}', 422, "predicates"),
    "a number of 5000 digits": (b'{"turns": [' + b"9" * 5000 + b"]}", 400, ""),
    "deep nesting": (b'{"turns": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, ""),
    "no turns": (_turns(), 422, "turns"),
    "blank last turn": (_turns("你好", " \n"), 422, "last turn has no text"),
    "wrong type": (_turns(3), 422, "turns.0: expected text; body.turns.0: expected an object"),
    "number as text": (_turns({"speaker": "A", "text": 5}), 422, "text"),
    "unknown field": (_turns("a", model="../../etc/passwd"), 422, "body.model: is not a field of this request"),
    "unknown field of broken Unicode": (b'{"turns": ["a"], "\\ud800": 1}', 422, "not valid Unicode"),
    "missing field": (_turns({"speaker": "A"}), 422, "body.turns.0.text: is missing"),
    "lone surrogate": (b'{"turns": ["\\ud83d"]}', 422, "turns.0"),
    "lone surrogate in a name": (b'{"turns": [{"speaker": "\\udc00", "text": "a"}]}', 422, "speaker"),
    "null byte": (_turns("你\0好"), 422, "turns.0: has control characters"),
    "escape character": (_turns("\x1b[2J"), 422, "turns.0"),
    "too many turns": (_turns(*["好"] * (TURNS + 1)), 422, "turns"),
    "too long a turn": (
        _turns("好" * (TURN_CHARACTERS + 1)),
        422,
        f"turns.0: has {TURN_CHARACTERS + 1} characters; expected at most {TURN_CHARACTERS}",
    ),
    "huge body": (_turns("好" * 10_000_000), 413, "larger than"),
    "predicate of another turn": (_turns("他来", "好", predicates=["来"]), 422, "does not stand in the last turn"),
    "predicate outside": (_turns("好", predicates=[{"start": 0, "end": 9}]), 422, "no span"),
    "predicate inside out": (_turns("好的", predicates=[{"start": 1, "end": 1}]), 422, "no span"),
    "negative place": (_turns("好", predicates=[{"start": -1, "end": 1}]), 422, "start"),
    "too many predicates": (_turns("好", predicates=["好"] * (PREDICATES + 1)), 422, "predicates"),
    "a word as predicates": (_turns("好", predicates="好"), 422, "predicates"),
    "true as a place": (_turns("好", predicates=[{"start": False, "end": True}]), 422, "predicates"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("path", ["/v1/roles", "/v1/agreement"])
def test_bad_bodies(client: TestClient, path: str, name: str) -> None:
    body, status, words = BAD[name]
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    said = answer.json()["error"]
    assert words in said
    assert "\n" not in said
    assert len(said) < 1000
    assert "Traceback" not in said
    assert "/friend_training/" not in said


def test_the_largest_dialogue_allowed_is_let_in_by_size(client: TestClient) -> None:
    largest = _turns(*[{"speaker": "名" * 64, "text": "好" * TURN_CHARACTERS}] * TURNS)
    assert len(largest) <= BODY_BYTES
    assert client.post("/v1/rewrite", content=largest, headers={"Content-Type": "application/json"}).status_code == 200


def test_a_turn_of_nothing_but_verbs(client: TestClient) -> None:
    answer = client.post("/v1/agreement", json={"turns": ["来" * TURN_CHARACTERS]})
    assert answer.status_code == 200
    assert len(answer.json()["predicates"]) == 32


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_other_content_types(client: TestClient, content_type: str) -> None:
    answer = client.post("/v1/rewrite", content=_turns("好"), headers={"Content-Type": content_type})
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2f..%2fguard.py",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/page.js%00.html",
        "/static/",
        "/v1/../../etc/passwd",
        "/v1/<script>alert(1)</script>",
    ],
)
def test_path_tricks(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert "script" not in answer.text


@pytest.mark.parametrize("speaker", ["../../etc/passwd", "<script>alert(1)</script>", "'; drop table", "${jndi:x}"])
def test_names_and_markup_are_only_text(client: TestClient, speaker: str) -> None:
    turns = [{"speaker": speaker, "text": f"<img src=x onerror=alert(1)>{speaker}"}, {"speaker": "B", "text": "他来"}]
    answer = client.post("/v1/agreement", json={"turns": turns})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_wrong_methods(client: TestClient) -> None:
    assert client.get("/v1/rewrite").status_code == 405
    assert client.put("/health").status_code == 405
    assert set(client.delete("/v1/roles").json()) == {"error"}
