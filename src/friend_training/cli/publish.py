"""friend-train serve: the models of a run over HTTP."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.options import DataDir, Device, Push
from friend_training.cli.predict import Method, TaskName
from friend_training.errors import FriendTrainingError
from friend_training.report.progress import counting
from friend_training.runs.files import check_output

# friend-train export: a trained model as a folder that can leave.


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    task: TaskName,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to make.", show_default=False)],
    method: Method = None,
    onnx: Annotated[bool, typer.Option("--onnx", help="Also write model.onnx (friend-training\\[onnx]).")] = False,
    push: Push = None,
    device: Device = "auto",
) -> None:
    """Write a model of a run as a folder: safetensors, config, tokenizer.

    A classifier of texts or words with files of your own becomes a
    folder that transformers.pipeline loads, one of scikit-learn a file
    of skops. A model of the paper's pair is loaded by us:
    friend_training.FriendTrainedModel.from_pretrained loads it and
    predicts exactly what the run's model does. FOLDER/encoder is the
    encoder alone, for transformers.AutoModel. README.md is a model card
    with data, licence, scores and limits. A file model.onnx takes and
    gives tensors; the card says which. --push also uploads the folder to
    the hub, as a private repository.

    Try: friend-train export runs/demo --task csrl --out csrl-model
    """
    from friend_training.inference.export import export_model, push_folder

    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    export_model(run, task, out, method=method, onnx=onnx, device=device)
    notes.print(f"{out}: see its README.md", markup=False)
    if push is not None:
        notes.print(f"uploaded: {push_folder(out, push, 'model')}", markup=False)


# The token of inspect and serve.


TOKEN_VARIABLE = "FRIEND_TRAINING_TOKEN"

Token = Annotated[
    str | None,
    typer.Option(envvar=TOKEN_VARIABLE, help="What every request must bring; in the variable nobody sees it."),
]


def _to_open(address: str, secret: str | None) -> str:
    """The address with its token; one that was given in the environment stays there, out of logs and of sight."""
    if secret is None:
        return address
    if secret == os.environ.get(TOKEN_VARIABLE):
        return f"{address}?token=…  (the token of {TOKEN_VARIABLE})"
    return f"{address}?token={secret}"


# friend-train inspect: a page that walks through the pseudo-labels of a run.


def inspect(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    method: Annotated[
        str | None, typer.Option(help="Whose pseudo-labels.", show_default="fdt, else the last that has some")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8747,
    token: Token = None,
    data_dir: DataDir = None,
) -> None:
    """Look at the pseudo-labels of a run in a browser, and correct them.

    Every label in its dialogue, beside what its friend says of it; the
    matching score taken apart, the other scores, the decision and why.
    Sliders show at once what another weight or threshold would choose,
    and how much of that is right, where the data can tell.

    What you accept, correct or reject is kept in the run folder and used
    by its next iteration: labels as gold, rejected ones never.

    Only this machine can ask, unless --host names another address; then
    every request must bring a token (made and printed if none is given).

    Try: friend-train inspect runs/demo
    """
    from friend_training.web.inspector.app import serve_inspector

    notes = Console(stderr=True, highlight=False, soft_wrap=True)

    def ready(address: str, secret: str | None) -> None:
        notes.print(f"open {_to_open(address, secret)}", markup=False)
        notes.print("stop with Ctrl-C")

    serve_inspector(run, method=method, host=host, port=port, token=token, data_dir=data_dir, ready=ready)


# friend-train report: a run as one HTML page.


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="The run folder, or that of one of its methods; or several.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it.", show_default="RUN/report.html; of several report.html"),
    ] = None,
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that is already there.")] = False,
) -> None:
    """Write the report of a run, finished or not: one HTML file.

    The answer in one picture, how pseudo-labels were chosen and how many
    of them are right, labels to read, what is taken for what, scores of
    all methods, learning curves, time and memory. It needs no network
    and can be sent to anyone; texts of the run's data are in it.

    Every run writes it by itself when it ends. Several runs make one
    page that compares them: seeds of one config stand together, with
    intervals.

    Try: friend-train report runs/mine-seed1 runs/mine-seed2 --out both.html
    """
    from friend_training.report.page import write_comparison, write_report
    from friend_training.report.run_reader import read_study
    from friend_training.runs.inputs import has_inputs

    if out is not None or len(runs) > 1:  # the report inside the run is its own
        check_output(out or Path("report.html"), force=force)
    if len(runs) > 1:
        typer.echo(f"The report is {write_comparison(runs, out or Path('report.html'))}")
        return
    [run] = runs
    study = read_study(run)
    if study.is_ours and not has_inputs(study.data_folder):
        _keep_texts(study.data_folder, data_dir)
    typer.echo(f"The report is {write_report(run, out)}")


def _keep_texts(study: Path, data_dir: Path | None) -> None:
    """Runs of earlier versions did not keep their texts. Where the data are gone, there are no texts to show."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with counting(console, "reading the data of the run") as progress:
            from friend_training.study.open import ensure_inputs

            ensure_inputs(study, data_dir, progress)
    except FriendTrainingError as error:
        console.print(f"The report shows labels without their texts: {error}", markup=False)


def serve(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    method: Method = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8747,
    token: Token = None,
    ltp: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Find predicates with the LTP parser in this folder where none are given."),
    ] = None,
    device: Device = "auto",
) -> None:
    """Serve the models of a run: JSON over HTTP, and a page to try them.

    Of the paper's pair POST /v1/rewrite, /v1/roles and /v1/agreement take
    a dialogue, {"turns": ["…", "…"]}; / is a page to type one. Of any
    other tasks POST /v1/predict takes {"task": "…", "inputs": ["…"]} and
    /v1/agreement {"inputs": ["…"]}. /docs describes all.
    GET /health and /metrics (Prometheus) tell how it goes.

    Only this machine can ask, unless --host names another address; then
    every request must bring a token (a new one is made and printed if
    none is given).

    Try: friend-train serve runs/demo
    """
    from friend_training.runs.run import Run

    Run.open(run)  # what cannot be is told at once, before torch is loaded

    from friend_training.web.server import address_of, listening, make_server, run_server, token_for

    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    secret = token_for(host, token)
    with listening(host, port) as listener:
        from friend_training.inference.model import load
        from friend_training.inference.trained_tasks import TrainedTasks
        from friend_training.web.service.app import abilities_of, make_app, make_tasks_app
        from friend_training.web.service.messages import Limits

        friends = load(run, method, ltp=ltp, device=device)
        limits = Limits()
        if isinstance(friends, TrainedTasks):
            app = make_tasks_app(friends, token=secret, limits=limits)
        else:
            abilities = abilities_of(friends)
            for note in abilities.notes:
                notes.print(f"note: {note}", markup=False)
            app = make_app(friends, abilities, token=secret, limits=limits)
        listener.listen()  # whoever opens the address at once is not refused
        where = _to_open(address_of(listener), secret)
        notes.print(f"{friends.config.name}, {friends.method}: {where}  (stop with Ctrl-C)", markup=False)
        run_server(make_server(app, connections=limits.connections), listener, patience=limits.header)
