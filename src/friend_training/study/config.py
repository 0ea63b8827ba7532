"""The config of a run: what may be set, what it is where nothing is said, and what each setting is for.

The sentence below a setting is its description: `friend-train config show` prints it. Unknown settings are errors.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

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
from pydantic.fields import FieldInfo

from friend_training.core import selector
from friend_training.core.yaml_values import read_yaml
from friend_training.errors import ConfigError
from friend_training.methods.registry import METHODS
from friend_training.study.aliases import OLD_CONFIG_NAMES, current_form

# What all sections of a config share: every setting is known and stays what it is.


Share = Annotated[float, Field(ge=0, le=1)]


Count = Annotated[int, Field(ge=1)]


Rate = Annotated[float, Field(gt=0)]


PlainName = Annotated[str, Field(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""A name that folders are called by: letters, digits, . + - and _, and no way out of the folder that they are in."""


_LONGEST_SHOWN = 100


class Section(BaseModel):
    """Settings that belong together. The sentence below a setting is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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


# Where dialogues and labels come from: made by us, public, or your own files.


PoolCorpus = Literal["lccc", "xdailydialog", "cped", "corecode", "kdconv", "duconv-raw"]


class SyntheticDataConfig(Section):
    """Dialogues that the project makes itself. Gold of the two tasks comes from different dialogues."""

    kind: Literal["synthetic"]
    """Dialogues that the project makes itself; nothing has to be there."""
    domain: Literal["film", "travel"] = "film"
    """What the dialogues with gold labels are about."""
    target: Literal["film", "travel"] = "film"
    """What dev, test and the unlabeled pool are about; another one than `domain` is domain generalisation."""
    csrl_labels: Count = 300
    """Labelled predicates that CSRL starts with, drawn with the seed."""
    rewriting_labels: Count = 500
    """Labelled dialogues that rewriting starts with, drawn with the seed."""
    dev: Count = 300
    """Dialogues of dev."""
    test: Count = 1000
    """Dialogues of test."""
    pool: Count = 2000
    """Unlabeled dialogues."""
    bridge_sentences: Count = 4000
    """Labelled sentences that a trained bridge learns from; a tenth of them is its dev."""


class PublicDataConfig(Section):
    """The public datasets, found by --data-dir or FRIEND_TRAINING_DATA, in the splits that all experiments share."""

    kind: Literal["public"]
    """The public datasets, found by --data-dir or FRIEND_TRAINING_DATA; `friend-train data list` names them."""
    scenario: Literal["few-shot", "domain-generalisation"]
    """Few-shot tests in the domain of the labels, domain generalisation in another one."""
    csrl_labels: Count | None = None
    """Labelled predicates that CSRL starts with, drawn with the seed; null takes all there are."""
    rewriting_labels: Count | None = None
    """Labelled dialogues that rewriting starts with, drawn with the seed; null takes all there are."""
    dev: Count | None = 300
    """Predicates and dialogues of dev; null takes all there are."""
    pool: Count = 3000
    """Unlabeled dialogues."""
    finder: Literal["ltp-verbs", "ltp-framed-verbs", "hanlp-frames"] = "ltp-framed-verbs"
    """Who finds the predicates of unlabeled dialogues: LTP, or HanLP where that is the bridge."""
    ltp: str | None = "ltp-tiny-zh-srl"
    """LTP's folder, or its name below FRIEND_TRAINING_MODELS; null where the finder is HanLP."""
    pool_of: Literal["chats", "labelled"] = "chats"
    """Dialogues that nobody has labelled, or training dialogues that were not drawn, whose hidden gold can tell which
    pseudo-labels are right (few-shot only)."""
    pool_corpora: tuple[PoolCorpus, ...] = ()
    """Chats to take for the pool, as many of each; with none named, LCCC as in the paper and others when it is used
    up."""

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


class FileDataConfig(Section):
    """Your own files, in any known format."""

    kind: Literal["files"]
    """Your own files, in any format that `friend-train data` knows; paths begin at --data-dir."""
    csrl_train: str
    """Dialogues with labelled predicates, to train CSRL on."""
    csrl_dev: str
    """The same for dev: early stopping, and the choice of an iteration."""
    csrl_test: str
    """The same for test, which nothing is chosen by."""
    rewriting_train: str
    """Dialogues with rewrites, to train rewriting on."""
    rewriting_dev: str
    """The same for dev."""
    rewriting_test: str
    """The same for test."""
    pool: str
    """Unlabeled dialogues with the predicates that the file gives; a folder, a pattern with * or an address (s3://…)
    is a pool of shards, which is never held in memory and whose broken dialogues are set aside."""


# The pick threshold: a number, or what it is to be found by (the paper's open question).


class PrecisionThresholdConfig(Section):
    """Found anew in each iteration on dev, which is labelled as if it had no labels (loop/thresholds.py)."""

    precision: Share
    """The share of the chosen that is expected to be right, by dev; the lowest such threshold is taken."""


class ShareThresholdConfig(Section):
    """Found anew in each iteration on the pool itself."""

    share: Share
    """The share of the units that can be chosen that is to be chosen."""


FoundThreshold = PrecisionThresholdConfig | ShareThresholdConfig


def _kind(given: Any) -> str | None:
    match given:
        case PrecisionThresholdConfig() | {"precision": _}:
            return "precision"
        case ShareThresholdConfig() | {"share": _}:
            return "share"
        case dict():
            return None
        case _:
            return "number"


PickThreshold = Annotated[
    Annotated[Share, Tag("number")]
    | Annotated[PrecisionThresholdConfig, Tag("precision")]
    | Annotated[ShareThresholdConfig, Tag("share")],
    Discriminator(
        _kind,
        custom_error_type="threshold",
        custom_error_message="expected a number, {precision: 0.8} or {share: 0.1}",
    ),
]


def pick_of(threshold: float | FoundThreshold) -> selector.Pick:
    """The rule that a selector picks by."""
    match threshold:
        case PrecisionThresholdConfig(precision=target):
            return selector.Precision(target)
        case ShareThresholdConfig(share=fraction):
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
"""`PredicateMark` of tasks/role_labelling.py, written again: that imports torch, and a config must not wait for it."""


Repeats = Literal["apart", "joined", "once"]
"""`Adjacent` of tasks/role_labelling.py, for the same reason."""


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


class ScratchEncoderConfig(Section):
    """A small transformer of our own making (nn/pretraining.py)."""

    kind: Literal["scratch"]
    """A small transformer of our own making; its word embeddings come from the unlabeled text."""
    layers: Count = 2
    """Layers of the transformer."""
    width: Count = 128
    """Numbers per token."""
    heads: Count = 4
    """Attention heads; each needs an even part of the width."""
    dropout: Share = 0.1
    """Share of the numbers that training leaves out at random."""

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        # Rotary positions turn the numbers of a head in pairs.
        if self.width % (2 * self.heads):
            raise ValueError(f"{self.heads} heads cannot share a width of {self.width}: each needs an even part of it")
        return self


class PretrainedEncoderConfig(Section):
    """Any encoder of transformers with a fast tokenizer."""

    kind: Literal["pretrained"]
    """Any encoder of transformers with a fast tokenizer."""
    source: str
    """Its folder, its name below FRIEND_TRAINING_MODELS, or its name on the hub."""


class TrainedBridgeConfig(Section):
    """Our own sentence SRL model: it is given the predicate and answers for it. Trained before everything else."""

    kind: Literal["trained"]
    """Our own sentence SRL model, trained before everything else: it is given the predicate and answers for it."""
    steps: Count = 1000
    """Training steps."""
    patience: Count | None = None
    """Training stops after so many evaluations on dev without a better one; null never stops early."""
    dev: Count = 300
    """Sentences that early stopping evaluates on."""
    predicate_mark: Mark = "after"
    """Where the bridge is told of its predicate: in the encoder's input, or after the encoder, which is faster."""
    adjacent: Repeats = "apart"
    """Where a role may begin anew: right behind itself (apart), only after something else (joined), or nowhere (once:
    of several spans the likeliest is taken)."""


class LtpBridgeConfig(Section):
    """LTP's parser."""

    kind: Literal["ltp"]
    """LTP's sentence SRL parser."""
    source: str = "ltp-tiny-zh-srl"
    """Its folder, or its name below FRIEND_TRAINING_MODELS."""


class HanlpBridgeConfig(Section):
    """A pre-trained model of HanLP."""

    kind: Literal["hanlp"]
    """A pre-trained model of HanLP (the extra friend-training[hanlp])."""
    model: str = "CLOSE_TOK_POS_NER_SRL_DEP_SDP_CON_ELECTRA_SMALL_ZH"
    """HanLP's name of the model."""


class TrainingConfig(Section):
    """AdamW with warm-up and linear decay; two rates, because heads start from nothing and encoders do not."""

    batch_size: Count = 16
    """Examples per training step; lower it where memory is short."""
    encoder_rate: Rate = 1e-4
    """Learning rate of the encoder."""
    head_rate: Rate = 1e-3
    """Learning rate of what stands on the encoder and starts from nothing."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    """AdamW's weight decay."""
    warm_up: Share = 0.1
    """Share of the steps in which the rates rise; then they fall to zero in a line."""
    clip: Rate = 1.0
    """Longest norm of the gradients; longer ones are cut to it."""
    look_every: Count = 50
    """Steps between two evaluations on dev; the best weights are kept."""
    early_stopping_units: Count = 300
    """Units of dev that those evaluations see at most."""
    labelling_pieces: Count = 1024
    """Tokens per batch when the model predicts; lower it where memory is short."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """What the encoder computes in, in training and when it labels; bf16 is fast on processors that have it."""


class TaskConfig(Section):
    """One task of the run: its Base, its updates, its selector."""

    base_steps: Count = 400
    """Training steps of Base, the model that all methods start from."""
    base_patience: Count | None = 4
    """Base stops after so many evaluations on dev without a better one; null never stops early."""
    update_steps: Count = 150
    """Training steps of each iteration's update on gold and chosen pseudo-labels."""
    restart: bool = False
    """Whether an update starts from the encoder again; otherwise it goes on from the last weights."""
    pseudo_weight: Annotated[float, Field(ge=0)] = 1.0
    """The paper's λ: what a pseudo-label weighs in the loss, where gold weighs 1."""
    pick_threshold: PickThreshold = 0.6
    """The score from which a pseudo-label is chosen: a number, {precision: 0.8} (of the chosen so many are expected to
    be right, by dev) or {share: 0.1} (of the units that can be chosen)."""
    sst_threshold: PickThreshold = 0.6
    """The same for self-training, whose score is the confidence alone."""
    confidence_weight: Share = 0.2
    """The paper's α and β: what confidence weighs in the score; the match with the friend weighs the rest."""
    content: Literal["any", "only"] = "only"
    """Whether any label may be chosen, or only one that says something: an argument, an insertion."""
    balance: Literal["none", "gold", "dev"] = "none"
    """Whether labels of each kind (an argument in another turn or none; a rewrite that changes something or not) are
    chosen as often as gold has them, or dev, for a domain that gold is not of."""
    training: TrainingConfig = TrainingConfig()
    """How this task's model is trained."""


class TasksConfig(Section):
    """The two tasks of the case study."""

    csrl: TaskConfig = TaskConfig()
    """Conversational semantic role labelling: the arguments of a predicate, wherever in the dialogue they are."""
    rewriting: TaskConfig = TaskConfig()
    """Dialogue rewriting: the last utterance, so that it can be understood alone."""


class FriendshipConfig(Section):
    """How the translations of the two tasks are compared (friendships/csrl_rewriting.py)."""

    scoring: Literal["paper", "role-aware"] = "paper"
    """Whether arguments are compared as the paper does it, run together, or role by role."""
    mean: Literal["geometric", "arithmetic"] = "geometric"
    """How a rewrite's match is averaged over its predicates."""
    speakers: Literal["keep", "drop"] = "keep"
    """Whether a bare speaker token (a dropped I or you) that the other side does not write out counts, or is left out
    of the comparison."""


class JointConfig(Section):
    """How labels are decided on together with a friend (core/joint.py)."""

    match_weight: Annotated[float, Field(ge=0)] = 64.0
    """γ: what the match with the friend weighs beside the log-probabilities of the two models."""
    temperature: Rate = 1.0
    """Log-probabilities are divided by it: above 1 the models are trusted less."""
    best: Count = 16
    """How many of a model's likeliest labels are considered."""
    edits_match_weight: Annotated[float, Field(ge=0)] = 16.0
    """γ where rewrites are decided on."""
    sure: Share = 0.95
    """What the rewriter's likeliest scripts must agree on, of their probability, for a place that the friend says
    nothing of to be learnt."""


class LocalEngineConfig(Section):
    """Label the pool on this machine."""

    kind: Literal["local"]
    """This machine labels the pool."""
    workers: Count = 1
    """One works in this process, more in as many processes of their own."""


class RayEngineConfig(Section):
    """Label the pool on a Ray cluster."""

    kind: Literal["ray"]
    """A Ray cluster labels the pool (the extra friend-training[ray])."""
    address: str | None = None
    """The cluster's address; 'auto' is the one this machine belongs to, null one that is started here and now."""
    workers: Count | None = None
    """Shards in work at a time; null is as many as the cluster has processors."""


THIS_PROCESS = LocalEngineConfig(kind="local", workers=1)


class Config(Section):
    """A whole run."""

    name: PlainName
    """What the run is called, in tables and in the name of its folder."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Draws labels, weights and batches; the same seed gives the same bits."""
    threads: Count = 1
    """Batches labelled side by side, and threads that share a training batch; another number is another run, as
    another seed is. One is best where several runs go on at once (--jobs)."""
    methods: tuple[Method, ...] = ("base", "sst", "fdt")
    """Methods to run, each after those that it needs (docs/methods.md)."""
    data: Annotated[SyntheticDataConfig | PublicDataConfig | FileDataConfig, Field(discriminator="kind")]
    """Where dialogues and labels come from."""
    encoder: Annotated[ScratchEncoderConfig | PretrainedEncoderConfig, Field(discriminator="kind")]
    """The encoder that every model starts from."""
    bridge: Annotated[TrainedBridgeConfig | LtpBridgeConfig | HanlpBridgeConfig, Field(discriminator="kind")]
    """The sentence SRL parser that reads rewrites, so that they can be compared with CSRL."""
    max_length: Annotated[int, Field(ge=8)] = 125
    """Tokens of a dialogue that a model sees, special ones included; the oldest context is cut first."""
    predicate_mark: Mark = "after"
    """Where CSRL is told of its predicate: in the encoder's input, which costs a pass per predicate, or after the
    encoder."""
    span_source: Literal["context", "dialogue"] = "dialogue"
    """Where insertions of a rewrite are copied from: the turns before, or the last utterance too."""
    iterations: Annotated[int, Field(ge=0)] = 2
    """How often the pool is labelled and the models updated; the best iteration on dev is reported."""
    shard_size: Count = 1000
    """Dialogues of the pool that are labelled and stored together; a stopped run loses one shard at most."""
    tasks: TasksConfig = TasksConfig()
    """The tasks: their Base, their updates and what is chosen for them."""
    bridge_training: TrainingConfig = TrainingConfig()
    """How a trained bridge is trained."""
    friendship: FriendshipConfig = FriendshipConfig()
    """How the predictions of the two tasks are compared."""
    joint: JointConfig = JointConfig()
    """How labels are decided on together with a friend, by methods that do so."""
    engine: Annotated[LocalEngineConfig | RayEngineConfig, Field(discriminator="kind")] = THIS_PROCESS
    """Who labels the pool; the results are the same."""
    device: Device = "auto"
    """Where networks compute: cpu, cuda, cuda:N (a graphics card), mps (Apple's), or auto, the best that is there; a
    run may be resumed on another one."""
    informed: bool = False
    """Whether CSRL learns the bridge's training sentences before its own gold, so that every method starts from what
    the bridge was trained on."""
    repeated_roles: Repeats = "apart"
    """Where a role may begin anew in what CSRL predicts: right behind itself (apart), only after something else
    (joined), or nowhere (once: of several spans the likeliest is taken)."""
    predicate_as_argument: Literal["allowed", "never"] = "allowed"
    """Whether the words of a predicate may be part of its own arguments in what CSRL predicts."""
    pronouns: Literal["kept", "resolved"] = "kept"
    """Whether a bare pronoun that the bridge finds is an argument to train CSRL on, or stands for one elsewhere."""
    checked_labels: Literal["balanced", "all"] = "balanced"
    """Of labels whose arguments were chosen one by one: as many of each kind as gold's balance allows, or all."""
    rewriting_turns: Count | None = None
    """Turns before the last utterance that the rewriter sees; null is all that fit."""
    rewriting_metric: Literal["em", "restored_f1"] = "em"
    """The score on dev that stops rewriters and compares iterations: exact match, or restored F1, which does not favour
    who rewrites nothing."""
    insertion_spans: Literal["apart", "together"] = "apart"
    """Whether first and last token of an insertion are chosen apart, or together as a span of one turn."""

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
        finds = isinstance(data, PublicDataConfig) and data.finder == "hanlp-frames"
        if finds and not isinstance(bridge, HanlpBridgeConfig):
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


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file and change some of its values: `--set tasks.csrl.base_steps=300`."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such config file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: a config is UTF-8 text; byte {error.start} is not") from None
    return parse_config(text, str(path), overrides)


def parse_config(text: str, where: str, overrides: Sequence[str] = ()) -> Config:
    values = read_yaml(text, where)
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: a config is a mapping of settings, this is {type(values).__name__}")
    values = current_form(values)
    for override in overrides:
        values = current_form(_override(values, override))
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise settings_refused(error, where) from None


def config_text(config: Config) -> str:
    """The config as YAML, complete: what a run folder keeps."""
    dumped: str = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return dumped


# --set: any setting can be changed, whether the file has it or leaves it as it is in code.


def _override(values: dict[str, Any], override: str) -> dict[str, Any]:
    name, separator, text = override.partition("=")
    if not separator:
        raise ConfigError(f"--set {override}: key=value was expected, such as tasks.csrl.base_steps=300")
    value = read_yaml(text, f"--set {' '.join(override.split())[:80]}")
    return _changed(values, name.split("."), value, (Config,), override)


def _changed(
    values: Any, path: Sequence[str], value: Any, sections: Sequence[type[Section]], override: str
) -> dict[str, Any]:
    """A copy along the path: sections that a YAML alias (*training) shares must not change together.

    `sections` are those that the values may be of.
    """
    first, *rest = path
    fields = _fields(values, sections)
    if first not in fields:
        here = f"; here are {', '.join(fields)}" if fields else ""
        raise ConfigError(f"--set {override}: there is no setting {override.partition('=')[0]!r}{here}")
    if not rest:
        return {**values, first: value}
    default = fields[first].default
    before = values.get(first, default.model_dump(mode="json") if isinstance(default, Section) else {})
    return {**values, first: _changed(before, rest, value, _sections(fields[first].annotation), override)}


def _fields(values: Any, sections: Sequence[type[Section]]) -> dict[str, FieldInfo]:
    """The settings that a section can have, of its kind if it says which one it is."""
    if not isinstance(values, dict):
        return {}
    kinds = {section: get_args(section.model_fields["kind"].annotation) for section in sections if _has_kind(section)}
    chosen = [section for section, names in kinds.items() if values.get("kind") in names] or sections
    return {name: field for section in chosen for name, field in section.model_fields.items()}


def _has_kind(section: type[Section]) -> bool:
    return "kind" in section.model_fields


def _sections(annotation: Any) -> list[type[Section]]:
    """All sections that a setting's type allows."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [section for part in get_args(annotation) for section in _sections(part)]


# The configs that come with the package, found wherever it is installed: those that need no data.


FOLDER = Path(__file__).parent


def shipped_configs() -> dict[str, Path]:
    """The configs that come with the package, by name."""
    return {found.stem: found for found in sorted(FOLDER.glob("*.yaml"))}


def find_config(given: str | Path, overrides: Sequence[str] = (), *, folder: str | Path = "") -> Config:
    """A config by its path, from `folder` if it is relative, or by the name of one that comes with the package."""
    path = Path(folder) / given
    if not path.is_file():
        shipped, name = shipped_configs(), OLD_CONFIG_NAMES.get(str(given), str(given))
        if name not in shipped:
            raise ConfigError(f"{given}: no such config file; by name there are {', '.join(shipped)}")
        path = shipped[name]
    return load_config(path, overrides)


# A config in full, with what each of its settings is for: the sentences of the models in config.py.


_WIDTH = 100


def explained_config(config: Config) -> str:
    """The config as YAML, complete, each setting below the sentence that describes it; it can be saved and run.

    Sections of one kind (the two tasks, every training) are described where the first of them stands.
    """
    return "\n".join(_lines(config, "", set())).lstrip("\n") + "\n"


def _lines(section: Section, indent: str, described: set[type[Section]]) -> Iterator[str]:
    kind = type(section)
    new = kind not in described
    described.add(kind)
    for name, field in kind.model_fields.items():
        value = getattr(section, name)
        is_section = isinstance(value, Section) and not isinstance(value, FoundThreshold)
        if new or is_section:
            if not indent:
                yield ""
            comment = textwrap.wrap(_sentence(field), _WIDTH, break_on_hyphens=False)
            yield from (f"{indent}# {line}" for line in comment)
        if is_section:
            yield f"{indent}{name}:"
            yield from _lines(value, f"{indent}  ", described)
        else:
            note = "" if field.is_required() or value == field.default else f"  # {_inline(field.default)} if left out"
            yield f"{indent}{name}: {_inline(value)}{note}"


def _sentence(field: FieldInfo) -> str:
    values = list(_values(field.annotation))
    sentence = " ".join((field.description or "").split())
    return f"{sentence} [{' | '.join(values)}]" if len(values) > 1 else sentence


def _values(annotation: Any) -> Iterator[str]:
    """What can be written, where that is a choice; of a section that has kinds, the kinds."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, Section):
        if "kind" in annotation.model_fields:
            yield from _values(annotation.model_fields["kind"].annotation)
    else:
        for part in get_args(annotation):
            yield from _values(part)


def _inline(value: Any) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, Section) else value
    plain = list(plain) if isinstance(plain, tuple) else plain
    text: str = yaml.safe_dump(plain, default_flow_style=True, allow_unicode=True, width=_WIDTH)
    return text.removesuffix("...\n").rstrip("\n")


def opening_words(path: Path) -> str:
    """What a config file says of itself: the first sentence of the comment that it begins with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = " ".join(line.removeprefix("#").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
    return comment.partition(". ")[0].rstrip(".") + "."
