"""The service: JSON over HTTP for the two models of a run, its own description, its state, and a page to try it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from friend_training import __version__
from friend_training.scenarios.answers import Agreement, RewriteMade
from friend_training.scenarios.loading import Answer, Friends
from friend_training.scenarios.questions import Question
from friend_training.web.answers import refusal
from friend_training.web.guard import guarded
from friend_training.web.service.abilities import Abilities
from friend_training.web.service.batching import Batcher
from friend_training.web.service.desk import Desk
from friend_training.web.service.limits import BODY_BYTES, Limits
from friend_training.web.service.messages import (
    DialogueSent,
    Health,
    QuestionSent,
    Refusal,
    RolesAnswer,
)
from friend_training.web.service.metrics import Metrics
from friend_training.web.service.middleware import Patience, Timed
from friend_training.web.service.pages import add_pages

ENDPOINTS = frozenset({"/v1/rewrite", "/v1/roles", "/v1/agreement", "/health", "/metrics", "/"})

STRANGERS: dict[int | str, dict[str, Any]] = {
    401: {"model": Refusal, "description": "A token is needed"},
    403: {"model": Refusal, "description": "Asked by a foreign page, or by a name that is not ours"},
}
REFUSALS: dict[int | str, dict[str, Any]] = STRANGERS | {
    400: {"model": Refusal, "description": "The body cannot be read"},
    408: {"model": Refusal, "description": "The body came too slowly"},
    409: {"model": Refusal, "description": "This run cannot answer that"},
    413: {"model": Refusal, "description": "The body is too large"},
    422: {"model": Refusal, "description": "Something in the request is wrong"},
    500: {"model": Refusal, "description": "The models failed"},
    503: {"model": Refusal, "description": "Too many are waiting, or it took too long; try again later"},
}


def make_app(
    friends: Friends, abilities: Abilities, *, token: str | None = None, limits: Limits | None = None
) -> FastAPI:
    """An app that answers for these models; `token` is asked for as `web.guard` says."""
    limits = limits or Limits()
    metrics = Metrics(lambda: batcher.waiting)
    batcher: Batcher[Question, Answer] = Batcher(friends.answer, limits, metrics.batches.add)

    @asynccontextmanager
    async def working(app: FastAPI) -> AsyncIterator[None]:
        await batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="friend-training",
        version=__version__,
        description="Dialogue rewriting and conversational semantic roles by two models that were trained as friends.",
        docs_url=None,  # FastAPI's own page loads from a foreign server; /docs is ours
        redoc_url=None,
        lifespan=working,
    )
    guarded(app, token, BODY_BYTES)
    app.add_exception_handler(RequestValidationError, _wrong_values)
    app.add_middleware(Patience, seconds=limits.body)
    app.add_middleware(Timed, metrics=metrics, endpoints=ENDPOINTS)
    _add_models(app, Desk(batcher, abilities))
    _add_state(
        app,
        Health(
            status="ok",
            run=friends.config.name,
            method=friends.method,
            agreement=abilities.compare,
            finder=abilities.find,
        ),
        metrics,
    )
    add_pages(app)
    return app


def _add_models(app: FastAPI, desk: Desk) -> None:
    @app.post("/v1/rewrite", responses=REFUSALS, tags=["models"], summary="Rewrite the last turn")
    async def rewrite(sent: DialogueSent) -> RewriteMade:
        """The last turn as it reads without its context, and the edits that make it so."""
        answer = await desk.ask("rewrite", sent)
        assert isinstance(answer, RewriteMade)
        return answer

    @app.post("/v1/roles", responses=REFUSALS, tags=["models"], summary="Label semantic roles")
    async def roles(sent: QuestionSent) -> RolesAnswer:
        """The arguments of each predicate of the last turn, wherever in the dialogue they stand."""
        answer = await desk.ask("roles", sent)
        assert isinstance(answer, tuple)
        return RolesAnswer(predicates=answer)

    @app.post("/v1/agreement", responses=REFUSALS, tags=["models"], summary="Ask both friends and compare")
    async def agreement(sent: QuestionSent) -> Agreement:
        """Both answers, how far they agree on each predicate and why, and whether one would learn from them."""
        answer = await desk.ask("agreement", sent)
        assert isinstance(answer, Agreement)
        return answer


def _add_state(app: FastAPI, state: Health, metrics: Metrics) -> None:
    @app.get("/health", responses=STRANGERS, tags=["state"], summary="Is it there, and what is served")
    async def health() -> Health:
        return state

    @app.get(
        "/metrics",
        responses=STRANGERS,
        tags=["state"],
        summary="Counts and times for Prometheus",
        response_class=_Text,
    )
    async def counts() -> Response:
        return _Text(metrics.text())


class _Text(Response):
    media_type = "text/plain; version=0.0.4"


async def _wrong_values(request: Request, error: Exception) -> Response:
    """The first few things that are wrong. Names of fields come from outside: cut short, and broken Unicode spelt."""
    assert isinstance(error, RequestValidationError)
    return refusal(422, "; ".join(_wrong(one) for one in error.errors()[:3]))


def _wrong(one: dict[str, Any]) -> str:
    if one["type"] == "json_invalid":
        return f"broken JSON at byte {one['loc'][-1]}: {one['ctx']['error']}"
    place = ".".join(_short(part) for part in one["loc"])
    return f"{place}: {one['msg'].removeprefix('Value error, ')}"


def _short(part: Sequence[str] | int) -> str:
    return str(part)[:40].encode("utf-8", "backslashreplace").decode()
