"""One run of a config: encoder and bridge once, Base once, then every method from that same Base."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from friend_training import __version__
from friend_training.core.files import write_text
from friend_training.core.friendship import Friendship
from friend_training.core.listener import Listener, Silence
from friend_training.core.loop import Outcome
from friend_training.core.picks import Threshold
from friend_training.core.plan import LoopSettings, TaskPlan, Training
from friend_training.core.run import Run
from friend_training.core.selector import Selector
from friend_training.core.task import Task
from friend_training.friends.bridge_parser import LabelledByBridge, score_bridge
from friend_training.friends.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.methods.base import base, base_same_steps
from friend_training.methods.controls import as_many, chosen_counts, random_as_many, shuffled
from friend_training.methods.fdt import fdt
from friend_training.methods.sst import sst
from friend_training.scenarios.config import Config, Method, config_text
from friend_training.scenarios.data import RunData, load_data
from friend_training.scenarios.resources import encoder_source, make_bridge
from friend_training.scenarios.settings import training_settings
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.tasks.srl.bridge import Bridge

TASKS = ("csrl", "rewriting")
RESULTS = "results.jsonl"


@dataclass(frozen=True, slots=True)
class Workshop:
    """All that the methods of one run share."""

    config: Config
    run: Run
    data: RunData
    bridge: Bridge
    tasks: dict[str, Task]
    friendship: Friendship
    listener: Listener

    @property
    def settings(self) -> LoopSettings:
        return LoopSettings(
            seed=self.config.seed, iterations=self.config.iterations, shard_size=self.config.shard_size
        )


def run_study(
    config: Config,
    folder: Path,
    *,
    data_dir: Path | None = None,
    resources: Path | None = None,
    listener: Listener | None = None,
) -> list[dict[str, Any]]:
    """Run every method of a config in `folder`, or what is left of it; one result record per method.

    `resources` is a folder for encoder and bridge that several runs share; by default they lie in the run's own.
    """
    torch.set_num_threads(config.threads)
    data = load_data(config, data_dir)
    run = _open_or_create(folder, config, data.fingerprints())
    shop = _workshop(config, run, data, resources, listener or Silence())
    records = [_record(shop, method) for method in config.methods]
    write_text(folder / RESULTS, "".join(json.dumps(r, ensure_ascii=False, sort_keys=True) + "\n" for r in records))
    return records


def _open_or_create(folder: Path, config: Config, fingerprints: dict[str, str]) -> Run:
    if not (folder / "run.json").is_file():
        return Run.create(folder, config_text(config), fingerprints)
    run = Run.open(folder)
    run.check_fingerprints(fingerprints)
    return run


def _workshop(
    config: Config, run: Run, data: RunData, resources: Path | None, listener: Listener
) -> Workshop:
    made_in = run if resources is None else _open_or_create(resources, config, {})
    with made_in.locked():
        listener.started("encoder")
        encoder = encoder_source(config, data, made_in, lambda done, total: listener.advanced("encoder", done, total))
        listener.finished("encoder")
        listener.started("bridge")
        bridge = make_bridge(config, data, made_in, encoder)
        listener.finished("bridge")
    csrl, rewriting = config.tasks.csrl, config.tasks.rewriting
    tasks: dict[str, Task] = {
        "csrl": csrl_task(
            encoder, training_settings(csrl.training), max_length=config.max_length, mark=config.predicate_mark
        ),
        "rewriting": rewriting_task(
            encoder,
            training_settings(rewriting.training),
            max_length=config.max_length,
            span_source=config.span_source,
        ),
    }
    matcher = RoleMatcher(**config.friendship.model_dump())
    return Workshop(config, run, data, bridge, tasks, csrl_rewriting(bridge, matcher), listener)


def _plans(shop: Workshop, method: Method) -> dict[str, TaskPlan]:
    data = shop.data
    examples = {
        "csrl": (data.csrl_gold, data.csrl_dev, data.csrl_test),
        "rewriting": (data.rewriting_gold, data.rewriting_dev, data.rewriting_test),
    }
    plans: dict[str, TaskPlan] = {}
    for name, (gold, dev, test) in examples.items():
        section = getattr(shop.config.tasks, name)
        shared = method_folder(shop.run.folder, "base") / "checkpoints" / name / "iteration-000"
        plans[name] = TaskPlan(
            task=shop.tasks[name],
            gold=gold,
            dev=dev,
            test={"test": test},
            base=Training(section.base_steps, patience=section.base_patience) if method == "base" else shared,
            update=Training(section.update_steps, restart=section.restart, pseudo_weight=section.pseudo_weight),
            selectors=_selectors(shop, method, name),
        )
    return plans


def _selectors(shop: Workshop, method: Method, task: str) -> list[Selector]:
    section = getattr(shop.config.tasks, task)
    iterations = shop.config.iterations
    friends = Selector(Threshold(section.pick_threshold), section.confidence_weight, content=section.content)
    alone = Selector(Threshold(section.sst_threshold), 1.0, content=section.content)
    if method in ("fdt", "fdt-shuffled"):
        return [friends] * iterations
    if method in ("sst-as-many", "random-as-many", "bridge-labels"):
        counts = chosen_counts(Run.open(method_folder(shop.run.folder, "fdt")), task, iterations)
        if method == "sst-as-many":
            return as_many(alone, counts)
        return random_as_many(alone, counts, seed=shop.config.seed)
    return [alone] * iterations


def method_folder(run: Path, method: str) -> Path:
    return run / "methods" / method


def _record(shop: Workshop, method: Method) -> dict[str, Any]:
    """Run a method and say what came of it, with all that is needed to get it again."""
    record: dict[str, Any] = {
        "name": shop.config.name,
        "method": method,
        "seed": shop.config.seed,
        "version": __version__,
        "config": shop.config.model_dump(mode="json"),
        "fingerprints": shop.run.fingerprints,
    }
    if method == "bridge-alone":
        scores = score_bridge(shop.bridge, shop.data.csrl_test).as_dict()
        return record | {"metrics": {f"csrl.{name}": value for name, value in scores.items()}}
    run = _open_or_create(method_folder(shop.run.folder, method), shop.config, shop.run.fingerprints)
    outcomes = _execute(shop, method, run)
    return record | {
        "metrics": {
            f"{task}.{metric}": value
            for task, outcome in outcomes.items()
            for metric, value in outcome.test["test"].items()
        },
        "best_iteration": {task: outcome.best_iteration for task, outcome in outcomes.items()},
        "dev": {task: list(outcome.dev) for task, outcome in outcomes.items()},
        "chosen": [
            (run.result(f"select-{iteration}") or {}).get("tasks")
            for iteration in range(1, (0 if method == "base" else shop.config.iterations) + 1)
        ],
        "steps": {task: _steps(run, task) for task in outcomes},
    }


def _steps(run: Run, task: str) -> list[int | None]:
    """The optimizer steps of each training phase: the budget as it was spent."""
    found: list[int | None] = []
    while (result := run.result(f"train-{task}-{len(found)}")) is not None:
        found.append(result.get("steps"))
    return found


def _execute(shop: Workshop, method: Method, run: Run) -> dict[str, Outcome]:
    plans, data = _plans(shop, method), shop.data
    settings, audit, listener = shop.settings, data.audit, shop.listener
    if method == "base":
        return base(run, plans, settings=settings, listener=listener)
    if method == "base-same-steps":
        return base_same_steps(run, plans, settings=settings, listener=listener)
    if method in ("fdt", "fdt-shuffled"):
        friend = shop.friendship if method == "fdt" else shuffled(shop.friendship, seed=settings.seed)
        return fdt(run, plans, [friend], data.pool, settings=settings, audit=audit, listener=listener)
    if method == "bridge-labels":
        labelled = replace(plans["csrl"], task=LabelledByBridge(shop.tasks["csrl"], shop.bridge))
        return sst(run, {"csrl": labelled}, data.pool, settings=settings, audit=audit, listener=listener)
    return sst(run, plans, data.pool, settings=settings, audit=audit, listener=listener)
