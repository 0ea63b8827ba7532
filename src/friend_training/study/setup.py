"""What is made once and then only used: the encoder that every task starts from, and the bridge."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from friend_training.bridges.bridge import Bridge, CachedBridge, ParserBridge
from friend_training.bridges.hanlp import HanlpParser
from friend_training.bridges.ltp import LtpParser
from friend_training.core.task import FitPlan
from friend_training.core.yaml_values import read_yaml
from friend_training.errors import ConfigError, RunError
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.loop.labelling import Engine
from friend_training.methods.registry import METHODS
from friend_training.nn.devices import choose_device
from friend_training.nn.encoder import EncoderShape
from friend_training.nn.pretraining import pretrain_encoder
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import check_checkpoint, checkpoint_digest, load_checkpoint
from friend_training.runs.files import atomic_folder
from friend_training.runs.manifest import begin_manifest
from friend_training.runs.processes import is_first
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare, Test
from friend_training.study import config
from friend_training.study.config import (
    Config,
    HanlpBridge,
    LtpBridge,
    PretrainedEncoder,
    TrainedBridgeConfig,
    config_text,
)
from friend_training.study.data import RunData, model_source
from friend_training.study.folders import changed_on_resume, method_folder
from friend_training.study.tasks import TASKS, training_settings
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.srl.task import TrainedBridge, srl_task
from friend_training.types import Argument, CsrlExample, Dialogue, Roles, SrlExample, Turn

# Who labels the pool, as a config says it.


def make_engine(choice: config.LocalEngine | config.RayEngine, device: str) -> Engine | None:
    """None is the coordinating process itself. On graphics cards there is one worker per card at most."""
    on_card, named = choose_device(device).type == "cuda", ":" in device
    if isinstance(choice, config.RayEngine):
        if named:
            raise ConfigError(f"device {device!r}: Ray gives each worker a card of its own; use device: cuda")
        return RayEngine(address=choice.address, workers=choice.workers, cards=on_card)
    if not on_card:
        return None if choice.workers == 1 else LocalEngine(choice.workers)
    cards = () if named else visible_cards()[: choice.workers]
    return LocalEngine(len(cards), cards) if len(cards) > 1 else None


def visible_cards() -> tuple[str, ...]:
    """The cards that torch sees here, by their names in CUDA_VISIBLE_DEVICES."""
    count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(number) for number in range(count)] if named is None else named.split(",")
    return tuple(name.strip() for name in names[:count])


# The informed setting (DESIGN 5.17): every method starts from its few labels and from the bridge's training data.
#
# The bridge carries supervision of its own, and a CSRL parser that has never seen it may lose against the bridge alone.
# Here CSRL learns the same sentences, as dialogues of one turn, before Base sees its first gold label. They are not
# mixed into gold: ten thousands of sentences would bury a hundred labels, and in the updates what was chosen as well.
# Like the bridge, with the bridge's settings and seed, this start is made once for all seeds of a study.


SPEAKER = "A"


def informed_step(config: Config) -> Prepare:
    """By the way the predicate is marked: it alone tells apart the starts that one bridge's folder can hold."""
    return Prepare(f"informed-{config.predicate_mark}")


def as_dialogues(sentences: Sequence[SrlExample]) -> list[CsrlExample]:
    """Sentences as dialogues of one turn, whose arguments all stand in it."""
    found = []
    for example in sentences:
        roles = tuple(
            Roles(label.predicate, tuple(Argument(a.role, 0, a.start, a.end) for a in label.arguments))
            for label in example.roles
        )
        turns = (Turn(SPEAKER, example.sentence.text),)
        found.append(CsrlExample(Dialogue(example.sentence.id, turns, example.sentence.predicates), roles))
    return found


def informed_start(
    config: Config, data: RunData, run: Run, encoder: str, *, seed: int, progress: Callable[[int, int], None]
) -> Path:
    """The checkpoint that the Base of CSRL goes on from, made in `run` if it is not there yet."""
    assert isinstance(config.bridge, TrainedBridgeConfig), "the config has seen to that"
    bridge = config.bridge
    folder = run.folder / informed_step(config).name
    task = csrl_task(
        encoder,
        training_settings(config.bridge_training),
        max_length=config.max_length,
        mark=config.predicate_mark,
        adjacent=config.repeated_roles,
        device=config.device,
    )
    task.progress = progress

    def fit() -> dict[str, Any]:
        plan = FitPlan(seed=seed, steps=bridge.steps, patience=bridge.patience, restart=True)
        train, dev = as_dialogues(data.bridge_train), as_dialogues(data.bridge_dev)
        summary = task.fit(train, (), dev=dev[: bridge.dev], plan=plan)
        if not is_first():
            return {}
        with atomic_folder(folder, replace=True) as new:
            task.save(new)
        dev_metrics = dict(task.evaluate(dev))
        return {"sentences": len(train), "steps": summary.steps, "dev": dev_metrics, **_digest_of(folder)}

    made = run.do(informed_step(config), fit, together=True)
    check_checkpoint(folder, made.get("digest"))
    return folder


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
        return {"texts": len(texts), **_digest_of(folder)}

    made = run.do(Prepare("encoder"), make)
    check_checkpoint(folder, made.get("digest"))
    return str(folder)


def _digest_of(folder: Path) -> dict[str, str]:
    """What the record of a step says of the folder that it made."""
    return {"digest": checkpoint_digest(folder)}


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
        return {"sentences": len(data.bridge_train), "steps": summary.steps, "dev": metrics, **_digest_of(folder)}

    made = run.do(Prepare("bridge"), fit, together=True)
    load_checkpoint(task, folder, digest=made.get("digest"))
    return task


# Base is trained once: runs that differ only in what comes after it (a figure's thresholds, say) take it over.
#
# So is the Base of all labels, which does not see how few of them the others get. Trained with equal settings, seed,
# data and encoder it is the same to the bit, so nothing but time depends on this.


_SETTINGS = ("seed", "encoder", "max_length", "predicate_mark", "span_source")

_LATER = ("repeated_roles", "insertion_spans", "rewriting_turns", "rewriting_metric")
"""What a config may leave out; decoding and metric decide which look at dev is the best."""

_OF_A_TASK = ("base_steps", "base_patience", "training")

_INFORMED = ("informed", "bridge", "bridge_training")

_AMOUNTS = ("csrl_labels", "rewriting_labels")

_OF_THE_POOL = ("pool", "pool_of", "pool_corpora", "finder", "ltp")


def base_settings(whole: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Of a whole config all that Base, or the Base of all labels, depends on."""
    unseen = (*_OF_THE_POOL, *(_AMOUNTS if method == "base-full" else ()))
    return {
        # An informed Base goes on from what the bridge's sentences taught (informed.py).
        **({name: whole[name] for name in _INFORMED} if whole.get("informed") else {}),
        **{name: whole[name] for name in _SETTINGS},
        **{name: whole.get(name) for name in _LATER},
        "data": {name: value for name, value in whole["data"].items() if name not in unseen},
        "tasks": {task: {name: whole["tasks"][task][name] for name in _OF_A_TASK} for task in TASKS},
    }


def take_over_base(run: Run, config: Config, method: str, others: Iterable[Path]) -> None:
    """Copy it from the first run that has finished the same one; with none, it is trained as always."""
    target = method_folder(run.folder, method)
    if target.exists():
        return
    for other in others:
        if _has_the_same(other, run, config, method):
            with atomic_folder(target) as new:
                shutil.copytree(method_folder(other, method), new, dirs_exist_ok=True)
                (new / "config.yaml").write_text(config_text(config), encoding="utf-8")
                shutil.copy(run.folder / "fingerprints.json", new)  # the other may have drawn other gold
                begin_manifest(new)
            return


def _has_the_same(other: Path, run: Run, config: Config, method: str) -> bool:
    base = method_folder(other, method)
    if changed_on_resume(other):  # its config does not say which of its parts were trained how
        return False
    if not (base / "run.json").is_file() or any(Run.open(base).result(Test(task)) is None for task in TASKS):
        return False
    seen = [name for name in run.fingerprints if name.startswith(TASKS) and (method == "base" or "gold" not in name)]
    theirs, before = Run.open(other).fingerprints, read_yaml(Run.open(other).config_text, str(other / "config.yaml"))
    same_data = all(theirs.get(name) == run.fingerprints[name] for name in seen)
    return same_data and base_settings(before, method) == base_settings(config.model_dump(mode="json"), method)
