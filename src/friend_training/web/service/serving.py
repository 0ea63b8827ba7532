"""Running the service: uvicorn, with an end to the patience for clients that connect and say nothing."""

import asyncio
import time
from socket import socket

import uvicorn
from fastapi import FastAPI

from friend_training.web.service.limits import Limits

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
