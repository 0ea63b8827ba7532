"""friend-train export: a trained model as a folder that can leave."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from friend_training.cli.device import Device
from friend_training.cli.evaluate import Method, TaskName


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    task: TaskName,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to make.", show_default=False)],
    method: Method = None,
    onnx: Annotated[bool, typer.Option("--onnx", help="Also write model.onnx (friend-training[onnx]).")] = False,
    device: Device = "auto",
) -> None:
    """Write a model of a run as a folder: safetensors, config, tokenizer.

    friend_training.FriendTrainedModel.from_pretrained loads it and
    predicts exactly what the run's model does. FOLDER/encoder is the
    encoder alone, for transformers.AutoModel. README.md is a model card
    with data, scores and limits. A file model.onnx takes and gives
    tensors; the card says which.

    Try: friend-train export runs/demo --task csrl --out csrl-model
    """
    from friend_training.export.folder import export_model

    export_model(run, task, out, method=method, onnx=onnx, device=device)
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"{out}: see its README.md", markup=False)
