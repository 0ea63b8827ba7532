"""How long an experiment will take: as long as its results took before, else by what there is to train and label.

What is unknown is modelled: optimizer steps and labelled dialogues times what each takes with this kind of encoder
(RATES), corrected by how far the model was off for those results that tell their seconds.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from friend_training.data.catalogue import model_file
from friend_training.experiments.experiment import Piece
from friend_training.methods.registry import METHODS
from friend_training.runs.steps import Prepare
from friend_training.study.config import CaseStudyConfig
from friend_training.study.methods import BUDGET
from friend_training.study.resources import resource_steps
from friend_training.study.sections import Config, PublicDataConfig, ScratchEncoderConfig, SyntheticDataConfig


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds of an optimizer step (16 examples, its share of evaluations on dev) and of predicting one dialogue."""

    step: float
    answer: float


RATES = {"scratch": Rates(0.125, 0.0025), "pretrained": Rates(0.6, 0.01)}
"""Measured on two cores with two runs side by side: 2 layers × 128 from scratch, ernie-3.0-nano (4 × 312)."""

SCRATCH_SIZE = 2 * 128
PRETRAINED_SIZE = 4 * 312**2
SCRATCH_VOCABULARY = 4000
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
    rates = _rates(config)
    base: int = sum(section.base_steps for section in config.sections.values())
    updates: int = config.iterations * sum(section.update_steps for section in config.sections.values())
    if spec.procedure in ("base", "multitask"):
        steps, labelled, scored = float(base * (BUDGET if spec.all_gold else 1)), 0, 1
    else:
        steps = updates * spec.step_cost + (base if spec.from_encoder else 0)
        labelled, scored = config.iterations * spec.label_parts * _pool(config), config.iterations + 1
    dev, test = _dev(config), _test(config)
    answers = labelled + len(config.sections) * (scored * dev + test)
    return steps * rates.step + answers * rates.answer


def _rates(config: Config) -> Rates:
    if not isinstance(config, CaseStudyConfig):
        return RATES["pretrained"]
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


def whole_run(config: Config) -> float:
    """Seconds of a run of this config from nothing, on the machine that RATES were measured on."""
    return _resources(config) + sum(modelled(config, method) for method in config.methods)


def _resources(config: Config) -> float:
    if not isinstance(config, CaseStudyConfig) or config.bridge.kind != "trained":
        return 0.0
    trainings = [step for step in resource_steps(config) if step != Prepare("encoder")]
    return config.bridge.steps * _rates(config).step * len(trainings)


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
