"""Writing a trained model as a folder that can leave: weights, config, tokenizer, the plain encoder, a model card."""

from pathlib import Path
from typing import Any

from friend_training.core.files import atomic_folder
from friend_training.core.run import Run
from friend_training.errors import ConfigError
from friend_training.export.card import model_card
from friend_training.export.model import FriendTrainedConfig, FriendTrainedModel
from friend_training.export.onnx import check_onnx, export_onnx
from friend_training.nn.devices import AUTO
from friend_training.nn.torch_task import TorchTask
from friend_training.scenarios.folders import method_folder, run_config, whole_run
from friend_training.scenarios.opening import open_task
from friend_training.scenarios.tasks import TaskName

ENCODER = "encoder"
READABLE = 0o644


def export_model(
    run: str | Path,
    task: TaskName,
    out: str | Path,
    *,
    method: str | None = None,
    onnx: bool = False,
    device: str = AUTO,
) -> None:
    """Write the model of one task, as a method left it, into a new folder `out`; it appears whole or not at all.

    What is written is for any device; `device` is where the ONNX file is traced.

    out/           what `FriendTrainedModel.from_pretrained` reads, README.md, and model.onnx if asked for
    out/encoder/   the encoder alone, after training, for `transformers.AutoModel.from_pretrained`
    """
    run = Path(run)
    out = Path(out)
    if out.exists():
        raise ConfigError(f"{out} is already there; choose another folder")
    if onnx:
        check_onnx()
    study = whole_run(run)
    chosen = method or (None if study == run else run.resolve().name)
    config = run_config(study)
    opened = open_task(study, task, chosen, device=device)
    model = FriendTrainedModel(_config(opened.task))
    model.network.load_state_dict(opened.task.network.state_dict())
    card = model_card(
        task=task,
        method=opened.method,
        iteration=opened.iteration,
        config=config,
        run=Run.open(method_folder(study, opened.method)),
        onnx=onnx,
    )
    with atomic_folder(out) as new:
        model.save_pretrained(str(new))
        opened.task.definition.save(new)
        _save_encoder(opened.task, new / ENCODER)
        (new / "README.md").write_text(card, encoding="utf-8")
        for weights in new.rglob("*.safetensors"):
            weights.chmod(READABLE)  # they are written for their owner alone, but the folder is to be given away
        if onnx:
            export_onnx(opened.task, new / "model.onnx")


def _config(task: TorchTask) -> FriendTrainedConfig:
    definition: Any = task.definition
    return FriendTrainedConfig(
        task=task.name,
        encoder=_shape(task),
        max_pieces=definition.max_length,
        predicate_mark=getattr(definition, "mark", "after"),
        repeated_roles=getattr(definition, "adjacent", "apart"),
        span_source=getattr(definition, "span_source", "dialogue"),
        insertion_spans=getattr(definition, "spans", "apart"),
        context_turns=getattr(definition, "context_turns", None),
        scorer=getattr(definition, "scorer", "dot"),
        labelling_pieces=task.settings.labelling_pieces,
    )


def _shape(task: TorchTask) -> dict[str, Any]:
    """The encoder's config without the place on this machine that it was loaded from."""
    config: dict[str, Any] = encoder_of(task).config.to_dict()
    return {name: value for name, value in config.items() if name not in ("_name_or_path", "transformers_version")}


def _save_encoder(task: TorchTask, folder: Path) -> None:
    encoder_of(task).save_pretrained(str(folder))
    task.definition.save(folder)


def encoder_of(task: TorchTask) -> Any:
    """The transformers model under a task's network."""
    encoder: Any = task.network.encoder
    return encoder.model
