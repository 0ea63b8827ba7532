"""Listening and serving: uvicorn, with an end to the patience for clients that connect and say nothing.

What stands between the network and our pages: a token, security headers, limits on bodies, errors in one line.

On the loopback address there is no token. Then nobody but this machine may ask, and no foreign web page may do so in
the name of whoever sits before it: the Host must be a loopback name (DNS rebinding), and the Origin, where a browser
sends one, must be that same host (cross-site requests).
"""

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from friend_training.core.expected import expected
from friend_training.errors import ConfigError, FriendTrainingError

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


# Errors as one JSON object with one line, {"error": …}: clear to whoever asked, and never a traceback.


LONGEST = 1000


def refusal(status: int, message: str) -> Response:
    """One line; what is quoted in it comes from outside, so it is cut short and broken Unicode is spelt out."""
    readable = message[:LONGEST].encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"error": readable}, status_code=status)


async def _our_error(request: Request, error: Exception) -> Response:
    return refusal(422, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = refusal(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


async def _wrong_values(request: Request, error: Exception) -> Response:
    """What each value should have been; what was given is not repeated, it may be long."""
    assert isinstance(error, RequestValidationError)
    return refusal(422, "; ".join(_wrong(one) for one in error.errors()))


def _wrong(one: dict[str, Any]) -> str:
    return f"{'.'.join(str(part) for part in one['loc'])}: {expected(one)}"


async def _our_fault(request: Request, error: Exception) -> Response:
    return refusal(500, "something went wrong in the server; its own output says what")


ANSWERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    FriendTrainingError: _our_error,
    HTTPException: _http_error,
    RequestValidationError: _wrong_values,
    Exception: _our_fault,
}
"""What is said of each kind of error."""


SHORTEST_TOKEN = 16


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def token_for(host: str, given: str | None) -> str | None:
    """The token a server on this address asks for: the one given, a new one beyond loopback, none on loopback."""
    if given is not None:
        if len(given) < SHORTEST_TOKEN or not given.isascii() or not given.isprintable() or " " in given:
            raise ConfigError(f"--token: at least {SHORTEST_TOKEN} printable ASCII characters without spaces")
        return given
    return None if is_loopback(host) else secrets.token_urlsafe(24)


def is_loopback(host: str) -> bool:
    """Whether a name or address can only mean this machine."""
    bare = host.strip("[]")
    if bare.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def guarded(app: FastAPI, token: str | None, *, max_body: int, patience: float) -> None:
    """Guard every request to an app: who asks, how much is sent and how slowly; and no answer shows a traceback.

    The token comes as `Authorization: Bearer …`, or once as `?token=…` in the address, which a cookie then replaces.
    """
    for kind, answer in ANSWERS.items():
        app.add_exception_handler(kind, answer)
    # The last one added stands outermost: headers are on every answer, a stranger's body is not even read.
    app.add_middleware(_LimitedBody, max_body=max_body)
    app.add_middleware(_Patience, seconds=patience)
    app.add_middleware(_Admission, token=token)
    app.add_middleware(_OneLength)
    app.add_middleware(_SecurityHeaders)


class _SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class _OneLength:
    """Refuses a request that says in two ways where its body ends: a proxy before us may take the other one, and then
    the rest of the body is somebody else's request (request smuggling)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and {"content-length", "transfer-encoding"} <= set(Headers(scope=scope)):
            await _closing(400, "a body has a Content-Length or a Transfer-Encoding, not both")(scope, receive, send)
            return
        await self.app(scope, receive, send)


class _Admission:
    """Who may ask at all."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app, self.token = app, token
        # Cookies are shared by all ports of a host: another server's token must not take the place of ours.
        self.cookie = "" if token is None else f"friend-training-{hashlib.sha256(token.encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # we have no web sockets
            return
        refused = self._foreign(Headers(scope=scope)) if self.token is None else self._unknown(scope, self.token)
        await (refused or self.app)(scope, receive, send)

    def _foreign(self, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not is_loopback(_name(host)):
            return refusal(403, f"only this machine's own names are answered to, such as localhost, not {host!r}")
        return _cross_site(headers)

    def _unknown(self, scope: Scope, token: str) -> Response | None:
        headers = Headers(scope=scope)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = [(name, value) for name, value in query if name != "token"]
        if scope["method"] == "GET" and _same(dict(query).get("token", ""), token):
            path = "/" + scope["path"].lstrip("/")  # two slashes would name another host
            moved = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, status_code=303)
            moved.set_cookie(self.cookie, token, httponly=True, samesite="strict")
            return moved
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(value, token):
            return None
        if _same(_cookie(headers, self.cookie), token):
            return _cross_site(headers)
        answer = refusal(401, "a token is needed: open the address printed at the start, or send it as Bearer")
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer


class _Patience:
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
            message = f"the body did not come within {self.seconds:g} seconds"
            await _closing(408, message)(scope, receive, send)


def _closing(status: int, message: str) -> Response:
    """A refusal after which nothing more is read from this connection."""
    answer = refusal(status, message)
    answer.headers["Connection"] = "close"
    return answer


class _LimitedBody:
    """Reads a request's body before anything else happens, and no more of it than allowed."""

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self.app, self.max_body = app, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        said = Headers(scope=scope).get("content-length", "0")
        too_much = refusal(413, f"the body is larger than the {self.max_body:,} bytes that are read here")
        if not said.isdecimal() or int(said) > self.max_body:
            await too_much(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if len(body) > self.max_body:
                await too_much(scope, receive, send)
                return
            if not message.get("more_body", False):
                break
        await self.app(scope, _replaying(bytes(body), receive), send)


def _replaying(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()  # only that the client has gone can come now
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _name(host: str) -> str:
    """'[::1]:8747' → '::1'; what is no host is no name."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _cross_site(headers: Headers) -> Response | None:
    origin = headers.get("origin")
    if origin is None or origin.partition("://")[2] == headers.get("host"):
        return None
    return refusal(403, f"requests from pages of {origin!r} are not answered")


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def _same(given: str, token: str) -> bool:
    """In constant time, so that the delay of an answer tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())
