"""Errors as one JSON object with one line, {"error": …}: clear to whoever asked, and never a traceback."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from friend_training.errors import FriendTrainingError

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
    return f"{'.'.join(str(part) for part in one['loc'])}: {one['msg'].removeprefix('Value error, ')}"


async def _our_fault(request: Request, error: Exception) -> Response:
    return refusal(500, "something went wrong in the server; its own output says what")


ANSWERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    FriendTrainingError: _our_error,
    HTTPException: _http_error,
    RequestValidationError: _wrong_values,
    Exception: _our_fault,
}
"""What is said of each kind of error."""
