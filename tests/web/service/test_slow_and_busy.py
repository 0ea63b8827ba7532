"""On a real port: clients that are slow to ask, and a service that is slow to answer."""

import http.client
import json
import socket
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from friend_training.inference.answers import RewriteMade
from friend_training.web.service.app import Abilities, make_app
from friend_training.web.service.messages import Limits
from helpers import patience
from helpers.on_a_port import serving

BODY = json.dumps({"turns": ["好"]})
JSON = {"Content-Type": "application/json"}


def _app(limits: Limits, may_answer: threading.Event | None = None) -> Any:
    """The service with friends who answer at once, or when they may."""

    def answer(questions: Sequence[object]) -> list[RewriteMade]:
        if may_answer is not None:
            may_answer.wait(patience.ANSWER)
        return [RewriteMade("好", 1.0, (), ()) for _ in questions]

    friends: Any = SimpleNamespace(answer=answer, config=SimpleNamespace(name="slow"), method="fdt")
    return make_app(friends, Abilities(find=True, compare=True, notes=()), limits=limits)


def _asked(port: int, results: list[tuple[int, str | None]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience.ANSWER)
    connection.request("POST", "/v1/rewrite", BODY, JSON)
    answer = connection.getresponse()
    assert set(json.loads(answer.read())) & {"error", "text"}
    results.append((answer.status, answer.headers.get("Retry-After")))
    connection.close()


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=patience.ANSWER)


def test_too_many_at_once() -> None:
    """One is in work, one may wait: whoever comes while nobody is answered is sent away."""
    limits = Limits(batch=1, gather=0.0, waiting=1, answer=patience.ANSWER, body=patience.ANSWER)
    results: list[tuple[int, str | None]] = []
    may_answer = threading.Event()
    with serving(_app(limits, may_answer), limits) as port:
        threads = [threading.Thread(target=_asked, args=(port, results)) for _ in range(6)]
        for thread in threads:
            thread.start()
        patience.wait_until(lambda: len(results) >= 4, "four that are sent away")
        may_answer.set()
        for thread in threads:
            thread.join()
    assert [status for status, _ in results[:4]] == [503] * 4
    assert {status for status, _ in results} == {200, 503}
    assert all(retry == "1" for status, retry in results if status == 503)


def test_an_answer_that_takes_too_long() -> None:
    limits = Limits(answer=0.2)
    results: list[tuple[int, str | None]] = []
    may_answer = threading.Event()
    with serving(_app(limits, may_answer), limits) as port:
        _asked(port, results)
        may_answer.set()
    assert results == [(503, "5")]


def test_a_header_without_end() -> None:
    limits = Limits()
    with serving(_app(limits), limits) as port, _connected(port) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000)
        assert line.recv(4096).startswith(b"HTTP/1.1 400 ")
