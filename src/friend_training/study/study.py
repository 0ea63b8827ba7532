"""One run of a config: encoder and bridge once, Base once, then every method from that same Base."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from friend_training import __version__
from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS
from friend_training.nn.devices import choose_device
from friend_training.runs.files import is_first
from friend_training.runs.progress import Listener, Relay, Silence
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare, Select, Train
from friend_training.study.config import has_own_files
from friend_training.study.data import load_data
from friend_training.study.folders import (
    changed_on_resume,
    files_of,
    method_folder,
    open_or_create,
    remember_device,
    remember_files,
    remember_methods,
    remember_notes,
    shared_resources,
    write_records,
)
from friend_training.study.friends import friendships_of
from friend_training.study.methods import MethodSetting, run_method
from friend_training.study.open import keep_data
from friend_training.study.plans import task_plans
from friend_training.study.resources import check_models
from friend_training.study.run_data import NO_OBJECTS, Objects
from friend_training.study.sections import Config
from friend_training.study.setup import Setup, make_engine, set_up


def run_study(
    config: Config,
    folder: str | Path,
    *,
    data_dir: str | Path | None = None,
    resources: str | Path | None = None,
    others: Sequence[Path] = (),
    listener: Listener | None = None,
    keep: Callable[[dict[str, Any]], None] = lambda record: None,
    objects: Objects = NO_OBJECTS,
) -> list[dict[str, Any]]:
    """Run every method of a config in `folder`, or what is left of it; one result record per method.

    `resources` is a folder for encoder and bridge that several runs share; by default they lie in the run's own.
    `others` are runs whose trainings are taken over where they would end in the same bits, such as Base.
    `keep` is given every record as soon as its method is finished. `objects` are tasks and friendships that the config
    only names.
    Several processes (`runs.processes`) all call this; only the first writes, and keeps records.
    """
    folder = Path(folder)
    data_dir = files_of(folder, None if data_dir is None else Path(data_dir))
    resources = None if resources is None else Path(resources)
    device = choose_device(config.device)
    make_engine(config.engine, config.device)  # what this machine cannot do is refused before anything is made
    torch.set_num_threads(config.threads)
    relay = Relay(listener or Silence())
    with relay.step(Prepare("data")):
        data = load_data(config, data_dir, relay.worked, objects=objects)
        fingerprints = data.fingerprints()
    if not (folder / "run.json").is_file():
        check_models(config)
    run = open_or_create(folder, config, fingerprints)
    with run.locked():  # of two processes that work on one study the later is told
        if is_first():
            remember_methods(run, config)
            remember_device(folder, full_name(device))
            remember_notes(folder, data.notes)
            if data_dir is not None and has_own_files(config):
                remember_files(folder, data_dir)
            keep_data(folder, config, data)
        shared = shared_resources(folder, resources)
        setup = set_up(
            config, run, data, data_dir=data_dir, resources=shared, others=others, listener=relay, objects=objects
        )
        records: list[dict[str, Any]] = []
        for method in config.methods:
            records.append(_record(setup, method))
            if is_first():
                keep(records[-1])
        if is_first():
            write_records(folder, records)
        return records


def full_name(device: torch.device) -> str:
    """With the make of a graphics card: cuda:0 (NVIDIA A100)."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)


def _record(setup: Setup, method: str) -> dict[str, Any]:
    """Run a method and say what came of it, with all that is needed to get it again."""
    config, spec = setup.config, METHODS[method]
    record: dict[str, Any] = {
        "name": config.name,
        "method": method,
        "seed": config.seed,
        "version": __version__,
        "config": config.model_dump(mode="json", exclude={"engine", "device"}),  # they are the machine's
        "fingerprints": setup.run.fingerprints,
    }
    if changed := changed_on_resume(setup.run.folder):
        record |= {"changed_on_resume": changed}
    if spec.procedure == "score-only":
        if setup.paper is None:
            raise ConfigError(f"{spec.title} belongs to the paper's pair, CSRL and rewriting; leave it out here")
        return record | {"metrics": setup.paper.scores_without_training(method)}
    run = open_or_create(method_folder(setup.run.folder, method), config, setup.run.fingerprints)
    setup.listener.method(method, label_parts=spec.label_parts)
    with_friends = spec.friend != "none"
    friendships = friendships_of(setup.friendships(), spec, config, setup.data.audit) if with_friends else []
    plans = task_plans(
        config, setup.data, setup.run.folder, setup.tasks, method, starts=setup.starts, friendships=friendships
    )
    outcomes = run_method(MethodSetting(spec, run, plans, friendships, setup))
    iterations = 0 if method == "base" else config.iterations
    return record | {
        "metrics": {
            f"{task}.{metric}": value
            for task, outcome in outcomes.items()
            for metric, value in outcome.test.get("test", {}).items()
        },
        "best_iteration": {task: outcome.best_iteration for task, outcome in outcomes.items()},
        "dev": {task: list(outcome.dev) for task, outcome in outcomes.items()},
        "chosen": [(run.result(Select(number)) or {}).get("tasks") for number in range(1, iterations + 1)],
        "steps": {task: _steps(run, task) for task in outcomes},
    }


def _steps(run: Run, task: str) -> list[int | None]:
    """The optimizer steps of each training: the budget as it was spent."""
    found: list[int | None] = []
    while (result := run.result(Train(task, len(found)))) is not None:
        found.append(result.get("steps"))
    return found
