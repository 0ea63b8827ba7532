"""The pages of the service and what they load: a handful of files of our own, nothing from anywhere else."""

from importlib.resources import files
from typing import Annotated

from fastapi import FastAPI, Path
from starlette.exceptions import HTTPException
from starlette.responses import Response

PAGES = {"/": "page.html", "/docs": "docs.html"}
LOADED = {
    "page.js": "text/javascript",
    "docs.js": "text/javascript",
    "service.css": "text/css",
    "icon.svg": "image/svg+xml",
}
"""What may be asked for below /static, by name: no name is ever made into a path."""


def add_pages(app: FastAPI) -> None:
    folder = files("friend_training.web.service") / "static"
    contents = {name: (folder / name).read_bytes() for name in [*PAGES.values(), *LOADED]}

    def page(name: str) -> None:
        async def show() -> Response:
            return Response(contents[PAGES[name]], media_type="text/html; charset=utf-8")

        app.get(name, include_in_schema=False)(show)

    for name in PAGES:
        page(name)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: Annotated[str, Path()]) -> Response:
        if name not in LOADED:
            raise HTTPException(404, "there is no such file")
        return Response(contents[name], media_type=f"{LOADED[name]}; charset=utf-8")
