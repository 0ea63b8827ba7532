"""A real inspector on a port, for the tests that need one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import look_at
from friend_training.web.server import listening, make_server, run_server
from helpers import patience


@contextmanager
def served(
    study: Path, token: str | None = None, *, header: float = patience.ANSWER, body: float = patience.ANSWER
) -> Iterator[str]:
    """The address of an inspector that looks at this study, and how long it waits for headers and bodies."""
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        server = make_server(make_app(look_at(study), token, patience=body))
        thread = threading.Thread(target=run_server, args=(server, listener), kwargs={"patience": header}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(patience.ANSWER)
