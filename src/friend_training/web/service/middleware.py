"""Around every request: how long it took, and how long a client may take to send it."""

import asyncio
import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from friend_training.web.answers import refusal
from friend_training.web.guard import HEADERS
from friend_training.web.service.metrics import Metrics


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
