"""What is made once and then only used: the encoder that every task starts from, and the bridge."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from friend_training.core.files import atomic_folder
from friend_training.core.processes import is_first
from friend_training.core.run import Run
from friend_training.core.task import FitPlan
from friend_training.core.yaml_values import read_yaml
from friend_training.errors import RunError
from friend_training.methods.registry import METHODS
from friend_training.nn.encoder import EncoderShape
from friend_training.nn.pretraining import pretrain_encoder
from friend_training.nn.torch_task import TorchTask
from friend_training.runs.steps import Prepare
from friend_training.scenarios.config import Config, HanlpBridge, LtpBridge, PretrainedEncoder
from friend_training.scenarios.data import RunData
from friend_training.scenarios.informed import informed_step
from friend_training.scenarios.places import model_source
from friend_training.scenarios.settings import training_settings
from friend_training.tasks.srl.bridge import Bridge, CachedBridge
from friend_training.tasks.srl.hanlp import HanlpParser
from friend_training.tasks.srl.ltp import LtpParser
from friend_training.tasks.srl.parsed import ParserBridge
from friend_training.tasks.srl.task import TrainedBridge, srl_task

RESOURCE_SEED = 0
"""Like a published BERT or HanLP, encoder and bridge are the same for every seed of a study."""

RESOURCE_SETTINGS = ("encoder", "bridge", "bridge_training", "max_length")
"""What encoder and bridge depend on, besides their texts."""

CACHED_ANSWERS = 200_000

Progress = Callable[[int, int], None]


def asks_bridge(config: Config) -> bool:
    """Whether a method of this config asks the bridge; with no methods, encoder and bridge are all that is wanted."""
    return not config.methods or any(METHODS[method].bridge for method in config.methods)


def resource_steps(config: Config) -> list[Prepare]:
    """What has to be made for this config; published encoders and parsers are there already."""
    trained = config.bridge.kind == "trained" and asks_bridge(config)
    kinds = {"encoder": config.encoder.kind == "scratch", "bridge": trained}
    made = [Prepare(name) for name, needed in kinds.items() if needed]
    return [*made, informed_step(config)] if config.informed else made


def check_resources(made_in: Run, config: Config) -> None:
    """An encoder and bridge made with other settings, or from other text, must not slip into a run."""
    before, now = read_yaml(made_in.config_text, str(made_in.folder / "config.yaml")), config.model_dump(mode="json")
    for setting in RESOURCE_SETTINGS:
        if before[setting] != now[setting]:
            raise RunError(f"{made_in.folder} was made with other settings of {setting!r}; use another folder")


def encoder_source(config: Config, data: RunData, run: Run) -> str:
    """The folder or hub name of the encoder; one from scratch is made in the run's folder first."""
    if isinstance(config.encoder, PretrainedEncoder):
        return model_source(config.encoder.source)
    folder = run.folder / "encoder"
    shape = EncoderShape(
        layers=config.encoder.layers,
        width=config.encoder.width,
        heads=config.encoder.heads,
        dropout=config.encoder.dropout,
    )

    def make() -> dict[str, Any]:
        # Raw text only: the pool and the bridge's sentences, never dev or test; the same for every seed.
        texts = ["".join(turn.text for turn in dialogue.turns) for dialogue in data.pool]
        texts += [example.sentence.text for example in data.bridge_train]
        with atomic_folder(folder, replace=True) as new:
            pretrain_encoder(new, texts, shape, seed=RESOURCE_SEED)
        return {"texts": len(texts)}

    run.do(Prepare("encoder"), make)
    return str(folder)


def make_bridge(config: Config, data: RunData, run: Run, encoder: str, progress: Progress) -> Bridge:
    """The bridge with its parameters fixed from here on, remembering its answers."""
    if isinstance(config.bridge, LtpBridge):
        ltp = LtpParser.load(Path(model_source(config.bridge.source)), device=config.device)
        return CachedBridge(ltp, max_entries=CACHED_ANSWERS)
    if isinstance(config.bridge, HanlpBridge):
        hanlp = ParserBridge(HanlpParser(config.bridge.model, device=config.device))
        return CachedBridge(hanlp, max_entries=CACHED_ANSWERS)
    task = _trained(config, data, run, encoder, progress)
    return CachedBridge(TrainedBridge(task), max_entries=CACHED_ANSWERS)


def _trained(config: Config, data: RunData, run: Run, encoder: str, progress: Progress) -> TorchTask:
    assert config.bridge.kind == "trained"
    folder = run.folder / "bridge"
    task = srl_task(
        encoder,
        training_settings(config.bridge_training),
        max_length=config.max_length,
        mark=config.bridge.predicate_mark,
        adjacent=config.bridge.adjacent,
        device=config.device,
    )
    task.progress = progress
    plan = FitPlan(seed=RESOURCE_SEED, steps=config.bridge.steps, patience=config.bridge.patience, restart=True)

    def fit() -> dict[str, Any]:
        summary = task.fit(data.bridge_train, (), dev=data.bridge_dev[: config.bridge.dev], plan=plan)  # type: ignore[union-attr]
        if not is_first():
            return {}
        metrics = dict(task.evaluate(data.bridge_dev))
        with atomic_folder(folder, replace=True) as new:
            task.save(new)
        return {"sentences": len(data.bridge_train), "steps": summary.steps, "dev": metrics}

    run.do(Prepare("bridge"), fit, together=True)
    task.load(folder)
    return task
