"""Counts and times of the service, for Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

SIZES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """What is counted. Endpoints are known names: nobody fills our memory by asking for new ones."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()  # of this app alone: several may stand in one process
        self._requests = Counter(
            "friend_training_requests",
            "Requests answered, by endpoint and status.",
            ["endpoint", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "friend_training_request_seconds",
            "Seconds from the first byte of a request to its whole answer.",
            ["endpoint"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "friend_training_batch_size",
            "Requests answered together by one call of the models.",
            buckets=SIZES,
            registry=self._registry,
        )
        queue = Gauge("friend_training_waiting", "Requests in the queue.", registry=self._registry)
        queue.set_function(waiting)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        self._requests.labels(endpoint, status).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def worked_on(self, batch: int) -> None:
        self._batches.observe(batch)

    def text(self) -> bytes:
        return generate_latest(self._registry)


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
