"""The service on a real port."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from friend_training.web.listening import listening
from friend_training.web.service.limits import Limits
from friend_training.web.service.serving import make_server, run_server


@contextmanager
def serving(app: Any, limits: Limits) -> Iterator[int]:
    """The port of a real server in a thread."""
    with listening("127.0.0.1", 0) as listener:
        server = make_server(app, limits)
        thread = threading.Thread(target=run_server, args=(server, listener, limits))
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()
