"""What a run needs of this machine and how long it will take, found out before anything is trained.

It needs files, models, packages, disk and memory. It takes as long as its results took before, else what there is to
train and label: optimizer steps and labelled dialogues times what each takes with this kind of encoder (RATES),
corrected by how far this model was off for those results that tell their seconds.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

from friend_training.bridges.hanlp import missing_of_hanlp
from friend_training.bridges.ltp import FILES as LTP_FILES
from friend_training.data.benchmarks import build_pool
from friend_training.data.catalogue import model_file, model_source, named_data_folder, part_path
from friend_training.errors import DataError
from friend_training.experiments.experiment import Piece
from friend_training.methods.registry import METHODS
from friend_training.runs.steps import Evaluate, Label, MethodStep, Prepare, Test, Train, TrainTogether
from friend_training.study.config import CaseStudyConfig, FriendsConfig
from friend_training.study.data import POOL_SEED
from friend_training.study.methods import BUDGET
from friend_training.study.resources import asks_bridge, resource_steps
from friend_training.study.sections import (
    AnswerFileConfig,
    Config,
    EstimatorConfig,
    FileDataConfig,
    HanlpBridgeConfig,
    LtpBridgeConfig,
    PretrainedEncoderConfig,
    PublicDataConfig,
    SavedBridgeConfig,
    ScratchEncoderConfig,
    SentenceTaskConfig,
    SyntheticDataConfig,
)


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds of an optimizer step (16 examples, its share of evaluations on dev) and of predicting one dialogue."""

    step: float
    answer: float


RATES = {"scratch": Rates(0.125, 0.0025), "pretrained": Rates(0.6, 0.01), "no network": Rates(0.0005, 0.0002)}
"""Measured on two cores with two runs side by side: 2 layers × 128 from scratch, ernie-3.0-nano (4 × 312), and
scikit-learn's classifiers, which take no steps: a fit takes some tenths of a second."""

SCRATCH_SIZE = 2 * 128
PRETRAINED_SIZE = 4 * 312**2
SCRATCH_VOCABULARY = 4000
WORD_VOCABULARY = 40_000
"""Words, and beginnings and ends of words, of a word encoder."""
BATCH_SIZE = 16

UNKNOWN_SIZE = 1000
"""Dialogues of a file that nobody has counted yet."""


@dataclass(frozen=True, slots=True)
class EncoderSize:
    """What the cost of an encoder depends on. `assumed` where it is not known: it is BERT base's size then."""

    layers: int
    width: int
    vocabulary: int
    assumed: bool = False

    @property
    def parameters(self) -> int:
        """Embeddings, and per layer four square matrices of attention and two that are four times as wide."""
        return self.vocabulary * self.width + 12 * self.layers * self.width**2


BERT_BASE = EncoderSize(layers=12, width=768, vocabulary=21_128, assumed=True)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of each piece, and of encoder and bridge before them. `known` results tell how long such things take."""

    pieces: tuple[float, ...]
    resources: float
    known: int

    def together(self, jobs: int) -> float:
        """With so many pieces at once: whoever is free takes the next."""
        busy = [0.0] * jobs
        for seconds in self.pieces:
            busy[busy.index(min(busy))] += seconds
        return self.resources + max(busy)


def estimate(
    todo: Sequence[tuple[Piece, Sequence[str]]], results: Sequence[dict[str, Any]], *, unprepared: Sequence[Piece]
) -> Estimate:
    """`todo` are all pieces with the methods that are left of each; `results` those of the experiment so far.

    `unprepared` is one piece for each encoder and bridge that has to be made first.
    """
    configs = {piece.config_id: piece.config for piece, _ in todo}
    told = [record for record in results if record.get("seconds") and record["config_id"] in configs]
    took: dict[tuple[str, str], list[float]] = {}
    for record in told:
        took.setdefault((record["config_id"], record["method"]), []).append(record["seconds"])
    expected = sum(modelled(configs[record["config_id"]], record["method"]) for record in told)
    factor = sum(record["seconds"] for record in told) / expected if expected else 1.0
    seconds = []
    for piece, methods in todo:
        of_piece = 0.0
        for method in methods:
            before = took.get((piece.config_id, method))
            of_piece += fmean(before) if before else factor * modelled(piece.config, method)
        seconds.append(of_piece)
    resources = sum(_resources(piece.config) for piece in unprepared)
    return Estimate(tuple(seconds), factor * resources, len(told))


def modelled(config: Config, method: str) -> float:
    """Seconds of one method, by its steps and by what it labels and scores."""
    spec = METHODS[method]
    if spec.procedure == "score-only":
        return 0.0
    base = sum(section.base_steps * _rates(config, task).step for task, section in config.sections.items())
    updates = config.iterations * sum(
        section.update_steps * _rates(config, task).step for task, section in config.sections.items()
    )
    if spec.procedure in ("base", "multitask"):
        training, labelled, scored = base * (BUDGET if spec.all_gold else 1), 0, 1
    else:
        training = updates * spec.step_cost + (base if spec.from_encoder else 0)
        labelled, scored = config.iterations * spec.label_parts * _pool(config), config.iterations + 1
    tested = scored * _dev(config) + _test(config)
    return training + labelled * _answer(config) + tested * sum(_rates(config, task).answer for task in config.sections)


def step_seconds(config: Config, step: MethodStep | Prepare) -> float:
    """Seconds of one step, by what it trains, labels or scores."""
    if isinstance(step, Prepare):
        training = step.name.startswith(("bridge", "informed")) and isinstance(config, CaseStudyConfig)
        return _resources(config) if training else _SMALL
    spec = METHODS[step.method]
    match step.step:
        case Train(task, iteration) if task in config.sections:
            section, rates = config.sections[task], _rates(config, task)
            if iteration:
                return float(section.update_steps * spec.step_cost * rates.step)
            own = step.method == "base" or spec.from_encoder
            return float(section.base_steps * rates.step) if own else _SMALL
        case TrainTogether():
            return sum(section.base_steps * _rates(config, task).step for task, section in config.sections.items())
        case Label():
            return spec.label_parts * min(config.shard_size, _pool(config)) * _answer(config)
        case Evaluate(task):
            return _dev(config) * _rates(config, task).answer
        case Test(task):
            return _test(config) * _rates(config, task).answer
        case _:
            return _SMALL


_SMALL = 0.1
"""Seconds of a step that copies, chooses or tidies up."""


def _answer(config: Config) -> float:
    """Seconds of labelling one input: by the slowest of the tasks, as RATES were measured."""
    return max(_rates(config, task).answer for task in config.sections)


def _rates(config: Config, task: str) -> Rates:
    if not isinstance(config, CaseStudyConfig):
        section = config.sections[task]
        if isinstance(section, EstimatorConfig | AnswerFileConfig):
            return RATES["no network"]
        alone = isinstance(section, SentenceTaskConfig) and section.encoder is None
        return RATES["scratch" if alone else "pretrained"]
    rates = RATES[config.encoder.kind]
    size = config.tasks.csrl.training.batch_size / BATCH_SIZE
    encoder = encoder_size(config)
    if isinstance(config.encoder, ScratchEncoderConfig):
        work = encoder.layers * encoder.width / SCRATCH_SIZE
    else:
        work = encoder.layers * encoder.width**2 / PRETRAINED_SIZE
    return Rates(rates.step * size * work, rates.answer * work)


def encoder_size(config: Config) -> EncoderSize:
    """By its config.json, where the encoder is on this machine."""
    if isinstance(config, FriendsConfig) and _in_words_alone(config):
        # A BiLSTM of so many numbers each way has the parameters of some two layers as wide, besides its embeddings.
        words = config.word_encoder
        return EncoderSize(2 * words.layers, words.width, WORD_VOCABULARY * (words.word + words.affix) // words.width)
    if not isinstance(config, CaseStudyConfig):
        return BERT_BASE
    if isinstance(config.encoder, ScratchEncoderConfig):
        return EncoderSize(config.encoder.layers, config.encoder.width, SCRATCH_VOCABULARY)
    path = model_file(config.encoder.source, "config.json")
    if path is None:
        return BERT_BASE
    told = json.loads(path.read_text(encoding="utf-8"))
    layers, width = told.get("num_hidden_layers"), told.get("hidden_size")
    if layers is None or width is None:  # some families have other names for them
        return BERT_BASE
    return EncoderSize(layers, width, told.get("vocab_size", BERT_BASE.vocabulary))


def _in_words_alone(config: Config) -> bool:
    """Whether all tasks share the small encoder of words that the run makes."""
    return all(isinstance(one, SentenceTaskConfig) and one.encoder is None for one in config.sections.values())


def whole_run(config: Config) -> float:
    """Seconds of a run of this config from nothing, on the machine that RATES were measured on."""
    return _resources(config) + sum(modelled(config, method) for method in config.methods)


def _resources(config: Config) -> float:
    if not isinstance(config, CaseStudyConfig) or config.bridge.kind != "trained":
        return 0.0
    trainings = [step for step in resource_steps(config) if step != Prepare("encoder")]
    return config.bridge.steps * _rates(config, "csrl").step * len(trainings)


def _pool(config: Config) -> int:
    given = _data(config)
    return UNKNOWN_SIZE if given is None else given.pool


def _dev(config: Config) -> int:
    given = _data(config)
    return UNKNOWN_SIZE if given is None else given.dev or UNKNOWN_SIZE


def _test(config: Config) -> int:
    given = _data(config)
    return given.test if isinstance(given, SyntheticDataConfig) else UNKNOWN_SIZE


def _data(config: Config) -> SyntheticDataConfig | PublicDataConfig | None:
    """Data whose size the config tells; files of your own are not opened for a guess."""
    given = config.data if isinstance(config, CaseStudyConfig) else None
    return given if isinstance(given, SyntheticDataConfig | PublicDataConfig) else None


LABELLED = ("duconv/dev", "duconv/test", "rewrite/all")
OTHER_DOMAIN = ("personal-dialog/test", "restoration/valid")
FOR_THE_BRIDGE = ("chinese-propbank/train", "chinese-propbank/dev", "news-dialog/test")

OF_AN_ENCODER = {
    "config.json": ("config.json",),
    "weights": (
        "model.safetensors",
        "model.safetensors.index.json",
        "pytorch_model.bin",
        "pytorch_model.bin.index.json",
    ),
    "a vocabulary": ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model"),
}
"""What transformers must find, and the names that each goes by."""

ONE_CHECKPOINT = ("base", "multitask-base", "base-full")
NETWORKS = {"mt": 4, "cps": 4, "scot": 4, "stea": 4, "fdt-readers": 3}
NETWORKS |= {name: 4 for name, spec in METHODS.items() if spec.procedure == "strong-friends"}
"""Of these methods, which have second models, teachers or strong friends beside the two tasks' own networks."""

BYTES = 4
LONGEST = 128
"""Tokens of a text where a task says nothing else."""

LIBRARIES = 1_500_000_000
"""Bytes of memory that torch, transformers and the pool take before any network is there."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a run needs. `here` is where it is or how much; `missing` what is wrong, empty if nothing."""

    what: str
    here: str = ""
    missing: str = ""


def needs_of(config: Config, folder: Path, data_dir: Path | None) -> list[Need]:
    """Everything that a run of this config in this folder needs, whether it is here or not."""
    if isinstance(config, CaseStudyConfig):
        given = [*_data_needs(config, data_dir), *_encoder(config), *_parsers(config)]
    else:
        given = list(_own(config, data_dir))
    return [
        *given,
        *_engine(config),
        _disk(config, folder),
        _memory(config),
    ]


def _own(config: Config, data_dir: Path | None) -> Iterator[Need]:
    """Files and encoders of tasks of any kind."""
    assert isinstance(config, FriendsConfig), "there is no other"
    files = {"pool.file": config.pool.file}
    for name, section in config.tasks.items():
        files |= {
            f"tasks.{name}.{part}": given for part in ("gold", "dev", "test") if (given := getattr(section, part, ""))
        }
        if (source := getattr(section, "encoder", None)) is not None:
            yield from _encoder_at(source)
    for what, given in files.items():
        path = (data_dir or Path()) / given.replace("{seed}", str(config.seed))
        yield Need(what, str(path)) if path.exists() else Need(what, missing=f"there is no {path}")


def _data_needs(config: CaseStudyConfig, data_dir: Path | None) -> Iterator[Need]:
    data = config.data
    if isinstance(data, FileDataConfig):
        for name, given in data.model_dump(exclude={"kind"}).items():
            path = (data_dir or Path()) / given
            there = "://" in given or path.exists() or any(path.parent.glob(path.name))
            yield Need(f"data.{name}", str(path)) if there else Need(f"data.{name}", missing=f"there is no {path}")
    elif isinstance(data, PublicDataConfig):
        folder = named_data_folder(data_dir)
        names = [*LABELLED, *(OTHER_DOMAIN if data.scenario == "domain-generalisation" else ())]
        for name in names + [*FOR_THE_BRIDGE] * (config.bridge.kind == "trained"):
            try:
                yield Need(name, str(part_path(name, folder)))
            except DataError as error:
                yield Need(name, missing=str(error).removeprefix(f"{name} is "))
        if data.pool_of == "chats":
            yield _pool_needs(data, folder)


def _pool_needs(data: PublicDataConfig, folder: Path | None) -> Need:
    what = f"{data.pool:,} unlabeled dialogues"
    if folder is None:
        return Need(what, missing="they are searched in the data folder")
    try:
        pool = build_pool(folder, count=data.pool, exclude=(), seed=POOL_SEED, evenly=data.pool_corpora)
    except DataError as error:
        names = " or ".join(data.pool_corpora or ("lccc",))
        return Need(what, missing=f"{error}; where there is internet, `friend-train data fetch` gets more: {names}")
    counts = Counter(dialogue.id.partition("/")[0] for dialogue in pool)
    return Need(what, ", ".join(f"{count:,} of {corpus}" for corpus, count in counts.items()))


def _encoder(config: CaseStudyConfig) -> Iterator[Need]:
    if isinstance(config.encoder, PretrainedEncoderConfig):
        yield from _encoder_at(config.encoder.source)


def _encoder_at(source: str) -> Iterator[Need]:
    what, place = f"encoder {source}", Path(model_source(source))
    lacks = [part for part, names in OF_AN_ENCODER.items() if not any(model_file(source, name) for name in names)]
    if not lacks:
        yield Need(what, str(place) if place.is_dir() else "in the hub's cache")
    elif place.is_dir():
        yield Need(what, missing=f"{place} lacks {', '.join(lacks)}")
    else:
        yield Need(
            what,
            missing=f"neither a folder, nor one below FRIEND_TRAINING_MODELS, nor in the hub's cache;"
            f" where there is internet, `hf download {source}` gets it, and so does the run itself",
        )


def _parsers(config: CaseStudyConfig) -> Iterator[Need]:
    """Of the parsers only those that are queried: the bridge where a method does, LTP where it finds predicates."""
    data, bridge = config.data, config.bridge
    finds = isinstance(data, PublicDataConfig) and data.finder == "hanlp-frames"
    if isinstance(bridge, HanlpBridgeConfig) and (finds or asks_bridge(config)):
        yield Need(f"HanLP with {bridge.model}", "here", missing_of_hanlp(bridge.model))
    folders = {data.ltp} if isinstance(data, PublicDataConfig) and not finds else set()
    if isinstance(bridge, LtpBridgeConfig) and asks_bridge(config):
        folders.add(bridge.source)
    if isinstance(bridge, SavedBridgeConfig) and asks_bridge(config):
        place = Path(model_source(bridge.source))
        there = (place / "task.json").is_file()
        yield Need("the saved bridge", str(place), "" if there else f"{place} holds no bridge, such as RUN/bridge")
    for source in sorted(str(folder) for folder in folders):
        place = Path(model_source(source))
        lacks = [name for name in LTP_FILES if not (place / name).is_file()]
        yield Need(f"LTP in {source}", str(place), f"{place} lacks {', '.join(lacks)}" if lacks else "")


def _engine(config: Config) -> Iterator[Need]:
    if config.engine.kind == "ray":
        missing = "" if find_spec("ray") else "it is not installed: pip install 'friend-training[ray]'"
        yield Need("the package 'ray'", "installed", missing)


def _disk(config: Config, folder: Path) -> Need:
    """Nearly all of a run folder are weights: every network of every method after every iteration."""
    saved = sum(
        NETWORKS.get(method, len(config.sections)) * (1 if method in ONE_CHECKPOINT else config.iterations + 1)
        for method in config.methods
        if METHODS[method].procedure != "score-only"
    )
    needed = saved * encoder_size(config).parameters * BYTES
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return _amount("disk", needed, shutil.disk_usage(there).free, f"free at {there}")


def _memory(config: Config) -> Need:
    """The method with the most networks, one of which is being trained, and what its batch leaves for the way back."""
    size = encoder_size(config)
    networks = max(
        (NETWORKS.get(method, len(config.sections)) for method in config.methods), default=len(config.sections)
    )
    optimizer = 3 * size.parameters  # gradient and the two moments of AdamW
    needed = BYTES * (networks * size.parameters + optimizer) + _activations(config, size) + LIBRARIES
    if not hasattr(os, "sysconf"):
        return Need("memory", f"about {_gigabytes(needed)} needed; how much there is cannot be told on this system")
    return _amount("memory", needed, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "on this machine")


def _activations(config: Config, size: EncoderSize) -> int:
    """Some 17 vectors per token and layer, and the attention between tokens, 2.5 numbers per head."""
    batch: int = max(section.training.batch_size for section in config.sections.values())
    length = config.max_length if isinstance(config, CaseStudyConfig) else LONGEST
    tokens = batch * length
    heads = max(size.width // 64, 1)
    return BYTES * tokens * size.layers * (17 * size.width + 5 * heads * length // 2)


def _amount(what: str, needed: int, there: int, where: str) -> Need:
    told = f"about {_gigabytes(needed)} needed, {_gigabytes(there)} {where}"
    return Need(what, told, told if there < needed else "")


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
