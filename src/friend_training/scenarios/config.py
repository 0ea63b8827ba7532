"""The config of a run: every setting written out, unknown keys are errors."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from friend_training.core.yaml_values import read_yaml
from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS
from friend_training.scenarios.data_sections import EmbeddedData, FileData, PublicData
from friend_training.scenarios.pick_thresholds import PickThreshold
from friend_training.scenarios.section import Count, PlainName, Section, Share, settings_refused

Mark = Literal["after", "input"]
"""`nn.role_labeller.PredicateMark`, written again because that room imports torch and a config must not wait for it."""

Checked = Literal["balanced", "all"]
Repeats = Literal["apart", "joined", "once"]
"""`nn.bio.Adjacent`, for the same reason."""


def _known(method: str) -> str:
    if method not in METHODS:
        raise ValueError(f"there is no such method; known are {', '.join(METHODS)}")
    return method


Method = Annotated[str, AfterValidator(_known)]
"""The name of a method; methods/registry.py lists them all."""


def _device(name: str) -> str:
    """By its spelling alone: whether this machine has it is asked when networks are made (nn/devices.py)."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?|mps", name):
        raise ValueError("expected auto, cpu, cuda, cuda:N or mps")
    return name


Device = Annotated[str, AfterValidator(_device)]


class ScratchEncoder(Section):
    """A small transformer of our own making; its embeddings come from the unlabeled text (nn/pretraining.py)."""

    kind: Literal["scratch"]
    layers: Count
    width: Count
    heads: Count
    dropout: Share

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        # Rotary positions turn the numbers of a head in pairs.
        if self.width % (2 * self.heads):
            raise ValueError(f"{self.heads} heads cannot share a width of {self.width}: each needs an even part of it")
        return self


class PretrainedEncoder(Section):
    """Any encoder of transformers with a fast tokenizer: a folder, one below FRIEND_TRAINING_MODELS, or a hub name."""

    kind: Literal["pretrained"]
    source: str


class TrainedBridge(Section):
    """Our own sentence SRL model: it is given the predicate and answers for it. Trained before everything else."""

    kind: Literal["trained"]
    steps: Count
    patience: Count | None
    dev: Count
    # Left out where they say what they said before they were written out: the name of a result must not change.
    predicate_mark: Annotated[Mark, Field(exclude_if=lambda mark: mark == "after")] = "after"
    adjacent: Annotated[Repeats, Field(exclude_if=lambda said: said == "apart")] = "apart"


class LtpBridge(Section):
    """LTP's parser, from a folder as PretrainedEncoder finds it."""

    kind: Literal["ltp"]
    source: str


class HanlpBridge(Section):
    """A pre-trained model of HanLP (the extra friend-training[hanlp])."""

    kind: Literal["hanlp"]
    model: str


class Training(Section):
    """AdamW with warm-up and linear decay; two rates, because heads start from nothing and encoders do not.

    `precision` 'bf16': the encoder computes in it, here and when it labels (nn/encoder.py). It may be left out.
    """

    batch_size: Count
    encoder_rate: Annotated[float, Field(gt=0)]
    head_rate: Annotated[float, Field(gt=0)]
    weight_decay: Annotated[float, Field(ge=0)]
    warm_up: Share
    clip: Annotated[float, Field(gt=0)]
    look_every: Count
    early_stopping_units: Count
    labelling_pieces: Count
    precision: Annotated[Literal["fp32", "bf16"], Field(exclude_if=lambda said: said == "fp32")] = "fp32"


class Task(Section):
    """One task of the run: its Base, its updates, its selector.

    `pick_threshold` and `confidence_weight` are the paper's; `sst_threshold` is self-training's own, since a threshold
    on confidence alone is another thing. Both are numbers, or found automatically (pick_thresholds.py).
    `content`: 'only' chooses nothing but labels that say something. `balance`: 'gold' chooses labels of each kind (an
    argument in another turn, or none; a rewrite that changes something, or not) as often as gold
    has them, 'dev' as often as dev has, for a domain that gold is not of.
    """

    base_steps: Count
    base_patience: Count | None
    update_steps: Count
    restart: bool
    pseudo_weight: Annotated[float, Field(ge=0)]
    pick_threshold: PickThreshold
    sst_threshold: PickThreshold
    confidence_weight: Share
    content: Literal["any", "only"]
    balance: Annotated[Literal["none", "gold", "dev"], Field(exclude_if=lambda said: said == "none")] = "none"
    training: Training


class Tasks(Section):
    csrl: Task
    rewriting: Task


class Friendship(Section):
    """How the translations of the two tasks are compared (see friends/csrl_rewriting.py)."""

    scoring: Literal["paper", "role-aware"]
    mean: Literal["geometric", "arithmetic"]
    speakers: Literal["keep", "drop"]


class LocalEngine(Section):
    """Label the pool on this machine: with one worker in this process, with more in as many of their own."""

    kind: Literal["local"]
    workers: Count


class RayEngine(Section):
    """Label the pool on a Ray cluster (the extra friend-training[ray]).

    `address` is that of the cluster, 'auto' the one this machine belongs to, null one that is started here and now.
    `workers` is how many shards are in work at a time; null is as many as the cluster has processors.
    """

    kind: Literal["ray"]
    address: str | None
    workers: Count | None


THIS_PROCESS = LocalEngine(kind="local", workers=1)


class Config(Section):
    """A whole run. `engine` may be left out: whoever labels, the results are the same.

    `threads`: so many batches are labelled side by side, and so many threads share each training batch. Another number
    is another run, as another seed would be; one is best where as many runs as cores go on at once (`--jobs`).

    `device`: where networks compute: 'cpu', 'cuda' or 'cuda:N' (a graphics card), 'mps' (Apple's), or 'auto', the best
    that is there. It belongs to the machine and not to the result: a run may be resumed on another device.

    `informed`: every method starts from what the bridge was trained on besides its gold (DESIGN 5.17): before Base sees
    its first gold label, CSRL learns the bridge's sentences (scenarios/informed.py). It may be left out and is no then.

    How models are decoded may be left out, and is as printed then. `repeated_roles`: what becomes of a role that CSRL
    finds twice (nn/bio.py); 'once' keeps the likeliest span. `insertion_spans`: whether the rewriter chooses first and
    last token of an insertion apart or together (tasks/rewriting/decoding.py).

    `rewriting_turns`: so many of the turns before u_t are seen by the rewriter; left out, all that fit are. REWRITE's
    dialogues have two at most.

    `rewriting_metric`: by which score on dev rewriters are stopped and iterations compared; exact match if left out.
    Where many utterances need no rewrite, exact match keeps whoever rewrites nothing, and restored F1 does not.

    `pronouns`: whether a bare pronoun that the bridge finds is an argument where CSRL is trained on what the bridge
    says, or stands for one (friends/pronouns.py). It may be left out, and they are kept then.

    `checked_labels`: of labels whose arguments were chosen one by one, whether as many of each kind are learnt as
    gold's balance allows ('balanced', also when left out), or all of them.
    """

    name: PlainName
    seed: Annotated[int, Field(ge=0)]
    threads: Count
    methods: tuple[Method, ...]
    data: Annotated[EmbeddedData | PublicData | FileData, Field(discriminator="kind")]
    encoder: Annotated[ScratchEncoder | PretrainedEncoder, Field(discriminator="kind")]
    bridge: Annotated[TrainedBridge | LtpBridge | HanlpBridge, Field(discriminator="kind")]
    max_length: Annotated[int, Field(ge=8)]
    predicate_mark: Mark
    span_source: Literal["context", "dialogue"]
    iterations: Annotated[int, Field(ge=0)]
    shard_size: Count
    tasks: Tasks
    bridge_training: Training
    friendship: Friendship
    engine: LocalEngine | RayEngine = Field(
        default=THIS_PROCESS, discriminator="kind", exclude_if=lambda engine: engine == THIS_PROCESS
    )
    device: Device = "auto"
    informed: Annotated[bool, Field(exclude_if=lambda informed: not informed)] = False
    repeated_roles: Annotated[Repeats, Field(exclude_if=lambda said: said == "apart")] = "apart"
    pronouns: Annotated[Literal["kept", "resolved"], Field(exclude_if=lambda said: said == "kept")] = "kept"
    checked_labels: Annotated[Checked, Field(exclude_if=lambda said: said == "balanced")] = "balanced"
    rewriting_turns: Annotated[Count | None, Field(exclude_if=lambda turns: turns is None)] = None
    rewriting_metric: Annotated[Literal["em", "restored_f1"], Field(exclude_if=lambda said: said == "em")] = "em"
    insertion_spans: Annotated[Literal["apart", "together"], Field(exclude_if=lambda said: said == "apart")] = "apart"

    @field_validator("methods")
    @classmethod
    def _methods_can_run_in_this_order(cls, methods: tuple[Method, ...]) -> tuple[Method, ...]:
        for number, method in enumerate(methods):
            missing = [name for name in METHODS[method].needs if name not in methods[:number]]
            if missing:
                raise ValueError(f"{method} needs {' and '.join(missing)} before it in the list")
        return methods

    @field_validator("bridge")
    @classmethod
    def _a_bridge_that_finds_predicates_is_hanlp(cls, bridge: Any, given: ValidationInfo) -> Any:
        data = given.data.get("data")
        if isinstance(data, PublicData) and data.finder == "hanlp-frames" and not isinstance(bridge, HanlpBridge):
            raise ValueError("data.finder is hanlp-frames, so the bridge must be hanlp too")
        return bridge

    @field_validator("informed")
    @classmethod
    def _all_methods_can_be_informed(cls, informed: bool, given: ValidationInfo) -> bool:
        if not informed or not given.data.keys() >= {"bridge", "data", "tasks", "methods"}:  # which say what is wrong
            return informed
        if given.data["bridge"].kind != "trained" or given.data["data"].kind == "files":
            raise ValueError("only of a bridge that is trained here are the training sentences known")
        if given.data["tasks"].csrl.restart:
            raise ValueError("tasks.csrl.restart would forget in each update what the bridge's sentences taught")
        others = [method for method in given.data["methods"] if METHODS[method].from_encoder]
        if others:
            raise ValueError(f"{', '.join(others)} trains networks of its own, which are not informed; leave it out")
        return informed


LATER_SETTINGS = {
    name
    for section in (Config, PublicData, TrainedBridge, Task, Training)
    for name, setting in section.model_fields.items()
    if not setting.is_required()
}
"""Settings that came later and that a config may leave out: they can be set where it does."""


def load_config(path: str | Path, overrides: list[str] | None = None) -> Config:
    """Read a YAML file and change some of its values: `--set tasks.csrl.base_steps=300`."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such config file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: a config is UTF-8 text; byte {error.start} is not") from None
    return parse_config(text, str(path), overrides)


def parse_config(text: str, where: str, overrides: list[str] | None = None) -> Config:
    values = read_yaml(text, where)
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: a config is a mapping of settings, this is {type(values).__name__}")
    values = {**values, "engine": values.get("engine", THIS_PROCESS.model_dump(mode="json"))}
    for override in overrides or []:
        values = _override(values, override)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise settings_refused(error, where) from None


def config_text(config: Config) -> str:
    """The config as YAML, complete: what a run folder keeps."""
    dumped: str = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return dumped


def _override(values: dict[str, Any], override: str) -> dict[str, Any]:
    name, separator, text = override.partition("=")
    if not separator:
        raise ConfigError(f"--set {override}: key=value was expected, such as tasks.csrl.base_steps=300")
    return _changed(values, name.split("."), read_yaml(text, f"--set {' '.join(override.split())[:80]}"), override)


def _changed(values: Any, path: list[str], value: Any, override: str) -> dict[str, Any]:
    """A copy along the path: sections that a YAML alias (*training) shares must not change together."""
    first, *rest = path
    new = not rest and first in LATER_SETTINGS
    if not isinstance(values, dict) or (first not in values and not new):
        raise ConfigError(f"--set {override}: there is no setting {override.partition('=')[0]!r} in this config")
    return {**values, first: _changed(values[first], rest, value, override) if rest else value}
