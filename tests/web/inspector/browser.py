"""A real browser before a real server, for the tests that need one."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.looking import look_at
from friend_training.web.listening import listening

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)


@contextmanager
def served(study: Path, token: str | None = None) -> Iterator[str]:
    """The address of an inspector that looks at this study."""
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(make_app(look_at(study), token), log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


@contextmanager
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        yield browser
        browser.close()
