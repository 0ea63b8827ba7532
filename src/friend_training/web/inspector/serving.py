"""Running the inspector until it is stopped."""

from collections.abc import Callable
from pathlib import Path

import uvicorn

from friend_training.web.guard import token_for
from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.looking import look_at
from friend_training.web.listening import listening


def serve_inspector(
    folder: Path,
    *,
    method: str | None,
    host: str,
    port: int,
    token: str | None,
    data_dir: Path | None,
    ready: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C. `ready` is told the address to open, with the token in it if there is one."""
    secret = token_for(host, token)
    with listening(host, port) as listener:
        app = make_app(look_at(folder, method, data_dir), secret)
        listener.listen()  # whoever opens the address at once waits a moment and is not refused
        name = f"[{host}]" if ":" in host else host
        query = "" if secret is None else f"?token={secret}"
        ready(f"http://{name}:{listener.getsockname()[1]}/{query}")
        config = uvicorn.Config(app, log_level="warning", ws="none", server_header=False, timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listener])
