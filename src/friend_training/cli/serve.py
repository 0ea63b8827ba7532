"""friend-train serve: the models of a run over HTTP."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.device import Device
from friend_training.cli.evaluate import Method

TOKEN_VARIABLE = "FRIEND_TRAINING_TOKEN"


def serve(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    method: Method = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8747,
    token: Annotated[
        str | None,
        typer.Option(help=f"What every request must bring; better in {TOKEN_VARIABLE}, which nobody sees."),
    ] = None,
    ltp: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Find predicates with the LTP parser in this folder where none are given."),
    ] = None,
    device: Device = "auto",
) -> None:
    """Serve the models of a run: JSON over HTTP, and a page to try them.

    POST /v1/rewrite, /v1/roles and /v1/agreement take a dialogue,
    {"turns": ["…", "…"]}; / is a page to type one, /docs describes all.
    GET /health and /metrics (Prometheus) tell how it goes.

    Only this machine can ask, unless --host names another address; then
    every request must bring a token (a new one is made and printed if
    none is given).

    Try: friend-train serve runs/demo
    """
    # Only now torch: --help answers at once.
    from friend_training.scenarios.loading import load
    from friend_training.web.guard import token_for
    from friend_training.web.listening import listening
    from friend_training.web.service.abilities import abilities_of
    from friend_training.web.service.app import make_app
    from friend_training.web.service.limits import Limits
    from friend_training.web.service.serving import make_server, run_server

    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    secret = token_for(host, token or os.environ.get(TOKEN_VARIABLE) or None)
    with listening(host, port) as listener:
        friends = load(run, method, ltp=ltp, device=device)
        abilities = abilities_of(friends)
        for note in abilities.notes:
            notes.print(f"note: {note}", markup=False)
        name = f"[{host.strip('[]')}]" if ":" in host else host
        query = "" if secret is None else f"?token={secret}"
        address = f"http://{name}:{listener.getsockname()[1]}/{query}"
        listener.listen()  # whoever opens the address at once is not refused
        notes.print(f"{friends.config.name}, {friends.method}: {address}  (stop with Ctrl-C)", markup=False)
        limits = Limits()
        run_server(make_server(make_app(friends, abilities, token=secret, limits=limits), limits), listener, limits)
