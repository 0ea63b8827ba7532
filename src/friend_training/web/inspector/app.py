"""The inspector's server: one page and the few questions it asks. Everything is read from the run folder."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from friend_training.analysis.audit import answers_of, audit_so_far, questions
from friend_training.report.names import method_in_words
from friend_training.runs.corrections import save_correction
from friend_training.types import ROLES
from friend_training.web.inspector.corrections import Said, correction_of
from friend_training.web.inspector.run_view import Look, look_at
from friend_training.web.inspector.selection import (
    Filter,
    PageWanted,
    Wanted,
    jsonl,
    parquet,
    passing,
    recorded_setting,
    summary,
)
from friend_training.web.inspector.unit_view import listed
from friend_training.web.server import PATIENCE, address_of, guarded, listening, make_server, run_server, token_for

STATIC = Path(__file__).parent / "static"

MAX_BODY = 1 << 20


class UnitWanted(Wanted):
    unit: str


class ExportWanted(Filter):
    format: Literal["jsonl", "parquet"] = "jsonl"


class QueueWanted(BaseModel):
    """A task, an iteration, and what `friend-train ask` is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    iteration: Annotated[int, Field(ge=1)]
    n: Annotated[int, Field(ge=0, le=500)] = 50
    audit: Annotated[int, Field(ge=0, le=500)] = 20
    within: Annotated[float, Field(gt=0, lt=1)] = 0.05
    seed: int = 0


def make_app(look: Look, token: str | None = None, *, patience: float = PATIENCE) -> FastAPI:
    """The inspector of a run. There is no documentation page: it would load scripts from elsewhere."""
    app = FastAPI(title="friend-training inspector", docs_url=None, redoc_url=None, openapi_url=None)
    guarded(app, token, max_body=MAX_BODY, patience=patience)
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/")
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/favicon.ico")
    def icon() -> Response:
        """Browsers ask for one without being told to."""
        return Response(status_code=204)

    @app.get("/api/run")
    def run() -> dict[str, Any]:
        """Once, when the page opens: what there is to look at."""
        iterations = look.reader.iterations()
        return {
            "name": look.inspected.name,
            "method": method_in_words(look.inspected.method),
            "iterations": iterations,
            "tasks": [{"name": name, "units": len(units)} for name, units in look.of_iteration(iterations[-1]).items()],
            "roles": list(ROLES),
            "texts": look.texts.state,
            "finished": look.finished,
        }

    @app.get("/api/selection")
    def selection(wanted: Annotated[Wanted, Query()]) -> dict[str, Any]:
        """What the sliders choose, beside what the run chose."""
        units = look.reader.of(wanted.task, wanted.iteration)
        found = summary(units, look.decisions(units, wanted.setting))
        setting = recorded_setting(units)
        return found | {
            "histogram": asdict(found["histogram"]),
            "recorded": {
                "chosen": int(units.recorded.chosen.sum()),
                "setting": None if setting is None else setting.model_dump(),
            },
            "by_hand": len(look.places(units)),
        }

    @app.get("/api/units")
    def page_of_units(wanted: Annotated[PageWanted, Query()]) -> dict[str, Any]:
        units = look.reader.of(wanted.task, wanted.iteration)
        decisions = look.decisions(units, wanted.setting)
        rows = passing(units, decisions, wanted, look.texts, set(look.places(units)))
        shown = rows[wanted.page * wanted.size : (wanted.page + 1) * wanted.size]
        return {
            "found": len(rows),
            "texts": look.texts.state,
            "units": listed(units, decisions, shown, look.texts, look.corrections()),
        }

    @app.get("/api/queue")
    def queue(wanted: Annotated[QueueWanted, Query()]) -> dict[str, Any]:
        """What a person should look at next, as friend-train ask has it. Whether it is right by hidden gold is not told
        to whoever is asked just that."""
        units = look.reader.of(wanted.task, wanted.iteration)
        rows = units.rows.append_column("label", units.labels["label"])
        known = answers_of(look.inspected.run.folder, units.task)
        asked = questions(rows, wanted.n, audit=wanted.audit, seed=wanted.seed, answered=known)
        places = np.array([units.place(one.unit) for one in asked], np.intp)
        shown = listed(units, look.decisions(units, None), places, look.texts, look.corrections())
        return {
            "audit": audit_so_far(units.task, rows, known, seed=wanted.seed).in_words(wanted.within),
            "texts": look.texts.state,
            "units": [
                unit | {"why": one.why, "worth": one.worth, "correct": None}
                for unit, one in zip(shown, asked, strict=True)
            ],
        }

    @app.get("/api/unit")
    def one_unit(wanted: Annotated[UnitWanted, Query()]) -> dict[str, Any]:
        units = look.reader.of(wanted.task, wanted.iteration)
        row = units.place(wanted.unit)
        if row < 0:
            raise HTTPException(404, f"task {wanted.task!r} has no unit of this name")
        return look.detail(units, row, look.decisions(units, wanted.setting))

    @app.post("/api/corrections")
    def correct(said: Said) -> dict[str, Any]:
        """Accept, correct, reject, or take back: kept in the run folder at once."""
        units = look.reader.of(said.task, said.iteration)
        row = units.place(said.unit)
        if row < 0:
            raise HTTPException(404, f"task {said.task!r} has no unit of this name")
        given = look.texts.get(units.rows["input"][row].as_py())
        correction = correction_of(
            said, look.label(units, row), given, span_source=look.span_source, choices=look.choices(said.task)
        )
        save_correction(look.inspected.run.folder, correction)
        return asdict(correction)

    @app.get("/api/export")
    def export(wanted: Annotated[ExportWanted, Query()]) -> Response:
        units = look.reader.of(wanted.task, wanted.iteration)
        decisions, places = look.decisions(units, wanted.setting), look.places(units)
        rows = passing(units, decisions, wanted, look.texts, set(places))
        name = f"{look.inspected.method}-{units.task}-iteration-{units.iteration}.{wanted.format}"
        name = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)  # a header is ASCII, and a task may have any name
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        if wanted.format == "parquet":
            content = parquet(units, decisions, rows, places, look.texts)
            return Response(content, media_type="application/vnd.apache.parquet", headers=headers)
        lines: Iterator[bytes] = jsonl(units, decisions, rows, places, look.texts)
        return StreamingResponse(lines, media_type="application/jsonl", headers=headers)

    return app


# Running the inspector until it is stopped.


def serve_inspector(
    folder: Path,
    *,
    method: str | None,
    host: str,
    port: int,
    token: str | None,
    data_dir: Path | None,
    ready: Callable[[str, str | None], None],
) -> None:
    """Serve until Ctrl-C. `ready` is told the address, and the token that every request must bring, if there is one."""
    secret = token_for(host, token)
    with listening(host, port) as listener:
        app = make_app(look_at(folder, method, data_dir), secret)
        listener.listen()  # whoever opens the address at once waits a moment and is not refused
        ready(address_of(listener), secret)
        run_server(make_server(app), listener, patience=PATIENCE)
