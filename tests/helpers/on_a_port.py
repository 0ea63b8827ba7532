"""The service on a real port."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from friend_training.web.server import listening, make_server, run_server
from friend_training.web.service.messages import Limits
from helpers import patience


@contextmanager
def serving(app: Any, limits: Limits) -> Iterator[int]:
    """The port of a real server in a thread."""
    with listening("127.0.0.1", 0) as listener:
        server = make_server(app, connections=limits.connections)
        thread = threading.Thread(target=run_server, args=(server, listener), kwargs={"patience": limits.header})
        thread.start()
        try:
            patience.wait_until(lambda: server.started or not thread.is_alive(), "the start of the server")
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(patience.ANSWER)
