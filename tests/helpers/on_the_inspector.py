"""A real inspector on a port, for the tests that need one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from friend_training.web.guard import listening
from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import look_at
from helpers import patience


@contextmanager
def served(study: Path, token: str | None = None) -> Iterator[str]:
    """The address of an inspector that looks at this study."""
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(make_app(look_at(study), token), log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(patience.ANSWER)
