"""The service: JSON over HTTP for the models of a run, its own description, its state and counts, and a page."""

import time
from asyncio import gather
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from friend_training import __version__
from friend_training.errors import FriendTrainingError
from friend_training.inference.answers import (
    Agreement,
    Kind,
    Question,
    RewriteMade,
    as_dialogue,
    left_unless_sure,
    question,
)
from friend_training.inference.condense import Asked as QuestionAsked
from friend_training.inference.condense import condense, rewriter_of
from friend_training.inference.model import Answer, Friends
from friend_training.inference.predicates import no_finder
from friend_training.inference.trained_tasks import TrainedTasks, as_input, label_as_json
from friend_training.types import Rewrite
from friend_training.web.server import guarded, refusal
from friend_training.web.service.batching import Batcher, Busy, Failed
from friend_training.web.service.messages import (
    BODY_BYTES,
    BatchAnswer,
    BatchSent,
    Comparisons,
    CondensedQuestion,
    CondenseSent,
    DialogueSent,
    Health,
    InputsSent,
    Labels,
    Limits,
    LineAnswer,
    LineSent,
    QuestionSent,
    Refusal,
    RolesAnswer,
    TaskSent,
    TasksHealth,
    UnitCompared,
    UnitLabel,
    predicates_of,
    turns_of,
)

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


Q = TypeVar("Q")
A = TypeVar("A")

# What the models of a run can be asked here: found out at the start, so that nobody is told later.


@dataclass(frozen=True, slots=True)
class Abilities:
    """`find`: predicates need not be named. `compare`: the bridge is there. `notes`: what is missing, and why."""

    find: bool
    compare: bool
    notes: tuple[str, ...]


def abilities_of(friends: Friends) -> Abilities:
    """Opens the finder, the bridge and, by a first question, the models: the first request is as quick as the next."""
    notes: list[str] = []
    if friends.finder is None:
        notes.append("predicates must be named in every request: this run has no way to find them")
    compare = True
    try:
        friends.judge  # noqa: B018  (opened here)
    except FriendTrainingError as error:
        compare = False
        notes.append(f"no agreement can be asked for: {error}")
    words = ["你好吗？", "我来了。"]
    friends.rewrite(words)
    friends.roles(words, predicates=["来"])
    return Abilities(friends.finder is not None, compare, tuple(notes))


# Where questions are handed in: what cannot be answered is refused, with the reason.


class Desk:
    def __init__(self, batcher: Batcher[Question, Answer], abilities: Abilities) -> None:
        self.batcher, self.abilities = batcher, abilities

    async def ask(self, kind: Kind, sent: DialogueSent | QuestionSent | LineSent) -> Answer:
        named = None if isinstance(sent, DialogueSent) else sent.predicates
        predicates = [] if kind == "rewrite" else predicates_of(named)
        asked = question(kind, turns_of(sent.turns), predicates)
        if asked.find and not self.abilities.find:
            raise no_finder()
        if kind == "agreement" and not self.abilities.compare:
            raise HTTPException(409, "this run has lost its bridge, so nobody can say how far the friends agree")
        return await answered(self.batcher, asked, "dialogue")

    async def ask_line(self, kind: Kind, line: LineSent) -> LineAnswer:
        """One dialogue of several: what is wrong with it does not keep the others from their answers."""
        try:
            answer = await self.ask(kind, line)
        except (FriendTrainingError, HTTPException) as error:
            return LineAnswer(id=line.id, error=error.detail if isinstance(error, HTTPException) else str(error))
        return LineAnswer.model_validate({"id": line.id, kind: answer})


async def answered(batcher: Batcher[Q, A], asked: Q, what: str) -> A:
    """The answer, or in HTTP's words why there is none."""
    try:
        return await batcher.ask(asked)
    except Busy:
        raise HTTPException(503, "too many requests are waiting; try again", {"Retry-After": "1"}) from None
    except TimeoutError:
        raise HTTPException(503, "it took too long; try again later", {"Retry-After": "5"}) from None
    except Failed:
        raise HTTPException(500, f"the models could not label this {what}") from None


# The pages of the service and what they load: a handful of files of our own, nothing from anywhere else.


PAGES = {"/": "page.html", "/docs": "docs.html"}

LOADED = {
    "page.js": "text/javascript",
    "docs.js": "text/javascript",
    "service.css": "text/css",
    "icon.svg": "image/svg+xml",
}
"""What may be asked for below /static, by name: no name is ever made into a path."""


def add_pages(app: FastAPI, pages: Mapping[str, str] = PAGES) -> None:
    folder = files("friend_training.web.service") / "static"
    contents = {name: (folder / name).read_bytes() for name in [*pages.values(), *LOADED]}

    def page(name: str) -> None:
        async def show() -> Response:
            return Response(contents[pages[name]], media_type="text/html; charset=utf-8")

        app.get(name, include_in_schema=False)(show)

    for name in pages:
        page(name)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: Annotated[str, Path()]) -> Response:
        if name not in LOADED:
            raise HTTPException(404, "there is no such file")
        return Response(contents[name], media_type=f"{LOADED[name]}; charset=utf-8")


ENDPOINTS = frozenset(
    {
        "/v1/condense",
        "/v1/rewrite",
        "/v1/roles",
        "/v1/predict",
        "/v1/agreement",
        "/v1/batch",
        "/health",
        "/metrics",
        "/",
    }
)


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
    """An app that answers for these models; `token` is asked for as `web.server` says."""
    limits = limits or Limits()
    metrics = Metrics(lambda: batcher.waiting)
    batcher: Batcher[Question, Answer] = Batcher(friends.answer, limits, metrics.worked_on)

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
    guarded(app, token, max_body=BODY_BYTES, patience=limits.body)
    app.add_exception_handler(RequestValidationError, _wrong_values)
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

    async def condensed(sent: CondenseSent) -> CondensedQuestion:
        asked = DialogueSent.model_construct(turns=[*sent.history, sent.question])
        answer = await desk.ask("rewrite", asked)
        assert isinstance(answer, RewriteMade)
        made = left_unless_sure(answer, sent.question, sent.unless_sure)
        return CondensedQuestion(text=made.text, probability=made.confidence, changed=made.text != sent.question)

    _add_condense(app, condensed)

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

    @app.post("/v1/batch", responses=REFUSALS, tags=["models"], summary="Ask the same of several dialogues")
    async def batch(sent: BatchSent) -> BatchAnswer:
        """Dialogues as they stand in lines of JSONL; each has its answer, or what is wrong with it."""
        return BatchAnswer(answers=list(await gather(*(desk.ask_line(sent.ask, line) for line in sent.dialogues))))


def _add_condense(app: FastAPI, condense_one: Callable[[CondenseSent], Awaitable[CondensedQuestion]]) -> None:
    @app.post("/v1/condense", responses=REFUSALS, tags=["models"], summary="Put a question before a search")
    async def condensed(sent: CondenseSent) -> CondensedQuestion:
        """The question as it can be understood without the conversation before it."""
        as_dialogue([*sent.history, sent.question])  # what no model can read is refused
        return await condense_one(sent)


def _add_state(app: FastAPI, state: Health | TasksHealth, metrics: Metrics) -> None:
    @app.get(
        "/health",
        responses=STRANGERS,
        tags=["state"],
        summary="Is it there, and what is served",
        response_model=type(state),
    )
    async def health() -> Health | TasksHealth:
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


# Runs of any other tasks.


Asked = TaskSent | InputsSent | CondenseSent

Told = Labels | Comparisons | CondensedQuestion


def make_tasks_app(models: TrainedTasks, *, token: str | None = None, limits: Limits | None = None) -> FastAPI:
    """An app that answers for the models of a run of any tasks."""
    limits = limits or Limits()
    metrics = Metrics(lambda: batcher.waiting)
    batcher: Batcher[Asked, Told] = Batcher(partial(_answers, models), limits, metrics.worked_on)

    @asynccontextmanager
    async def working(app: FastAPI) -> AsyncIterator[None]:
        await batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="friend-training",
        version=__version__,
        description=f"Models that were trained as friends: {', '.join(models.tasks)}.",
        docs_url=None,
        redoc_url=None,
        lifespan=working,
    )
    guarded(app, token, max_body=BODY_BYTES, patience=limits.body)
    app.add_exception_handler(RequestValidationError, _wrong_values)
    app.add_middleware(Timed, metrics=metrics, endpoints=ENDPOINTS)

    @app.post("/v1/predict", responses=REFUSALS, tags=["models"], summary="Label inputs")
    async def predict(sent: TaskSent) -> Labels:
        """The labels of one task, with confidences from 0 to 1."""
        if sent.task not in models.tasks:
            raise HTTPException(422, f"task: there is no {sent.task!r}; the tasks are {', '.join(models.tasks)}")
        _inputs(sent)
        answer = await answered(batcher, sent, "input")
        assert isinstance(answer, Labels)
        return answer

    @app.post("/v1/agreement", responses=REFUSALS, tags=["models"], summary="Ask all friends and compare")
    async def agreement(sent: InputsSent) -> Comparisons:
        """What every task says of each input, how far its friends agree, and whether one would learn from it."""
        _inputs(sent)
        answer = await answered(batcher, sent, "input")
        assert isinstance(answer, Comparisons)
        return answer

    async def condensed(sent: CondenseSent) -> CondensedQuestion:
        answer = await answered(batcher, sent, "question")
        assert isinstance(answer, CondensedQuestion)
        return answer

    if any(task.label_type is Rewrite for task in models.tasks.values()):
        _add_condense(app, condensed)
    state = TasksHealth(status="ok", run=models.config.name, method=models.method, tasks=list(models.tasks))
    _add_state(app, state, metrics)
    add_pages(app, {"/": "docs.html", "/docs": "docs.html"})
    return app


def _inputs(sent: TaskSent | InputsSent) -> list[Any]:
    """Called by their numbers, so that two may be the same; a wrong one is refused."""
    given = [one if isinstance(one, str) else one.model_dump(exclude_none=True) for one in sent.inputs]
    dialogues = [
        {"turns": [{"speaker": turn.speaker, "text": turn.text} for turn in as_dialogue(turns_of(one.turns)).turns]}
        if isinstance(one, DialogueSent)
        else told
        for one, told in zip(sent.inputs, given, strict=True)
    ]
    return [as_input(one, number) for number, one in enumerate(dialogues)]


def _answers(models: TrainedTasks, asked: Sequence[Asked]) -> list[Told]:
    """Questions that came together are condensed together, which costs little more than one."""
    questions = [number for number, one in enumerate(asked) if isinstance(one, CondenseSent)]
    told: dict[int, Told] = {}
    if questions:
        sent = [one for one in asked if isinstance(one, CondenseSent)]
        found = condense(rewriter_of(models.tasks), [QuestionAsked(**one.model_dump()) for one in sent])
        told = {number: CondensedQuestion(**asdict(one)) for number, one in zip(questions, found, strict=True)}
    for number, one in enumerate(asked):
        if isinstance(one, TaskSent):
            told[number] = _labels(models, one)
        elif isinstance(one, InputsSent):
            told[number] = _comparisons(models, one)
    return [told[number] for number in range(len(asked))]


def _labels(models: TrainedTasks, sent: TaskSent) -> Labels:
    task = models.tasks[sent.task]
    found = models.predict_units(sent.task, _inputs(sent))
    told = [
        [UnitLabel(unit=one.unit, label=label_as_json(task, one), confidence=one.confidence) for one in units]
        for units in found
    ]
    return Labels(task=sent.task, labels=told)


def _comparisons(models: TrainedTasks, sent: InputsSent) -> Comparisons:
    return Comparisons(
        agreement=[
            [UnitCompared(**asdict(one) | {"label": label_as_json(models.tasks[one.task], one)}) for one in units]
            for units in models.agreement(_inputs(sent))
        ]
    )


class _Text(Response):
    media_type = "text/plain; version=0.0.4"


async def _wrong_values(request: Request, error: Exception) -> Response:
    """The first few things that are wrong. Names of fields come from outside: cut short, and broken Unicode spelt."""
    assert isinstance(error, RequestValidationError)
    told = dict.fromkeys(_wrong(one) for one in error.errors() if not _other_form(one))
    return refusal(422, "; ".join(list(told)[:3]))


def _other_form(one: dict[str, Any]) -> bool:
    """Where text or an object can stand, what is wrong with it as the one that it is not tells nobody anything."""
    given = one.get("input")
    if one["type"] == "string_type":
        return isinstance(given, dict)
    return one["type"].startswith("model") and isinstance(given, str) and len(one["loc"]) > MOST_OUTER


MOST_OUTER = 2
"""So long is the place of a field of the body; what stands deeper may have one of several forms."""

SAID: dict[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this request",
    "string_type": "expected text",
    "string_too_long": "has {given} characters; expected at most {max_length}",
    "string_too_short": "is empty",
    "string_pattern_mismatch": "has control characters; text may have tabs and line breaks alone",
    "string_unicode": "is not valid Unicode: half of a surrogate pair",
    "list_type": "expected a list",
    "too_long": "has {actual_length} entries; expected at most {max_length}",
    "too_short": "has {actual_length} entries; expected at least {min_length}",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "finite_number": "expected a whole number",
    "greater_than_equal": "expected {ge} or more",
    "less_than": "expected less than {lt}",
    "less_than_equal": "expected at most {le}",
    "literal_error": "expected {expected}",
    "model_attributes_type": "expected an object",
    "model_type": "expected an object",
    "dict_type": "expected an object",
}
"""What can be wrong, in our words, by pydantic's name for it."""

FORMS = ("constrained-str", "str", "TurnSaid", "TextSent", "WordsSent", "DialogueSent", "Span", "SpanInLine")
"""What pydantic puts into a place for the form that it tried: nobody sent that."""


def _wrong(one: dict[str, Any]) -> str:
    if one["type"] == "json_invalid":
        return f"broken JSON at byte {one['loc'][-1]}: {one['ctx']['error']}"
    outer, *inner = one["loc"]
    place = ".".join(_short(part) for part in (outer, *inner) if part not in FORMS)
    said = SAID.get(one["type"])
    if said is None:
        return f"{place}: {one['msg'].removeprefix('Value error, ')}"
    given = one.get("input")
    return f"{place}: {said.format(given=len(given) if isinstance(given, str) else 0, **one.get('ctx', {}))}"


def _short(part: Sequence[str] | int) -> str:
    return str(part)[:40].encode("utf-8", "backslashreplace").decode()
