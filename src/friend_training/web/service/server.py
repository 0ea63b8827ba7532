"""Counts and times of the service, as the text that Prometheus reads."""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from socket import socket

import uvicorn
from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from friend_training.web.guard import HEADERS, refusal
from friend_training.web.service.messages import Limits

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

SIZES = (1, 2, 4, 8, 16, 32)


@dataclass
class Histogram:
    """How many values fell into each bucket, cumulative only when written."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        below = 0
        for bound, count in zip([*map(str, self.bounds), "+Inf"], self.counts, strict=True):
            below += count
            yield f'{name}_bucket{{{labels}{"," if labels else ""}le="{bound}"}} {below}'
        within = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{within} {self.total:.6f}"
        yield f"{name}_count{within} {below}"


class Metrics:
    """What is counted. Endpoints are known names: nobody fills our memory by asking for new ones."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.waiting = waiting
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: dict[str, Histogram] = {}
        self.batches = Histogram(SIZES)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        self.requests[endpoint, status] += 1
        self.seconds.setdefault(endpoint, Histogram(SECONDS)).add(seconds)

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        name = "friend_training_requests_total"
        yield from _head(name, "counter", "Requests answered, by endpoint and status.")
        for (endpoint, status), count in sorted(self.requests.items()):
            yield f'{name}{{endpoint="{endpoint}",status="{status}"}} {count}'
        name = "friend_training_request_seconds"
        yield from _head(name, "histogram", "Seconds from the first byte of a request to its whole answer.")
        for endpoint, histogram in sorted(self.seconds.items()):
            yield from histogram.lines(name, f'endpoint="{endpoint}"')
        name = "friend_training_batch_size"
        yield from _head(name, "histogram", "Requests answered together by one call of the models.")
        yield from self.batches.lines(name)
        name = "friend_training_waiting"
        yield from _head(name, "gauge", "Requests in the queue.")
        yield f"{name} {self.waiting()}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"


# Around every request: how long it took, and how long a client may take to send it.


class Timed:
    """Counts every answer under the name of its endpoint; whatever is not one is 'other'."""

    def __init__(self, app: ASGIApp, metrics: Metrics, endpoints: frozenset[str]) -> None:
        self.app, self.metrics, self.endpoints = app, metrics, endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 499  # the client went away before it was answered

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            endpoint = scope["path"] if scope["path"] in self.endpoints else "other"
            self.metrics.answered(endpoint, status, time.perf_counter() - began)


class Patience:
    """A body that has not come whole after so many seconds is not waited for (408)."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        deadline = time.monotonic() + self.seconds
        whole = late = False

        async def in_time() -> Message:
            nonlocal whole, late
            if whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0))
            except TimeoutError:
                late = True
                return {"type": "http.disconnect"}
            whole = not message.get("more_body", False)
            return message

        async def unless_late(message: Message) -> None:
            if not late:
                await send(message)

        await self.app(scope, in_time, unless_late)
        if late:
            await _too_slow(self.seconds)(scope, receive, send)


def _too_slow(seconds: float) -> Response:
    answer = refusal(408, f"the body did not come within {seconds:g} seconds")
    answer.headers.update(HEADERS | {"Connection": "close"})
    return answer


# Running the service: uvicorn, with an end to the patience for clients that connect and say nothing.


LARGEST_HEADER = 16 * 1024


def make_server(app: FastAPI, limits: Limits) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=LARGEST_HEADER,
    )
    return uvicorn.Server(config)


def run_server(server: uvicorn.Server, listener: socket, limits: Limits) -> None:
    """Serve until stopped: Ctrl-C, SIGTERM, or `server.should_exit`."""
    asyncio.run(_serve(server, listener, limits))


async def _serve(server: uvicorn.Server, listener: socket, limits: Limits) -> None:
    watch = asyncio.create_task(_watch(server, limits.header))
    try:
        await server.serve(sockets=[listener])
    finally:
        watch.cancel()


async def _watch(server: uvicorn.Server, patience: float) -> None:
    """uvicorn waits for ever for the rest of a header: connections that never send it would keep others out."""
    silent_since: dict[object, float] = {}
    while True:
        await asyncio.sleep(min(patience / 2, 1.0))
        now = time.monotonic()
        silent = [one for one in server.server_state.connections if _is_silent(one)]
        silent_since = {one: silent_since.get(one, now) for one in silent}
        for connection, since in silent_since.items():
            if now - since >= patience:
                connection.transport.close()  # type: ignore[attr-defined]


def _is_silent(connection: object) -> bool:
    """No request is being answered, and none has just been: those between two requests uvicorn times itself."""
    cycle = getattr(connection, "cycle", None)
    idle = cycle is None or cycle.response_complete
    return idle and getattr(connection, "timeout_keep_alive_task", None) is None
