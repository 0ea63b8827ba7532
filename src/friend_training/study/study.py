"""One run of a config: encoder and bridge once, Base once, then every method from that same Base."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from friend_training import __version__
from friend_training.bridges.bridge import Bridge, NoBridge
from friend_training.core.counts import Evaluation
from friend_training.core.friendship import Friendship
from friend_training.data.sharded_pool import ShardedPool
from friend_training.errors import ConfigError, RunError
from friend_training.friendships.bridge_controls import score_bridge
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.loop.algorithm import Outcome
from friend_training.loop.labelling import FirstLabels
from friend_training.loop.plan import LoopSettings, TaskPlan, Training
from friend_training.loop.thresholds import Probe
from friend_training.methods.registry import METHODS
from friend_training.nn.devices import choose_device
from friend_training.nn.task import TorchTask
from friend_training.report.page import write_report
from friend_training.runs.checkpoints import SameFits
from friend_training.runs.files import one_at_a_time
from friend_training.runs.processes import is_first, wait_until
from friend_training.runs.progress import Listener, Relay, Silence
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare, Select, Train
from friend_training.study.config import Config, Method, PublicData, ToPrecision, config_text
from friend_training.study.data import RunData, hidden_gold, load_data, with_found_predicates
from friend_training.study.folders import (
    changed_on_resume,
    method_folder,
    remember_device,
    remember_methods,
    shared_resources,
    write_records,
)
from friend_training.study.methods import Setting, naming_bridge, run_method, selectors
from friend_training.study.open import keep_data
from friend_training.study.setup import (
    RESOURCE_SEED,
    asks_bridge,
    check_resources,
    encoder_source,
    informed_start,
    informed_step,
    make_bridge,
    make_engine,
    resource_steps,
    take_over_base,
)
from friend_training.study.tasks import TASKS, TaskName, make_task
from friend_training.tasks.rewriting.metrics import RewritingScore
from friend_training.tasks.rewriting.task import score_rewrites
from friend_training.types import Dialogue

# Dev dialogues as a pool would have them: what thresholds are found on, and what a finished run is diagnosed with.
#
# Dev of CSRL has gold arguments and no rewrites, dev of rewriting the reverse: each task is probed on its own dev,
# where its friend labels along. Predicates are those that CSRL's gold is about; rewriting's dialogues get theirs from
# the finder that the pool's came from, because their corpus has none.


def probe_of(config: Config, data: RunData, task: TaskName) -> Probe:
    right = partial(hidden_gold(data.csrl_dev, data.rewriting_dev), task)
    return Probe(probed_dialogues(config, data, task), right)


def probed_dialogues(config: Config, data: RunData, task: TaskName) -> list[Dialogue]:
    examples: Sequence[Any] = data.csrl_dev if task == "csrl" else data.rewriting_dev
    dialogues = [example.dialogue for example in examples]
    if isinstance(config.data, PublicData) and task == "rewriting":
        dialogues = with_found_predicates(dialogues, config, lambda done, total: None)
    if not any(dialogue.predicates for dialogue in dialogues):
        raise ConfigError(
            f"the dev dialogues of {task} give no predicates, so friends have nothing to match there and no threshold"
            " can be found for a precision; name the predicates, or set tasks.*.pick_threshold to a number or a share"
        )
    return dialogues


def needed_probes(config: Config, data: RunData) -> dict[TaskName, Probe]:
    """For the tasks whose thresholds, by match or by confidence, aim at a precision."""
    sections = {name: getattr(config.tasks, name) for name in TASKS}
    return {
        name: probe_of(config, data, name)
        for name, section in sections.items()
        if any(isinstance(given, ToPrecision) for given in (section.pick_threshold, section.sst_threshold))
    }


@dataclass(frozen=True, slots=True)
class Workshop:
    """All that the methods of one run share."""

    config: Config
    run: Run
    data: RunData
    data_dir: Path | None
    bridge: Bridge
    tasks: dict[str, TorchTask]
    friendship: Friendship
    listener: Relay
    start: Path | None
    probes: dict[TaskName, Probe]
    first_labels: FirstLabels | None
    same_fits: SameFits

    @property
    def settings(self) -> LoopSettings:
        return LoopSettings(
            seed=self.config.seed,
            iterations=self.config.iterations,
            shard_size=self.config.shard_size,
            engine=make_engine(self.config.engine, self.config.device),
            first_labels=self.first_labels,
            same_fits=self.same_fits,
        )


def run_study(
    config: Config,
    folder: str | Path,
    *,
    data_dir: str | Path | None = None,
    resources: str | Path | None = None,
    base_from: Sequence[Path] = (),
    listener: Listener | None = None,
    keep: Callable[[dict[str, Any]], None] = lambda record: None,
) -> list[dict[str, Any]]:
    """Run every method of a config in `folder`, or what is left of it; one result record per method, and a report.

    `resources` is a folder for encoder and bridge that several runs share; by default they lie in the run's own.
    `base_from` are runs of the same resources whose Base may be the same as this one's: it is then not trained again.
    `keep` is given every record as soon as its method is finished.
    Several processes (`core.processes`) all call this; only the first writes, and keeps records.
    """
    folder = Path(folder)
    data_dir = None if data_dir is None else Path(data_dir)
    resources = None if resources is None else Path(resources)
    device = choose_device(config.device)
    make_engine(config.engine, config.device)  # what this machine cannot do is refused before anything is made
    torch.set_num_threads(config.threads)
    relay = Relay(listener or Silence())
    relay.started(Prepare("data"))
    data = load_data(config, data_dir, relay.worked)
    fingerprints = data.fingerprints()
    relay.finished(Prepare("data"))
    run = _open_or_create(folder, config, fingerprints)
    with run.locked():  # of two processes that work on one study the later is told
        if is_first():
            remember_methods(run, config)
            remember_device(folder, full_name(device))
            keep_data(folder, config, data)
        shop = _workshop(config, run, data, data_dir, shared_resources(folder, resources), relay)
        records: list[dict[str, Any]] = []
        for method in config.methods:
            if METHODS[method].shared and is_first():
                take_over_base(run, config, method, base_from)
            records.append(_record(shop, method))
            if is_first():
                keep(records[-1])
        if is_first():
            write_records(folder, records)
            write_report(folder)
        return records


def full_name(device: torch.device) -> str:
    """With the make of a graphics card: cuda:0 (NVIDIA A100)."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)


def _open_or_create(folder: Path, config: Config, fingerprints: dict[str, str]) -> Run:
    if not is_first():
        wait_until((folder / "run.json").is_file)
    elif not (folder / "run.json").is_file():
        try:
            return Run.create(folder, config_text(config), fingerprints)
        except RunError:
            if not (folder / "run.json").is_file():
                raise  # else another process has just begun the same run: the lock tells who goes on
    run = Run.open(folder)
    run.check_fingerprints(fingerprints)
    return run


def _shared(resources: Path, config: Config) -> Run:
    """Runs that are started at the same moment all find the folder missing: one of them makes it."""
    with one_at_a_time(resources) if is_first() else nullcontext():  # the others of this run wait for what it makes
        return _open_or_create(resources, config, {})


def _workshop(
    config: Config, run: Run, data: RunData, data_dir: Path | None, resources: Path | None, listener: Relay
) -> Workshop:
    made_in = run if resources is None else _shared(resources, config)
    check_resources(made_in, config)
    steps = resource_steps(config)
    made = all(made_in.result(step) is not None for step in steps)
    with nullcontext() if made else made_in.locked():  # runs side by side may all read what one of them made
        listener.planned(steps, [step for step in steps if made_in.result(step) is not None])
        listener.started(Prepare("encoder"))
        encoder = encoder_source(config, data, made_in)
        listener.finished(Prepare("encoder"))
        bridge: Bridge = NoBridge()
        if asks_bridge(config):
            listener.started(Prepare("bridge"))
            bridge = make_bridge(config, data, made_in, encoder, listener.worked)
            listener.finished(Prepare("bridge"))
        start = _informed(config, data, made_in, encoder, listener) if config.informed else None
    tasks: dict[str, TorchTask] = {}
    for name in TASKS:
        task = make_task(config, name, encoder)
        task.progress = listener.worked
        tasks[name] = task
    matcher = RoleMatcher(**config.friendship.model_dump())
    friendship = csrl_rewriting(bridge, matcher)
    probes = needed_probes(config, data)
    # A pool of shards is one that no memory could hold, nor what is said of it.
    first_labels = None if isinstance(data.pool, ShardedPool) else FirstLabels()
    same = SameFits()
    return Workshop(config, run, data, data_dir, bridge, tasks, friendship, listener, start, probes, first_labels, same)


def _informed(config: Config, data: RunData, made_in: Run, encoder: str, listener: Relay) -> Path:
    step = informed_step(config)
    listener.started(step)
    start = informed_start(config, data, made_in, encoder, seed=RESOURCE_SEED, progress=listener.worked)
    listener.finished(step)
    return start


def _plans(shop: Workshop, method: Method) -> dict[str, TaskPlan]:
    data = shop.data
    examples: dict[str, tuple[Sequence[Any], Sequence[Any], Sequence[Any]]] = {
        "csrl": (data.csrl_gold, data.csrl_dev, data.csrl_test),
        "rewriting": (data.rewriting_gold, data.rewriting_dev, data.rewriting_test),
    }
    plans: dict[str, TaskPlan] = {}
    for name in TASKS:
        gold, dev, test = examples[name]
        section = getattr(shop.config.tasks, name)
        shared = method_folder(shop.run.folder, "base") / "checkpoints" / name / "iteration-000"
        plans[name] = TaskPlan(
            task=shop.tasks[name],
            gold=gold,
            dev=dev,
            test={"test": test},
            base=Training(section.base_steps, patience=section.base_patience) if method == "base" else shared,
            update=Training(section.update_steps, restart=section.restart, pseudo_weight=section.pseudo_weight),
            selectors=selectors(METHODS[method], shop.config, shop.data, shop.run.folder, name),
            start=shop.start if name == "csrl" else None,
            probe=shop.probes.get(name),
        )
    return plans


def _bridge_alone(shop: Workshop) -> dict[str, float]:
    scores = score_bridge(naming_bridge(shop.config, shop.bridge), shop.data.csrl_test).as_dict()
    return {f"csrl.{name}": value for name, value in scores.items()}


def _nothing_rewritten(shop: Workshop) -> dict[str, float]:
    gold = shop.data.rewriting_test
    scores = Evaluation.of(score_rewrites([e.dialogue.utterance.text for e in gold], gold), RewritingScore())
    return {f"rewriting.{name}": value for name, value in scores.items()}


def _record(shop: Workshop, method: Method) -> dict[str, Any]:
    """Run a method and say what came of it, with all that is needed to get it again."""
    record: dict[str, Any] = {
        "name": shop.config.name,
        "method": method,
        "seed": shop.config.seed,
        "version": __version__,
        "config": shop.config.model_dump(mode="json", exclude={"engine", "device"}),  # they are the machine's
        "fingerprints": shop.run.fingerprints,
    }
    if changed := changed_on_resume(shop.run.folder):
        record |= {"changed_on_resume": changed}
    if METHODS[method].procedure == "score-only":
        return record | {"metrics": _bridge_alone(shop) if method == "bridge-alone" else _nothing_rewritten(shop)}
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
            (run.result(Select(iteration)) or {}).get("tasks")
            for iteration in range(1, (0 if method == "base" else shop.config.iterations) + 1)
        ],
        "steps": {task: _steps(run, task) for task in outcomes},
    }


def _steps(run: Run, task: str) -> list[int | None]:
    """The optimizer steps of each training phase: the budget as it was spent."""
    found: list[int | None] = []
    while (result := run.result(Train(task, len(found)))) is not None:
        found.append(result.get("steps"))
    return found


def _execute(shop: Workshop, method: Method, run: Run) -> dict[str, Outcome]:
    setting = Setting(
        spec=METHODS[method],
        run=run,
        study=shop.run.folder,
        config=shop.config,
        data=shop.data,
        data_dir=shop.data_dir,
        encoder=shop.tasks["csrl"].encoder,
        bridge=shop.bridge,
        plans=_plans(shop, method),
        friendship=shop.friendship,
        settings=shop.settings,
        listener=shop.listener.method(method, label_parts=METHODS[method].label_parts),
    )
    return run_method(setting)
