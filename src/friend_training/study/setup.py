"""What the methods of one run share: data, tasks, friendship, bridge, and how the loop is to go."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship
from friend_training.data.sharded_pool import ShardedPool
from friend_training.errors import ConfigError
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.loop.labelling import Engine, FirstLabels
from friend_training.loop.plan import LoopSettings
from friend_training.loop.thresholds import Probe
from friend_training.nn.devices import choose_device
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import EqualTrainings
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.study.config import Config, LocalEngineConfig, RayEngineConfig
from friend_training.study.data import RunData
from friend_training.study.folders import method_folder, methods_there
from friend_training.study.probes import needed_probes
from friend_training.study.resources import make_resources
from friend_training.study.tasks import TASKS, TaskName, make_task


@dataclass(frozen=True, slots=True)
class Setup:
    """`run` is the folder of the whole study; `start` is the checkpoint that an informed Base goes on from."""

    config: Config
    run: Run
    data: RunData
    data_dir: Path | None
    encoder: str
    bridge: Bridge
    start: Path | None
    tasks: dict[str, TorchTask]
    friendship: Friendship
    probes: dict[TaskName, Probe]
    settings: LoopSettings
    listener: Relay


def set_up(
    config: Config,
    run: Run,
    data: RunData,
    *,
    data_dir: Path | None,
    resources: Path | None,
    others: Iterable[Path],
    listener: Relay,
) -> Setup:
    """Make what is shared; `others` are runs whose trainings may be taken over where they would be the same."""
    made = make_resources(config, data, run, resources, listener)
    tasks: dict[str, TorchTask] = {}
    for name in TASKS:
        tasks[name] = make_task(config, name, made.encoder)
        tasks[name].progress = listener.worked
    finished = [Run(method_folder(other, method)) for other in others for method in methods_there(other)]
    settings = LoopSettings(
        seed=config.seed,
        iterations=config.iterations,
        shard_size=config.shard_size,
        engine=make_engine(config.engine, config.device),
        # A pool of shards is one that no memory could hold, nor its predictions.
        first_labels=None if isinstance(data.pool, ShardedPool) else FirstLabels(),
        equal_trainings=EqualTrainings(finished),
    )
    return Setup(
        config=config,
        run=run,
        data=data,
        data_dir=data_dir,
        encoder=made.encoder,
        bridge=made.bridge,
        start=made.start,
        tasks=tasks,
        friendship=csrl_rewriting(made.bridge, RoleMatcher(**config.friendship.model_dump())),
        probes=needed_probes(config, data),
        settings=settings,
        listener=listener,
    )


def make_engine(choice: LocalEngineConfig | RayEngineConfig, device: str) -> Engine | None:
    """Who labels the pool; None is the coordinating process itself. There is one worker per graphics card at most."""
    on_card, named = choose_device(device).type == "cuda", ":" in device
    if isinstance(choice, RayEngineConfig):
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
