"""The config of a run: every setting written out, unknown keys are errors."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from friend_training.core import selector
from friend_training.core.yaml_values import read_yaml
from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS
from friend_training.study.aliases import OLD_CONFIG_NAMES, current_form

# What all sections of a config share: every setting is known and stays what it is.


Share = Annotated[float, Field(ge=0, le=1)]

Count = Annotated[int, Field(ge=1)]


PlainName = Annotated[str, Field(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""A name that folders are called by: letters, digits, . + - and _, and no way out of the folder that they are in."""


_LONGEST_SHOWN = 100


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def settings_refused(error: ValidationError, where: str) -> ConfigError:
    """All settings of a file that cannot be used: which, why, and what was given."""
    lines = [
        f"  {'.'.join(str(part) for part in found['loc'])}: {found['msg']} (given: {_shown(found['input'])})"
        for found in error.errors()
    ]
    return ConfigError(f"{where}: {len(lines)} setting(s) cannot be used:\n" + "\n".join(lines))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


# The section of a config that says where data come from: made by us, public, or your own files.


PoolCorpus = Literal["lccc", "xdailydialog", "cped", "corecode", "kdconv", "duconv-raw"]


class SyntheticDataConfig(Section):
    """Dialogues that the project makes itself. Gold of the two tasks comes from different dialogues.

    `domain` is where gold comes from, `target` what dev, test and the unlabeled pool are made of.
    """

    kind: Literal["synthetic"]
    domain: Literal["film", "travel"]
    target: Literal["film", "travel"]
    csrl_labels: Count
    rewriting_labels: Count
    dev: Count
    test: Count
    pool: Count
    bridge_sentences: Count


class PublicData(Section):
    """The public datasets, found by --data-dir or FRIEND_TRAINING_DATA, in the splits that all experiments share.

    Labels are so many predicates or dialogues drawn with the run's seed; null takes all there are. `pool_of`
    'labelled' makes the pool of training dialogues that are not among the drawn ones, whose hidden gold can tell which
    pseudo-labels are right; 'chats' are dialogues that nobody has labelled. `pool_corpora` are the chats to take, as
    many of each; empty is LCCC as in the paper, and others only when it is used up (data/pool.py).
    `dev` is so many predicates and dialogues of dev; null takes all there are.
    `finder` finds the predicates of chats: LTP, from the folder `ltp`, or the bridge, where that is HanLP; then `ltp`
    may be null.
    """

    kind: Literal["public"]
    scenario: Literal["few-shot", "domain-generalisation"]
    csrl_labels: Count | None
    rewriting_labels: Count | None
    dev: Count | None
    pool: Count
    finder: Literal["ltp-verbs", "ltp-framed-verbs", "hanlp-frames"]
    ltp: str | None
    pool_of: Annotated[Literal["chats", "labelled"], Field(exclude_if=lambda said: said == "chats")] = "chats"
    pool_corpora: Annotated[tuple[PoolCorpus, ...], Field(exclude_if=lambda names: not names)] = ()

    @field_validator("ltp")
    @classmethod
    def _ltp_is_named_where_it_is_used(cls, ltp: str | None, given: ValidationInfo) -> str | None:
        if ltp is None and given.data.get("finder") != "hanlp-frames":
            raise ValueError("this finder is LTP's: name its folder, or let finder be hanlp-frames")
        return ltp

    @field_validator("pool_of")
    @classmethod
    def _labels_are_left_over(cls, pool_of: str, given: ValidationInfo) -> str:
        if pool_of == "labelled" and given.data.get("scenario") != "few-shot":
            raise ValueError("labels are left over only in few-shot: all others of the target domain are dev or test")
        return pool_of


class FileData(Section):
    """Your own files, in any known format. Predicates of the pool are those that the file gives.

    A pool that is a folder, a pattern with * or an address (s3://…) is one of shards (data/sharded_pool.py): it is
    never held in memory, and its broken dialogues are set aside.
    """

    kind: Literal["files"]
    csrl_train: str
    csrl_dev: str
    csrl_test: str
    rewriting_train: str
    rewriting_dev: str
    rewriting_test: str
    pool: str


# The pick threshold in a config: a number, or what it is to be found by (the paper's open question).
#
# pick_threshold: 0.6
# pick_threshold: {precision: 0.8}    # the lowest of which 80 % of the chosen are expected to be right, by dev
# pick_threshold: {share: 0.1}        # whatever keeps a tenth of the units that can be chosen


class ToPrecision(Section):
    """Found anew in each iteration on dev, which is labelled as if it had no labels (loop/thresholds.py)."""

    precision: Share


class ToShare(Section):
    """Found anew in each iteration on the pool itself."""

    share: Share


def _kind(given: Any) -> str | None:
    match given:
        case ToPrecision() | {"precision": _}:
            return "precision"
        case ToShare() | {"share": _}:
            return "share"
        case dict():
            return None
        case _:
            return "number"


PickThreshold = Annotated[
    Annotated[Share, Tag("number")] | Annotated[ToPrecision, Tag("precision")] | Annotated[ToShare, Tag("share")],
    Discriminator(
        _kind,
        custom_error_type="threshold",
        custom_error_message="expected a number, {precision: 0.8} or {share: 0.1}",
    ),
]


def pick_of(threshold: float | ToPrecision | ToShare) -> selector.Pick:
    """The rule that a selector picks by."""
    match threshold:
        case ToPrecision(precision=target):
            return selector.Precision(target)
        case ToShare(share=fraction):
            return selector.Share(fraction)
        case _:
            return selector.Threshold(threshold)


def in_words(threshold: Any) -> str:
    """As a config's JSON has it: 0.6, precision 0.8, share 0.1."""
    return (
        " ".join(f"{name} {value:g}" for name, value in threshold.items())
        if isinstance(threshold, dict)
        else f"{threshold:g}"
    )


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


class TrainedBridgeConfig(Section):
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
    """How the translations of the two tasks are compared (see friendships/csrl_rewriting.py)."""

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
    its first gold label, CSRL learns the bridge's sentences (study/setup.py). It may be left out and is no then.

    How models are decoded may be left out, and is as printed then. `repeated_roles`: what becomes of a role that CSRL
    finds twice (tasks/role_labelling.py); 'once' keeps the likeliest span. `insertion_spans`: whether the rewriter
    chooses first and last token of an insertion apart or together (tasks/rewriting/decoding.py).

    `rewriting_turns`: so many of the turns before u_t are seen by the rewriter; left out, all that fit are. REWRITE's
    dialogues have two at most.

    `rewriting_metric`: by which score on dev rewriters are stopped and iterations compared; exact match if left out.
    Where many utterances need no rewrite, exact match keeps whoever rewrites nothing, and restored F1 does not.

    `pronouns`: whether a bare pronoun that the bridge finds is an argument where CSRL is trained on what the bridge
    says, or stands for one (friendships/joint_labels.py). It may be left out, and they are kept then.

    `checked_labels`: of labels whose arguments were chosen one by one, whether as many of each kind are learnt as
    gold's balance allows ('balanced', also when left out), or all of them.
    """

    name: PlainName
    seed: Annotated[int, Field(ge=0)]
    threads: Count
    methods: tuple[Method, ...]
    data: Annotated[SyntheticDataConfig | PublicData | FileData, Field(discriminator="kind")]
    encoder: Annotated[ScratchEncoder | PretrainedEncoder, Field(discriminator="kind")]
    bridge: Annotated[TrainedBridgeConfig | LtpBridge | HanlpBridge, Field(discriminator="kind")]
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
    for section in (Config, PublicData, TrainedBridgeConfig, Task, Training)
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
    values = current_form({**values, "engine": values.get("engine", THIS_PROCESS.model_dump(mode="json"))})
    for override in overrides or []:
        values = current_form(_override(values, override))
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


# The configs that come with the package, found wherever it is installed: those that need no data.


FOLDER = Path(__file__).parent


def find_config(given: str | Path, overrides: list[str] | None = None, *, folder: str | Path = "") -> Config:
    """A config by its path, from `folder` if it is relative, or by the name of one that comes with the package."""
    path = Path(folder) / given
    shipped = {found.stem: found for found in sorted(FOLDER.glob("*.yaml"))}
    if not path.is_file():
        name = OLD_CONFIG_NAMES.get(str(given), str(given))
        if name not in shipped:
            raise ConfigError(f"{given}: no such config file; by name there are {', '.join(shipped)}")
        path = shipped[name]
    return load_config(path, overrides)
