"""What is made once and then only used: the encoder that every task starts from, and the bridge."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

from friend_training.bridges.bridge import Bridge, CachedBridge, NoBridge, ParserBridge
from friend_training.bridges.hanlp import HanlpParser
from friend_training.bridges.ltp import LtpParser, check_ltp
from friend_training.core.limits import read_yaml
from friend_training.core.task import FitPlan
from friend_training.data.catalogue import model_source
from friend_training.data.summary import fingerprint
from friend_training.errors import DataError, RunError
from friend_training.methods.registry import METHODS
from friend_training.nn.encoder import EncoderShape, WordEncoderShape, pretrain_encoder, pretrain_word_encoder
from friend_training.nn.pretrained import read_config
from friend_training.nn.task import TorchTask
from friend_training.runs.checkpoints import check_checkpoint, checkpoint_digest, load_checkpoint
from friend_training.runs.files import atomic_folder, is_first, one_at_a_time
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare
from friend_training.study.config import CaseStudyConfig, FriendsConfig, recorded_form
from friend_training.study.folders import open_or_create, shared_resources
from friend_training.study.kinds import Given, make_task, training_settings
from friend_training.study.run_data import RunData, bridge_data, input_of, unlabeled
from friend_training.study.sections import (
    Config,
    HanlpBridgeConfig,
    LtpBridgeConfig,
    PretrainedEncoderConfig,
    RepetitionsConfig,
    SavedBridgeConfig,
    SentenceTaskConfig,
    TrainedBridgeConfig,
)
from friend_training.tasks.csrl.task import TrainedBridge, csrl_task, srl_task
from friend_training.tasks.csrl.task import open_bridge as open_trained
from friend_training.types import Argument, CsrlExample, Dialogue, Roles, SrlExample, Turn, words_of

# The informed setting: every method starts from its few labels and from the bridge's training data.
#
# The bridge carries supervision of its own, and a CSRL parser that has never seen it may lose against the bridge alone.
# Here CSRL learns the same sentences, as dialogues of one turn, before Base sees its first gold label. They are not
# mixed into gold: ten thousands of sentences would bury a hundred labels, and in the updates what was chosen as well.
# Like the bridge, with the bridge's settings and seed, this start is made once for all seeds of a study.


SPEAKER = "A"


def informed_step(config: CaseStudyConfig) -> Prepare:
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
    config: CaseStudyConfig, data: RunData, run: Run, encoder: str, *, seed: int, progress: Callable[[int, int], None]
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
        itself=config.predicate_as_argument,
        device=config.device,
    )
    task.progress = progress

    def fit() -> dict[str, Any]:
        plan = FitPlan(seed=seed, steps=bridge.steps, patience=bridge.patience, restart=True)
        train, dev = as_dialogues(bridge_data(data).train), as_dialogues(bridge_data(data).dev)
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


def asks_bridge(config: CaseStudyConfig) -> bool:
    """Whether a method of this config asks the bridge; with no methods, encoder and bridge are all that is wanted."""
    return not config.methods or any(METHODS[method].bridge for method in config.methods)


def resource_steps(config: CaseStudyConfig) -> list[Prepare]:
    """What has to be made for this config; published encoders and parsers are there already."""
    trained = config.bridge.kind == "trained" and asks_bridge(config)
    kinds = {"encoder": config.encoder.kind == "scratch", "bridge": trained}
    made = [Prepare(name) for name, needed in kinds.items() if needed]
    return [*made, informed_step(config)] if config.informed else made


def check_resources(made_in: Run, config: CaseStudyConfig) -> None:
    """An encoder and bridge made with other settings, or from other text, must not slip into a run."""
    before = recorded_form(read_yaml(made_in.config_text, str(made_in.folder / "config.yaml")))
    now = recorded_form(config.model_dump(mode="json"))
    for setting in RESOURCE_SETTINGS:
        if before[setting] != now[setting]:
            raise RunError(f"{made_in.folder} was made with other settings of {setting!r}; use another folder")


def encoder_source(config: CaseStudyConfig, data: RunData, run: Run) -> str:
    """The folder or hub name of the encoder; one from scratch is made in the run's folder first."""
    if isinstance(config.encoder, PretrainedEncoderConfig):
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
        texts = ["".join(turn.text for turn in dialogue.turns) for dialogue in cast(Iterable[Dialogue], data.pool)]
        texts += [example.sentence.text for example in bridge_data(data).train]
        with atomic_folder(folder, replace=True) as new:
            pretrain_encoder(new, texts, shape, seed=RESOURCE_SEED)
        return {"texts": len(texts), **_digest_of(folder)}

    made = run.do(Prepare("encoder"), make)
    check_checkpoint(folder, made.get("digest"))
    return str(folder)


def word_encoder(config: FriendsConfig, data: RunData, run: Run, listener: Relay) -> str | None:
    """The folder of the encoder that tasks in words without one of their own share; None where there is no such task.

    It is made in the run's folder, with the run's seed, from raw text: the words of these tasks' gold, then the pool's.
    """
    sharing = [
        name
        for name, section in config.tasks.items()
        if isinstance(section, SentenceTaskConfig) and section.encoder is None
    ]
    if not sharing:
        return None
    folder, step = run.folder / "encoder", Prepare("encoder")

    def make() -> dict[str, Any]:
        gold = [input_of(example) for name in sharing for example in data.tasks[name].gold]
        lines = [words_of(one) for one in chain(gold, data.pool)]
        shape = WordEncoderShape(**config.word_encoder.model_dump())
        with atomic_folder(folder, replace=True) as new:
            pretrain_word_encoder(new, lines, shape, seed=config.seed)
        return {"texts": len(lines), **_digest_of(folder)}

    listener.planned([step], [step] if run.result(step) is not None else [])
    with listener.step(step):
        made = run.do(step, make)
    check_checkpoint(folder, made.get("digest"))
    return str(folder)


def _digest_of(folder: Path) -> dict[str, str]:
    """What the record of a step says of the folder that it made."""
    return {"digest": checkpoint_digest(folder)}


# A start from unlabeled dialogues, for tasks whose config asks for one; the same for all seeds.


HELD_BACK = 200
"""So many of the repetitions tell when their training is at its best."""


def repetition_starts(
    config: FriendsConfig, data: RunData, run: Run, folder: Path | None, data_dir: Path | None, listener: Relay
) -> dict[str, Path]:
    """The checkpoints that Bases go on from, by task; made in the run or in a folder that several runs share."""
    wanted = {name: _start_name(config, name) for name in config.tasks if _repetitions(config, name) is not None}
    if not wanted:
        return {}
    made_in = run if folder is None else _shared(folder, config)
    found: dict[str, Path] = {}
    for name, start in wanted.items():
        step = Prepare(start)
        locked = nullcontext() if folder is None or made_in.result(step) is not None else made_in.locked()
        learn = partial(_learn_repetitions, config, data, name, made_in, data_dir or Path(), listener.worked)
        with locked, listener.step(step):
            made = made_in.do(step, learn)
        check_checkpoint(made_in.folder / start, made.get("digest"))
        found[name] = made_in.folder / start
    return found


def _repetitions(config: FriendsConfig, name: str) -> RepetitionsConfig | None:
    return getattr(config.tasks[name], "repetitions", None)


def _start_name(config: FriendsConfig, name: str) -> str:
    """With all that the start depends on."""
    section: Any = config.tasks[name]
    of = [
        section.kind,
        section.encoder,
        section.max_length,
        section.repetitions.model_dump(),
        section.training.model_dump(),
    ]
    return f"repetitions-{name}-{fingerprint(of)[:8]}"


def _learn_repetitions(
    config: FriendsConfig, data: RunData, name: str, run: Run, base: Path, progress: Progress
) -> dict[str, Any]:
    asked = _repetitions(config, name)
    assert asked is not None, "asked for"
    task: Any = make_task(config, name, Given(base=base))
    task.progress = progress
    examples = task.definition.repeated(
        unlabeled(config, data.tasks, asked.file, base), most=asked.most, seed=RESOURCE_SEED
    )
    if len(examples) <= HELD_BACK:
        raise DataError(
            f"tasks.{name}.repetitions: {len(examples)} turns repeat what was said before, {HELD_BACK + 1} are needed",
            path=base / asked.file,
        )
    plan = FitPlan(seed=RESOURCE_SEED, steps=asked.steps, restart=True)
    summary = task.fit(examples[HELD_BACK:], (), dev=examples[:HELD_BACK], plan=plan)
    folder = run.folder / _start_name(config, name)
    with atomic_folder(folder, replace=True) as new:
        task.save(new)
    held_back = dict(task.evaluate(examples[:HELD_BACK]))
    return {"examples": len(examples), "steps": summary.steps, "held_back": held_back, **_digest_of(folder)}


# Opening the bridge of a finished run, which tells what a rewrite says about each predicate.


def check_models(config: Config) -> None:
    """Encoders and parsers that a run would look for in vain are told before it is begun."""
    sources = {getattr(section, "encoder", None) for section in config.sections.values()}
    if isinstance(config, CaseStudyConfig):
        sources |= {getattr(config.encoder, "source", None)}
        if isinstance(config.bridge, LtpBridgeConfig) and asks_bridge(config):
            check_ltp(Path(model_source(config.bridge.source)))
    for source in sorted(filter(None, sources)):
        read_config(model_source(source))


def published_bridge(config: CaseStudyConfig) -> Bridge | None:
    """A parser that is there already; None where the config asks for one of its own."""
    if isinstance(config.bridge, LtpBridgeConfig):
        return LtpParser.load(model_source(config.bridge.source), device=config.device)
    if isinstance(config.bridge, HanlpBridgeConfig):
        return ParserBridge(HanlpParser(config.bridge.model, device=config.device))
    if isinstance(config.bridge, SavedBridgeConfig):
        return open_trained(model_source(config.bridge.source), device=config.device)
    return None


def open_bridge(folder: Path, config: CaseStudyConfig) -> Bridge:
    """The bridge that the run matched with; a trained one lies in the run's folder, or with what several runs share."""
    if (published := published_bridge(config)) is not None:
        return published
    place = (shared_resources(folder, None) or folder) / "bridge"
    if not (place / "task.json").is_file():
        raise RunError(f"{folder}: its bridge is not at {place}, so nobody can say how far the friends agree")
    made = Run(place.parent).result(Prepare("bridge")) or {}
    check_checkpoint(place, made.get("digest"))
    return open_trained(place, device=config.device)


def make_bridge(config: CaseStudyConfig, data: RunData, run: Run, encoder: str, progress: Progress) -> Bridge:
    """The bridge with its parameters fixed from here on, remembering its answers."""
    bridge = published_bridge(config) or TrainedBridge(_trained(config, data, run, encoder, progress))
    return CachedBridge(bridge, max_entries=CACHED_ANSWERS)


def _trained(config: CaseStudyConfig, data: RunData, run: Run, encoder: str, progress: Progress) -> TorchTask:
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
        summary = task.fit(bridge_data(data).train, (), dev=bridge_data(data).dev[: config.bridge.dev], plan=plan)  # type: ignore[union-attr]
        if not is_first():
            return {}
        metrics = dict(task.evaluate(bridge_data(data).dev))
        with atomic_folder(folder, replace=True) as new:
            task.save(new)
        return {"sentences": len(bridge_data(data).train), "steps": summary.steps, "dev": metrics, **_digest_of(folder)}

    made = run.do(Prepare("bridge"), fit, together=True)
    load_checkpoint(task, folder, digest=made.get("digest"))
    return task


@dataclass(frozen=True, slots=True)
class Resources:
    """What every method of a run starts from; `start` is the checkpoint that an informed Base goes on from."""

    encoder: str
    bridge: Bridge
    start: Path | None


def make_resources(config: CaseStudyConfig, data: RunData, run: Run, folder: Path | None, listener: Relay) -> Resources:
    """Make what is not there yet, in the run or in a folder that several runs share."""
    made_in = run if folder is None else _shared(folder, config)
    check_resources(made_in, config)
    steps = resource_steps(config)
    made = all(made_in.result(step) is not None for step in steps)
    with nullcontext() if made else made_in.locked():  # runs side by side may all read what one of them made
        listener.planned(steps, [step for step in steps if made_in.result(step) is not None])
        with _told(listener, Prepare("encoder"), steps):
            encoder = encoder_source(config, data, made_in)
        bridge: Bridge = NoBridge()
        if asks_bridge(config):
            with _told(listener, Prepare("bridge"), steps):
                bridge = make_bridge(config, data, made_in, encoder, listener.worked)
        start = None
        if config.informed:
            with listener.step(informed_step(config)):
                start = informed_start(config, data, made_in, encoder, seed=RESOURCE_SEED, progress=listener.worked)
    return Resources(encoder, bridge, start)


def _told(listener: Relay, step: Prepare, steps: Sequence[Prepare]) -> AbstractContextManager[None]:
    """What is there already, a published encoder or parser, is opened without a word."""
    return listener.step(step) if step in steps else nullcontext()


def _shared(resources: Path, config: Config) -> Run:
    """Runs that are started at the same moment all find the folder missing: one of them makes it."""
    with one_at_a_time(resources) if is_first() else nullcontext():  # the others of this run wait for what it makes
        return open_or_create(resources, config, {})
