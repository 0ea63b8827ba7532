"""What the methods of one run share: data, tasks, friendships, and how the loop is to go."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from friend_training.core.pool import as_pool
from friend_training.core.task import Task
from friend_training.errors import ConfigError
from friend_training.loop.algorithm import LoopSettings
from friend_training.loop.engines.local import LocalEngine
from friend_training.loop.engines.ray import RayEngine
from friend_training.loop.labelling import Engine, FirstLabels
from friend_training.nn.devices import choose_device
from friend_training.runs.checkpoints import EqualTrainings, load_checkpoint
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.config import CaseStudyConfig, FriendsConfig
from friend_training.study.csrl_rewriting import PaperPair, paper_pair
from friend_training.study.folders import method_folder, methods_there
from friend_training.study.friends import StudyFriendship, learn_table, own_friendships
from friend_training.study.kinds import Given, make_task
from friend_training.study.resources import repetition_starts, word_encoder
from friend_training.study.run_data import Objects, RunData, all_own_gold
from friend_training.study.sections import Config, LocalEngineConfig, RayEngineConfig


@dataclass(frozen=True, slots=True)
class Setup:
    """`run` is the folder of the whole study. `new_task` makes another model of a task, without weights.

    `paper` is what only the paper's pair has, `starts` checkpoints that a Base goes on from, `all_gold` reads all the
    labels that the few of gold are drawn from. `friendships` are made when the first method asks for them: what labels
    mean may have to be learned from Base.
    """

    config: Config
    run: Run
    data: RunData
    tasks: Mapping[str, Task]
    friendships: Callable[[], Sequence[StudyFriendship]]
    settings: LoopSettings
    listener: Relay
    new_task: Callable[[str, bool], Task]
    all_gold: Callable[[], Mapping[str, Sequence[Any]]]
    starts: Mapping[str, Path] = field(default_factory=dict)
    paper: PaperPair | None = None


def set_up(
    config: Config,
    run: Run,
    data: RunData,
    *,
    data_dir: Path | None,
    resources: Path | None,
    others: Iterable[Path],
    listener: Relay,
    objects: Objects,
) -> Setup:
    """Make what is shared; `others` are runs whose trainings may be taken over where they would be the same."""
    paper: PaperPair | None = None
    starts: dict[str, Path] = {}
    encoder: str | None
    if isinstance(config, CaseStudyConfig):
        paper = paper_pair(config, data, run, resources, data_dir, listener)
        all_gold, encoder = paper.all_gold, paper.encoder
        starts = {} if paper.start is None else {"csrl": paper.start}
    else:
        assert isinstance(config, FriendsConfig), "there is no other"
        all_gold, encoder = partial(all_own_gold, config, data_dir), word_encoder(config, data, run, listener)
        starts = repetition_starts(config, data, run, resources, data_dir, listener)

    def new_task(name: str, second: bool = False) -> Task:
        shared = None if getattr(config.sections[name], "encoder", None) else encoder
        given = Given(shared, data.tasks[name].gold, data.pool, data_dir or Path(), second)
        task = objects.tasks[name] if name in objects.tasks else make_task(config, name, given)
        if hasattr(task, "progress"):
            task.progress = listener.worked
        if hasattr(task, "losses"):
            task.losses = listener.lost
        return task

    @cache
    def friendships() -> Sequence[StudyFriendship]:
        if paper is not None:
            return [paper.friendship]
        assert isinstance(config, FriendsConfig), "there is no other"
        return own_friendships(
            config, objects.friendships, lambda section: learn_table(run, section, data, pool_labels), data.audit
        )

    def pool_labels(name: str) -> list[Any]:
        """What Base predicts for the pool, one label each."""
        task, folder = new_task(name), Run.open(method_folder(run.folder, "base"))
        load_checkpoint(task, folder.checkpoint(name, 0), digest=folder.require(Train(name, 0))["digest"])
        return [units[0].label if units else None for units in task.predict(list(as_pool(data.pool, 1000)))]

    finished = [Run(method_folder(other, method)) for other in others for method in methods_there(other)]
    settings = LoopSettings(
        seed=config.seed,
        iterations=config.iterations,
        shard_size=config.shard_size,
        aggregate=config.aggregate if isinstance(config, FriendsConfig) else "mean",
        stop=config.stop,
        engine=make_engine(config.engine, config.device),
        # A pool of shards is one that no memory could hold, nor its predictions.
        first_labels=FirstLabels() if isinstance(data.pool, Sequence) else None,
        equal_trainings=EqualTrainings(finished),
    )
    return Setup(
        config=config,
        run=run,
        data=data,
        tasks={name: new_task(name) for name in config.sections},
        friendships=friendships,
        settings=settings,
        listener=listener,
        new_task=new_task,
        all_gold=all_gold,
        starts=starts,
        paper=paper,
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
