"""On a real port, the service and the inspector alike: clients that stop in the middle, and two lengths of one body."""

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from friend_training.web.service.app import Abilities, make_app
from friend_training.web.service.messages import Limits
from helpers import patience
from helpers.on_a_port import serving
from helpers.on_the_inspector import served
from helpers.small_run import small_study

Server = Callable[..., AbstractContextManager[socket.socket]]
"""Starts a server that waits so many seconds for `header` and `body`; gives a connection to it."""


@pytest.fixture(params=["service", "inspector"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Server:
    @contextmanager
    def started(*, header: float = patience.ANSWER, body: float = patience.ANSWER) -> Iterator[socket.socket]:
        if request.param == "service":
            limits = Limits(header=header, body=body)
            friends: Any = SimpleNamespace(answer=list, config=SimpleNamespace(name="none"), method="fdt")
            app = make_app(friends, Abilities(find=True, compare=True, notes=()), limits=limits)
            with serving(app, limits) as port, _connected(port) as line:
                yield line
            return
        inspector = served(small_study(tmp_path / "small"), header=header, body=body)
        with inspector as address, _connected(urlsplit(address).port or 0) as line:
            yield line

    return started


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=patience.ANSWER)


def _answer(line: socket.socket) -> str:
    """Head and body may come in two pieces: all that comes until the server closes the connection."""
    return b"".join(iter(lambda: line.recv(4096), b"")).decode()


PATHS = "/v1/rewrite", "/api/corrections"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("length", ["Content-Length: 99", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come(server: Server, path: str, length: str) -> None:
    with server(body=0.3) as line:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
        line.sendall(head.encode() + (b"{" if "99" in length else b"1\r\n{\r\n"))
        answer = _answer(line)
    assert answer.startswith("HTTP/1.1 408 ")
    assert "did not come within 0.3 seconds" in answer
    assert "content-security-policy" in answer.lower()


@pytest.mark.parametrize("said", [b"", b"POST /v1/rewrite HTTP/1.1\r\nHost: loc"])
def test_a_header_that_does_not_come(server: Server, said: bytes) -> None:
    with server(header=0.3) as line:
        line.sendall(said)
        assert line.recv(4096) == b"", "the connection is closed"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_body_with_two_lengths_is_refused(server: Server, path: str, order: int) -> None:
    """The rest of the body would be the next request, for whoever reads the other length."""
    lengths = ["Content-Length: 5", "Transfer-Encoding: chunked"][::order]
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + "\r\n".join(lengths)
    with server() as line:
        line.sendall(f"{head}\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = _answer(line)
    assert answer.startswith("HTTP/1.1 400 ")
    assert "not both" in answer
    assert answer.count("HTTP/1.1") == 1, "what came after it was no request"
