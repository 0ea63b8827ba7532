"""`FriendTrainer`: tasks that check each other's pseudo-labels, from what a program has, by one call."""

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any

from friend_training.analysis.agreement import measured_epsilon
from friend_training.core.friendship import Aggregation, Friendship
from friend_training.core.pool import as_pool
from friend_training.core.task import Task
from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS, meant_methods, with_needed
from friend_training.nn.training import computing_in
from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from friend_training.study.config import checked_config
from friend_training.study.data import load_data
from friend_training.study.folders import is_finished, method_folder, run_config
from friend_training.study.kinds import Given, is_trained, make_task
from friend_training.study.open import open_task
from friend_training.study.run_data import Objects, TaskData
from friend_training.study.study import run_study
from friend_training.trainer.check import (
    ROUNDS,
    Check,
    Cost,
    FriendshipCheck,
    check_gold,
    check_labels,
    check_task,
)
from friend_training.trainer.given import (
    FILES,
    AnyFriendship,
    Columns,
    Prepared,
    examples_of,
    friendship_section,
    written_pool,
    written_task,
)
from friend_training.trainer.result import FriendTrainingResult
from friend_training.trainer.watching import Event, as_listeners, watched

COMPARED = ("base", "base-same-steps", "sst", "fdt", "fdt-shuffled", "friend-labels")
"""What friend-training is compared with if nobody says: where it starts, as many steps on gold, self-training, a friend
of other inputs, and the friend's own labels."""


CHECKED = 500
"""So many texts of the pool are enough to see chance agreement and collapse."""

VERBS = ("fit", "predict", "evaluate", "save", "load")


class FriendTrainer:
    """Trains tasks as friends and compares that with its baselines and controls, each with several seeds.

    `tasks` are made with their gold, dev and test; a task class of your own gets them by `examples`, as its own typed
    examples. `settings` are those that a task can have in a config (`base_steps`, `pick_threshold`, …), for all tasks,
    or under a task's name for that one. `listener`, one or several, hears of losses, selections and metrics and can
    stop a run (watching.py). `progress` draws bars in terminals and notebooks. `folder` holds all of it: a run for
    each seed, which every command can read.
    """

    def __init__(
        self,
        *,
        tasks: Sequence[Task],
        friendships: Sequence[AnyFriendship],
        folder: str | Path,
        iterations: int = 2,
        seeds: Sequence[int] = (1, 2, 3),
        settings: Mapping[str, Any] | None = None,
        examples: Mapping[str, Mapping[str, Any]] | None = None,
        aggregate: Aggregation = "mean",
        device: str = "auto",
        threads: int = 1,
        listener: Any = None,
        progress: bool = True,
    ) -> None:
        self.tasks = _by_name(tasks)
        self.friendships = _friends(friendships, self.tasks)
        self.folder = _folder(folder)
        self.iterations, self.seeds = iterations, _seeds(seeds)
        self.settings = _settings(settings, self.tasks)
        self.examples = dict(examples or {})
        self.listeners, self.progress = as_listeners(listener), progress
        self.aggregate, self.device, self.threads = aggregate, device, threads

    def fit(
        self,
        pool: Any,
        *,
        compare: Sequence[str] = COMPARED,
        text: str | None = None,
        words: str | None = None,
        id: str | None = None,
        hidden: Mapping[str, str] | None = None,
    ) -> FriendTrainingResult:
        """Train on unlabeled texts and say what came of it; in a folder that is there, go on with what is left.

        `pool` is a list of texts, a DataFrame, a Dataset, an iterable of rows, or a file; `text`, `words` and `id` are
        its columns. `hidden` are columns of gold labels by task, which no model sees: the report then tells which
        pseudo-labels are right. `compare` are names of methods; friend-training is `fdt`.
        """
        methods, left_out = self._methods(compare)
        prepared = self._prepared(pool, Columns(text, words, id, hidden), methods)
        prepared.write(self.folder)
        runs = {seed: self.folder / f"seed-{seed}" for seed in self.seeds}
        with computing_in(self.threads):  # and not in what a run would leave set
            for seed, run in runs.items():
                if not _is_done(run, methods):
                    self._run(seed, run, prepared)
        return FriendTrainingResult(self.folder, runs, methods, left_out, prepared.objects)

    def check(
        self,
        pool: Any = None,
        *,
        first: Sequence[Any] | None = None,
        second: Sequence[Any] | None = None,
        friendship: Friendship | None = None,
        text: str | None = None,
        words: str | None = None,
        id: str | None = None,
        hidden: Mapping[str, str] | None = None,
    ) -> Check:
        """What can be known before training: print it.

        Without a pool that is what gold says. With the texts and columns that `fit` will get, Base is trained with the
        first seed, which fit goes on with, and answers for some of them. With `first` and `second`, labels that
        somebody has for these texts already, nothing is trained or written.
        """
        if first is not None or second is not None:
            if first is None or second is None or pool is None:
                raise ConfigError("check: texts, first and second were expected together")
            return check_labels(list(pool), first, second, friendship or self._only_friendship())
        gold = [check_gold(one, self._examples) for one in self.friendships if isinstance(one, Friendship)]
        learned = [one.name for one in self.friendships if not isinstance(one, Friendship)]
        unknown = [f"the table of {name}, which is learned when Base is trained" for name in learned]
        if pool is None:
            without = (
                "agreement of predictions, chance agreement (ε), collapse and cost: check(texts) trains a quick Base"
            )
            return Check(tuple(gold), unknown=(*unknown, without))
        if not hidden:
            unknown.append("how many pseudo-labels will be right: the texts have no labels")
        with computing_in(self.threads):
            return self._checked(gold, self._prepared(pool, Columns(text, words, id, hidden), ("base",)), unknown)

    def _only_friendship(self) -> Friendship:
        match self.friendships:
            case [Friendship() as only]:
                return only
        raise ConfigError("check: name the friendship that the labels are of: friendship=…")

    @cached_property
    def _examples(self) -> dict[str, TaskData]:
        """Read once: rows may come from an iterator."""
        return {name: examples_of(task, self.examples.get(name)) for name, task in self.tasks.items()}

    def _checked(self, gold: Sequence[FriendshipCheck], prepared: Prepared, unknown: Sequence[str]) -> Check:
        """Base of the first seed answers for the first inputs of the pool."""
        run, data = self.folder / f"seed-{self.seeds[0]}", self.folder / FILES
        prepared.write(self.folder)
        if not _is_done(run, ("base",)):
            self._run(self.seeds[0], run, prepared)
        loaded = load_data(prepared.config, data, objects=prepared.objects)
        inputs = list(islice(as_pool(loaded.pool, prepared.config.shard_size), CHECKED))
        answers, began = {}, time.perf_counter()
        for name in self.tasks:
            if is_trained(prepared.config, name):
                task = open_task(run, name, "base", objects=prepared.objects).task
            else:
                made = prepared.objects.tasks.get(name)
                task = made or make_task(prepared.config, name, Given(base=data))
            answers[name] = task.predict(inputs)
        labelling = (time.perf_counter() - began) / len(inputs)
        friends = {one.name: one for one in self.friendships if isinstance(one, Friendship)}
        measured = [
            replace(
                one,
                measured=measured_epsilon(
                    friends[one.name],
                    inputs,
                    answers[friends[one.name].first],
                    answers[friends[one.name].second],
                    seed=self.seeds[0],
                    rounds=ROUNDS,
                ),
            )
            if len(inputs) > 1
            else one
            for one in gold
        ]
        base = Run.open(method_folder(run, "base"))
        training = sum(one.seconds for one in base.finished() if isinstance(one.step, Train))
        sections = prepared.config.sections.values()
        cost = Cost(
            training=training,
            labelling=labelling,
            pool=len(loaded.pool) if isinstance(loaded.pool, Sequence) else CHECKED,
            seeds=len(self.seeds),
            iterations=self.iterations,
            methods=len(COMPARED) - 1,
            update=max(one.update_steps / one.base_steps for one in sections),
        )
        tasks = [check_task(name, said, loaded.tasks[name].gold) for name, said in answers.items()]
        return Check(tuple(measured), tuple(tasks), cost.line(), tuple(unknown), loaded.notes)

    def _run(self, seed: int, run: Path, prepared: Prepared) -> None:
        config = prepared.config.model_copy(update={"seed": seed})
        with watched(seed, self.listeners, progress=self.progress) as teller:
            teller.tell(Event("begin", seed))
            run_study(config, run, data_dir=self.folder / FILES, objects=prepared.objects, listener=teller)
            teller.tell(Event("end", seed))

    def _methods(self, compare: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """The methods in an order in which they can run, and those that cannot, with the reason."""
        if isinstance(compare, str):
            raise ConfigError(f"compare: {compare!r} is a text, expected a list of methods, such as ('base', 'fdt')")
        for name in compare:
            if name not in METHODS:
                raise ConfigError(f"compare: there is no method {name!r}{meant_methods(name)}")
        left_out = {}
        silent = not any(map(_proposes, self.friendships))
        for name in compare:
            if METHODS[name].labels == "friend" and silent:
                names = ", ".join(one.name for one in self.friendships)
                left_out[name] = f"{names}: what one task predicts cannot be said as a label of the other"
        wanted = [name for name in compare if name not in left_out]
        return tuple(with_needed(wanted, tuple(METHODS))), left_out

    def _prepared(self, pool: Any, columns: Columns, methods: Sequence[str]) -> Prepared:
        """Everything as a config and files; nothing is trained or written but untrained models."""
        data = self.folder / FILES
        written = {name: written_task(task, self._examples[name], data) for name, task in self.tasks.items()}
        in_pool, inputs = written_pool(pool, columns, self.tasks.values())
        sections = [friendship_section(one) for one in self.friendships]
        values = {
            "name": self.folder.resolve().name,
            "tasks": {name: one.section | self.settings_of(name, one.section) for name, one in written.items()},
            "friendships": sections,
            "pool": in_pool.section,
            "methods": list(methods),
            "iterations": self.iterations,
            "aggregate": self.aggregate,
            "device": self.device,
            "threads": self.threads,
            "seed": self.seeds[0],
        }
        files = {name: text for one in [*written.values(), in_pool] for name, text in one.files.items()}
        ours = {name for name, one in written.items() if one.section["kind"] == "python"}
        objects = Objects(
            tasks={name: self.tasks[name] for name in ours},
            friendships={
                one.name: one for one in self.friendships if isinstance(one, Friendship) and one.described is None
            },
            data={name: one.data or TaskData() for name, one in written.items() if name in ours},
            pool=inputs,
        )
        return Prepared(checked_config(values, "FriendTrainer"), files, objects)

    def settings_of(self, task: str, section: Mapping[str, Any]) -> dict[str, Any]:
        """What `settings` say of a task; a part of `training` changes only that part."""
        common = {name: value for name, value in self.settings.items() if name not in self.tasks}
        found = common | dict(self.settings.get(task, {}))
        training = section.get("training", {}) | common.get("training", {}) | found.get("training", {})
        return found | ({"training": training} if training else {})


def _by_name(tasks: Sequence[Task]) -> dict[str, Task]:
    if isinstance(tasks, str | Mapping) or not isinstance(tasks, Sequence):
        raise ConfigError(f"tasks are {tasks!r:.100}, expected a list of tasks")
    for one in tasks:
        # Statically: what a tagger's metric is need not be known yet.
        if missing := [verb for verb in VERBS if inspect.getattr_static(one, verb, None) is None]:
            raise ConfigError(f"tasks: {one!r:.100} has no {', '.join(missing)}; expected tasks (core/task.py)")
    names = [one.name for one in tasks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"tasks: two are called {twice[0]!r}, names must differ")
    return dict(zip(names, tasks, strict=True))


def _friends(friendships: Sequence[AnyFriendship], tasks: Mapping[str, Task]) -> list[AnyFriendship]:
    if isinstance(friendships, AnyFriendship) or not isinstance(friendships, Sequence):
        raise ConfigError(f"friendships are {friendships!r:.100}, expected a list of friendships")
    for one in friendships:
        if not isinstance(one, AnyFriendship):
            raise ConfigError(f"friendships: {one!r:.100} is none, expected label_friendship(…) or another Friendship")
        for name in (one.first, one.second):
            if name not in tasks:
                raise ConfigError(f"friendship {one.name}: there is no task {name!r}; there are {', '.join(tasks)}")
    if not friendships:
        raise ConfigError("friendships: there is none, expected at least one")
    return list(friendships)


def _proposes(friendship: AnyFriendship) -> bool:
    """Whether one task's predictions can be said as labels of the other; those of a table can."""
    if not isinstance(friendship, Friendship):
        return True
    return friendship.propose_first is not None or friendship.propose_second is not None


def _folder(given: str | Path) -> Path:
    if not isinstance(given, str | Path):
        raise ConfigError(f"folder is {given!r:.100}, expected the path of a folder for the runs")
    if Path(given).is_file():
        raise ConfigError(f"folder: {given} is a file, expected a folder for the runs")
    return Path(given)


def _seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    found = (seeds,) if isinstance(seeds, int) else tuple(seeds)
    whole = all(isinstance(one, Integral) for one in found)
    if not found or not whole or len(set(found)) < len(found):
        raise ConfigError(f"seeds are {seeds!r}, expected whole numbers such as (1, 2, 3), at least one, each once")
    return found


def _settings(settings: Mapping[str, Any] | None, tasks: Mapping[str, Task]) -> dict[str, Any]:
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"settings are {settings!r:.100}, expected a mapping, such as {{'base_steps': 200}}")
    for name, value in (settings or {}).items():
        if name in tasks and not isinstance(value, Mapping):
            raise ConfigError(f"settings of task {name}: {value!r:.100}, expected a mapping")
    return dict(settings or {})


def _is_done(run: Path, methods: Sequence[str]) -> bool:
    return (run / "run.json").is_file() and is_finished(run) and set(methods) <= set(run_config(run).methods)
