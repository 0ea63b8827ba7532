"""Listening and serving: uvicorn, with an end to the patience for clients that connect and say nothing."""

import asyncio
import socket
import time

import uvicorn
from fastapi import FastAPI

from friend_training.errors import ConfigError

PATIENCE = 10.0
"""Seconds that a client has to send its header, and then its body, where nothing else is said."""


# Taking a port before anything else is done, so that one that is taken is told at once.


def listening(host: str, port: int) -> socket.socket:
    """A socket bound to this address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns Nagle's algorithm off only then; else every answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except (OSError, UnicodeError) as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}, port {port}: {error}; choose others by --host and --port"
        ) from None
    return listener


def address_of(listener: socket.socket) -> str:
    """What a browser opens, such as http://127.0.0.1:8747/."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


# Running the server.


LARGEST_HEADER = 16 * 1024


def make_server(app: FastAPI, *, connections: int = 512) -> uvicorn.Server:
    """uvicorn with its limits: plain HTTP, short headers, so many connections at once."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        server_header=False,
        limit_concurrency=connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=LARGEST_HEADER,
    )
    return uvicorn.Server(config)


def run_server(server: uvicorn.Server, listener: socket.socket, *, patience: float) -> None:
    """Serve until stopped: Ctrl-C, SIGTERM, or `server.should_exit`. A header may take so many seconds to come."""
    asyncio.run(_serve(server, listener, patience))


async def _serve(server: uvicorn.Server, listener: socket.socket, patience: float) -> None:
    watch = asyncio.create_task(_watch(server, patience))
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
