"""On a real port: clients that are slow to ask, and a service that is slow to answer."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from on_a_port import serving

from friend_training.scenarios.answers import RewriteMade
from friend_training.web.service.abilities import Abilities
from friend_training.web.service.app import make_app
from friend_training.web.service.limits import Limits

BODY = json.dumps({"turns": ["好"]})
JSON = {"Content-Type": "application/json"}


def _app(limits: Limits, seconds: float = 0.0) -> Any:
    """The service with friends who only take their time."""

    def answer(questions: Sequence[object]) -> list[RewriteMade]:
        time.sleep(seconds)
        return [RewriteMade("好", 1.0, (), ()) for _ in questions]

    friends: Any = SimpleNamespace(answer=answer, config=SimpleNamespace(name="slow"), method="fdt")
    return make_app(friends, Abilities(find=True, compare=True, notes=()), limits=limits)


def _asked(port: int, results: list[tuple[int, str | None]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/v1/rewrite", BODY, JSON)
    answer = connection.getresponse()
    assert set(json.loads(answer.read())) & {"error", "text"}
    results.append((answer.status, answer.headers.get("Retry-After")))
    connection.close()


def test_too_many_at_once() -> None:
    limits = Limits(batch=1, gather=0.0, waiting=1, answer=5.0)
    results: list[tuple[int, str | None]] = []
    with serving(_app(limits, seconds=0.4), limits) as port:
        threads = [threading.Thread(target=_asked, args=(port, results)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {status for status, _ in results} == {200, 503}
    assert all(retry == "1" for status, retry in results if status == 503)


def test_an_answer_that_takes_too_long() -> None:
    limits = Limits(answer=0.2)
    results: list[tuple[int, str | None]] = []
    with serving(_app(limits, seconds=0.6), limits) as port:
        _asked(port, results)
    assert results == [(503, "5")]


def test_a_body_that_does_not_come() -> None:
    limits = Limits(body=0.3)
    with serving(_app(limits), limits) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        head = (
            "POST /v1/rewrite HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        )
        line.sendall(f"{head}\r\n{{".encode())
        # Head and body may come in two pieces: read until the service closes the connection.
        answer = b"".join(iter(lambda: line.recv(4096), b"")).decode()
    assert answer.startswith("HTTP/1.1 408 ")
    assert "did not come within 0.3 seconds" in answer
    assert "content-security-policy" in answer.lower()


@pytest.mark.parametrize("said", [b"", b"POST /v1/rewrite HTTP/1.1\r\nHost: loc"])
def test_a_header_that_does_not_come(said: bytes) -> None:
    limits = Limits(header=0.3)
    with serving(_app(limits), limits) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        began = time.monotonic()
        line.sendall(said)
        assert line.recv(4096) == b"", "the connection is closed"
        assert time.monotonic() - began < 5


def test_a_header_without_end() -> None:
    limits = Limits()
    with serving(_app(limits), limits) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000)
        assert line.recv(4096).startswith(b"HTTP/1.1 400 ")
