"""The guard by itself: who is let in, how much is read, and what every answer carries."""

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from friend_training.errors import ConfigError, DataError
from friend_training.web.server import HEADERS, guarded, is_loopback, token_for
from helpers import patience

TOKEN = "0123456789abcdef"
LOCAL = "http://localhost:8747"


def made(token=None, base_url=LOCAL, **options):
    app = FastAPI()
    guarded(app, token, max_body=100, patience=patience.ANSWER)

    @app.get("/here")
    def here(name: str = "") -> dict[str, str]:
        return {"here": name}

    @app.post("/length")
    async def length(request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    @app.get("/wrong")
    def wrong() -> None:
        raise DataError("this line is broken", path="file.jsonl", line=3)

    return TestClient(app, base_url=base_url, raise_server_exceptions=False, **options)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.3.4.5", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback(host, local):
    assert is_loopback(host) is local


def test_a_token_is_asked_for_beyond_this_machine():
    assert token_for("127.0.0.1", None) is None
    assert token_for("127.0.0.1", TOKEN) == TOKEN
    made_up, another = token_for("0.0.0.0", None), token_for("0.0.0.0", None)
    assert made_up is not None
    assert len(made_up) >= 32
    assert made_up != another


@pytest.mark.parametrize(
    "given", ["", "short", " " * 20, "with space in the token", "0123456789abcdeé", "0123456789abcde\n"]
)
def test_tokens_that_are_none(given):
    with pytest.raises(ConfigError, match="--token"):
        token_for("0.0.0.0", given)


def test_without_a_token_only_this_machines_own_names_are_answered_to():
    client = made()
    assert client.get("/here").status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "[", ""):
        answer = client.get("/here", headers={"host": host})
        assert answer.status_code == 403, host
        assert "localhost" in answer.json()["error"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "http://localhost:8747.evil"])
def test_no_foreign_page_may_ask_in_somebodys_name(origin):
    assert made().post("/length", headers={"origin": origin}).status_code == 403
    assert made().post("/length", headers={"origin": LOCAL}).status_code == 200


def test_a_token_by_header():
    client = made(TOKEN, "http://example.test")
    for header in ({}, {"authorization": TOKEN}, {"authorization": "Bearer x"}, {"authorization": f"Basic {TOKEN}"}):
        answer = client.get("/here", headers=header)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    assert client.get("/here", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    foreign = {"authorization": f"Bearer {TOKEN}", "origin": "http://other.example"}
    assert client.get("/here", headers=foreign).status_code == 200, "whoever has the token may ask from anywhere"


def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address():
    client = made(TOKEN, "http://example.test", follow_redirects=False)
    assert client.get("/here", params={"token": "x" * 16}).status_code == 401
    moved = client.get("/here", params={"token": TOKEN, "name": "甲 & 乙"})
    assert moved.status_code == 303
    assert TOKEN not in moved.headers["location"]
    cookie = moved.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert client.get(moved.headers["location"]).json() == {"here": "甲 & 乙"}
    assert client.post("/length", headers={"origin": "http://other.example"}).status_code == 403
    away = client.get("http://example.test//other.example/", params={"token": TOKEN})
    assert away.headers["location"] == "/other.example/", "two slashes would lead to another host"


def test_another_servers_cookie_is_not_ours():
    first, second = made(TOKEN), made(TOKEN[::-1])
    first.get("/here", params={"token": TOKEN})
    assert (
        second.get("/here", headers={"cookie": "; ".join(f"{k}={v}" for k, v in first.cookies.items())}).status_code
        == 401
    )


def test_a_body_is_read_to_its_limit_and_no_further():
    client = made()
    assert client.post("/length", content=b"x" * 100).json() == {"length": 100}
    assert client.post("/length", content=b"x" * 101).status_code == 413
    pieces = (b"x" * 30 for _ in range(10))  # no length is said beforehand
    assert client.post("/length", content=pieces).status_code == 413
    assert client.post("/length", headers={"content-length": "-1"}, content=b"x").status_code == 413


@pytest.mark.parametrize("path", ["/here", "/nothing", "/wrong"])
def test_every_answer_carries_the_headers(path):
    answer = made().get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    refused = made(TOKEN).get(path)
    assert refused.status_code == 401
    assert refused.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_our_own_errors_are_told():
    answer = made().get("/wrong")
    assert (answer.status_code, answer.json()) == (422, {"error": "file.jsonl:3: this line is broken"})
