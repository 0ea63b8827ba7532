"""The sections of a config, and what every config shares. Which configs there are: config.py.

The sentence below a setting is its description: `friend-train config show` prints it. Unknown settings are errors.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
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
from friend_training.core.expected import expected
from friend_training.errors import ConfigError, did_you_mean
from friend_training.methods.registry import METHODS, meant_methods

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


def settings_refused(error: ValidationError, where: str, settings: type[Section], text: str = "") -> ConfigError:
    """All settings of a file that cannot be used: on which line of its text, why, and what was given."""
    node = yaml.compose(text, Loader=yaml.SafeLoader) if text else None
    lines = list(dict.fromkeys(f"  {_refused(found, settings, node)}" for found in error.errors()))
    return ConfigError(f"{where}: {len(lines)} setting(s) cannot be used:\n" + "\n".join(lines))


def _refused(found: Any, settings: type[Section], node: yaml.Node | None) -> str:
    parts, known = _place(found, settings)
    missing = found["type"] == "missing"
    line = None if missing and len(parts) == 1 else _line_of(node, parts[:-1] if missing else parts)
    name = ("" if line is None else f"line {line}, ") + ".".join(str(part) for part in parts)
    if not parts:  # of several settings together: it names them itself
        return expected(found)
    if missing:
        purpose = " ".join((known[str(parts[-1])].description or "").split()) if parts[-1] in known else ""
        return f"{name}: this setting is missing{f' ({purpose})' if purpose else ''}"
    if found["type"] == "extra_forbidden":
        meant = did_you_mean(parts[-1], known) or f"; here are {', '.join(known)}"
        return f"{name}: there is no such setting{meant}"
    given = found["ctx"]["tag"] if found["type"] == "union_tag_invalid" else found["input"]
    return f"{name}: {expected(found)} (given: {_shown(given)})"


def _place(found: Any, settings: type[Section]) -> tuple[list[str | int], dict[str, FieldInfo]]:
    """Where something is wrong as a file has it, without the kinds that pydantic tried, and the settings there."""
    sections, named = [settings], False
    known: dict[str, FieldInfo] = {}
    parts: list[str | int] = []
    for part in found["loc"]:
        known = {name: field for section in sections for name, field in section.model_fields.items()}
        kinds = [section for section in sections if part in kinds_of(section)]
        if part in known and not named:
            annotation = known[part].annotation
            sections, named = sections_in(annotation), get_origin(annotation) is dict
        elif isinstance(part, int) or named:
            named = False
        elif kinds:
            sections = kinds
            continue
        elif found["type"] != "extra_forbidden" or part != found["loc"][-1]:
            continue
        parts.append(part)
    return parts, known


def _line_of(node: yaml.Node | None, parts: Sequence[str | int]) -> int | None:
    line = None if node is None else node.start_mark.line + 1
    for part in parts:
        if isinstance(node, yaml.MappingNode):
            here = [(key, value) for key, value in node.value if key.value == str(part)]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            here = [(node.value[part], node.value[part])]
        else:
            here = []
        if not here:
            return None
        line, node = here[0][0].start_mark.line + 1, here[0][1]
    return line


def kinds_of(section: type[Section]) -> tuple[str, ...]:
    """What `kind` may be in a section that has kinds."""
    return get_args(section.model_fields["kind"].annotation) if "kind" in section.model_fields else ()


def sections_in(annotation: Any) -> list[type[Section]]:
    """All sections that a setting's type allows."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [section for part in get_args(annotation) for section in sections_in(part)]


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
    """A promise: found anew in each iteration on dev, which is labelled as if it had no labels (loop/thresholds.py)."""

    precision: Annotated[float, Field(gt=0, lt=1)]
    """The share of the chosen that is to be right; the lowest threshold for which dev proves it is taken."""
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.9
    """How sure that is to be: 0.9 keeps the promise in nine runs of ten."""


class ExpectedPrecisionConfig(Section):
    """An estimate, no promise: found anew in each iteration on dev, it misses its target in up to half of all runs."""

    expected_precision: Share
    """The share of the chosen that is expected to be right, by dev; the lowest such threshold is taken."""


class FalseDiscoveryConfig(Section):
    """Found anew in each iteration by conformal selection on dev."""

    false_discovery: Annotated[float, Field(gt=0, lt=1)]
    """The share of the chosen that is wrong at most, on average over runs."""


class ShareThresholdConfig(Section):
    """Found anew in each iteration on the pool itself."""

    share: Share
    """The share of the units that can be chosen that is to be chosen."""


FoundThreshold = PrecisionThresholdConfig | ExpectedPrecisionConfig | FalseDiscoveryConfig | ShareThresholdConfig


def _kind(given: Any) -> str | None:
    match given:
        case PrecisionThresholdConfig() | {"precision": _}:
            return "precision"
        case ExpectedPrecisionConfig() | {"expected_precision": _}:
            return "expected precision"
        case ShareThresholdConfig() | {"share": _}:
            return "share"
        case FalseDiscoveryConfig() | {"false_discovery": _}:
            return "false discovery"
        case dict():
            return None
        case _:
            return "number"


PickThreshold = Annotated[
    Annotated[Share, Tag("number")]
    | Annotated[PrecisionThresholdConfig, Tag("precision")]
    | Annotated[ExpectedPrecisionConfig, Tag("expected precision")]
    | Annotated[ShareThresholdConfig, Tag("share")]
    | Annotated[FalseDiscoveryConfig, Tag("false discovery")],
    Discriminator(
        _kind,
        custom_error_type="threshold",
        custom_error_message="expected a number, {precision: 0.8, confidence: 0.9}, {false_discovery: 0.2},"
        " {share: 0.1} or {expected_precision: 0.8}",
    ),
]


def pick_of(threshold: float | FoundThreshold) -> selector.Pick:
    """The rule that a selector picks by."""
    match threshold:
        case PrecisionThresholdConfig(precision=target, confidence=confidence):
            return selector.Precision(target, confidence=confidence)
        case ExpectedPrecisionConfig(expected_precision=target):
            return selector.Precision(target, confidence=None)
        case FalseDiscoveryConfig(false_discovery=level):
            return selector.FalseDiscovery(level)
        case ShareThresholdConfig(share=fraction):
            return selector.Share(fraction)
        case _:
            return selector.Threshold(threshold)


def in_words(threshold: Any) -> str:
    """As a config's JSON has it: 0.6, precision 0.8, share 0.1."""
    return (
        " ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in threshold.items())
        if isinstance(threshold, dict)
        else f"{threshold:g}"
    )


MatchWeight = Annotated[float, Field(ge=0)] | Literal["auto"]


Temperature = Rate | Literal["auto"]


Mark = Literal["after", "input"]
"""`PredicateMark` of tasks/csrl/model.py, written again: that imports torch, and a config must not wait for it."""


Repeats = Literal["apart", "joined", "once"]
"""`Adjacent` of tasks/csrl/model.py, for the same reason."""


def _known(method: str) -> str:
    if method not in METHODS:
        raise ValueError(f"there is no such method{meant_methods(method)}")
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
    """A small transformer of our own making (nn/encoder.py)."""

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


class WordEncoderConfig(Section):
    """A small encoder of words that a run makes of its raw text, those of gold and of the pool: a BiLSTM over vectors
    of words and of their beginnings and ends."""

    word: Count = 100
    """Numbers per word."""
    affix: Count = 50
    """Numbers per beginning or end of a word."""
    width: Count = 128
    """Numbers that each direction of the BiLSTM gives."""
    layers: Count = 2
    """Layers of the BiLSTM."""
    dropout: Share = 0.33
    """Share of the numbers that training leaves out at random."""
    forget: Share = 0.2
    """Share of the words that training sees as unknown ones."""


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


class SavedBridgeConfig(Section):
    """A bridge that another run has trained."""

    kind: Literal["saved"]
    """A bridge that was trained before: by another run, or by a program."""
    source: str
    """Its folder, such as runs/demo/bridge, or its name below FRIEND_TRAINING_MODELS."""


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


class SelectionConfig(Section):
    """How pseudo-labels of a task are made and chosen, by methods that compare with a friend and name no labels of
    their own."""

    choose: Literal["whole", "parts"] = "whole"
    """What of a chosen label is learnt: all of it, or its parts one by one (an argument, a tag, an arc, an edit), those
    that a friend disputes being left open; with pick: {share: 1.0} no label has to be right as a whole."""
    labels: Literal["own", "joint"] = "own"
    """Whose labels are learnt: the task's own, or those that it decides on together with its friends, from both sides'
    likeliest labels and what friends propose."""
    score: Literal["paper", "learned", "votes"] = "paper"
    """What pseudo-labels are chosen by: the paper's mix of confidence and match; the probability of being right that
    is fitted on dev in each iteration; or the one that the votes of the task and two friends or more come to, each as
    reliable as all of them make it look (EM)."""
    pick: PickThreshold | None = None
    """The rule, as `pick_threshold` of the task has it, in whose place it is taken; null leaves it to that."""


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
    """The score from which a pseudo-label is chosen: a number, {precision: 0.8} (of the chosen so many are right, as
    dev proves), {false_discovery: 0.2} or {share: 0.1} (of the units that can be chosen)."""
    sst_threshold: PickThreshold = 0.6
    """The same for self-training, whose score is the confidence alone."""
    confidence_weight: Share = 0.2
    """The paper's α and β: what confidence weighs in the score; the match with the friend weighs the rest."""
    content: Literal["any", "only"] = "only"
    """Whether any label may be chosen, or only one that says something: an argument, an insertion."""
    balance: Literal["none", "gold", "dev"] | dict[str, Share] = "none"
    """Whether labels of each kind (an argument in another turn or none; a rewrite that changes something or not) are
    chosen as often as gold has them, or dev, for a domain that gold is not of, or in shares of your own."""
    selection: SelectionConfig = SelectionConfig()
    """How pseudo-labels are chosen by methods that compare with a friend."""
    training: TrainingConfig = TrainingConfig()
    """How this task's model is trained."""

    @property
    def pick(self) -> float | FoundThreshold:
        """The rule of methods that compare with a friend."""
        return self.pick_threshold if self.selection.pick is None else self.selection.pick


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
    """What every config has. Each kind of config adds where its tasks, friendships and data come from."""

    name: PlainName
    """What the run is called, in tables and in the name of its folder."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Draws labels, weights and batches; the same seed gives the same bits."""
    threads: Count = 1
    """Batches labelled side by side, and threads that share a training batch; another number is another run, as
    another seed is. One is best where several runs go on at once (--jobs)."""
    methods: tuple[Method, ...] = ("base", "sst", "fdt")
    """Methods to run, each after those that it needs (docs/methods.md)."""
    iterations: Annotated[int, Field(ge=0)] = 2
    """How often the pool is labelled and the models updated; the best iteration on dev is reported."""
    stop: Literal["agreement"] | None = None
    """Whether to stop before the last iteration: agreement stops where dev shows that friends agree more often only
    because they copy each other; null never does."""
    test_units: Count | None = None
    """So many units of test are scored, the first ones, which makes trials on large test sets fast; null is all."""
    shard_size: Count = 1000
    """Inputs of the pool that are labelled and stored together; a stopped run loses one shard at most."""
    engine: Annotated[LocalEngineConfig | RayEngineConfig, Field(discriminator="kind")] = THIS_PROCESS
    """Who labels the pool; the results are the same."""
    device: Device = "auto"
    """Where networks compute: cpu, cuda, cuda:N (a graphics card), mps (Apple's), or auto, the best that is there; a
    run may be resumed on another one."""

    @property
    @abstractmethod
    def sections(self) -> Mapping[str, TaskConfig]:
        """What the config says of each task, by the task's name."""

    @property
    def pool_of_another_domain(self) -> bool:
        """Whether the pool is known to be of another domain than dev: what dev promises need not hold there."""
        return False

    @property
    def balances_parts(self) -> bool:
        """Whether labels that are chosen part by part keep the balance of their task."""
        return True

    @property
    @abstractmethod
    def kinds(self) -> Mapping[str, str]:
        """The kind of each task (study/kinds.py), by the task's name."""

    @field_validator("methods")
    @classmethod
    def _methods_can_run_in_this_order(cls, methods: tuple[Method, ...]) -> tuple[Method, ...]:
        for number, method in enumerate(methods):
            missing = [name for name in METHODS[method].needs if name not in methods[:number]]
            if missing:
                raise ValueError(f"{method} needs {' and '.join(missing)} before it in the list")
        return methods


# Tasks of any kind, with files of your own. What each kind is made of: study/kinds.py.


TEXT_RATE = 4e-5


class OwnTaskConfig(TaskConfig):
    """A task whose examples are files of your own, or parts of the named splits of public data
    (mudoco-few-shot/links-dev). Paths begin at --data-dir, or at the config's folder."""

    gold: str | None = None
    """Labelled examples to train on: CSV, TSV, JSONL or Parquet; gzip too. {seed} in a path is the run's seed."""
    dev: str | None = None
    """The same for dev: early stopping, thresholds, and the choice of an iteration."""
    test: str | None = None
    """The same for test, which nothing is chosen by."""
    draw: Count | None = None
    """So many examples of gold are drawn with the seed, of dialogues so many with all their turns; null takes all."""
    id: str | None = None
    """The column of the ids; null makes ids of the file's name and the row."""


class TextTaskConfig(OwnTaskConfig):
    """A task that labels a text."""

    text: str = "text"
    """The column of the text."""
    label: str = "label"
    """The column of the label."""
    metric: Literal["accuracy", "macro_f1"] = "accuracy"
    """The score on dev that stops training and compares iterations."""


class TextClassificationConfig(TextTaskConfig):
    """A text classifier on any encoder."""

    kind: Literal["text-classification"]
    """A text classifier on any encoder of transformers."""
    encoder: str
    """The encoder's folder, its name below FRIEND_TRAINING_MODELS, or its name on the hub."""
    max_length: Annotated[int, Field(ge=8)] = 128
    """Tokens of a text that the model sees, special ones included; the end is cut."""
    training: TrainingConfig = TrainingConfig(encoder_rate=TEXT_RATE)
    """How this task's model is trained."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only one that says something."""


class TokenClassificationConfig(OwnTaskConfig):
    """A tagger on any encoder."""

    kind: Literal["token-classification"]
    """A tagger on any encoder of transformers."""
    encoder: str
    """The encoder's folder, its name below FRIEND_TRAINING_MODELS, or its name on the hub."""
    words: str = "words"
    """The column of the words: a list, or a text with blanks between words."""
    tags: str = "tags"
    """The column of the tags, one for each word."""
    metric: Literal["span_f1", "accuracy"] | None = None
    """The score on dev; null is span_f1 where all tags are BIO, else accuracy."""
    training: TrainingConfig = TrainingConfig(encoder_rate=TEXT_RATE)
    """How this task's model is trained."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only one with a tag other than O."""


class SentenceTaskConfig(OwnTaskConfig):
    """A task that labels a sentence in words."""

    encoder: str | None = None
    """The encoder's folder, its name below FRIEND_TRAINING_MODELS, or its name on the hub; null is a small one of our
    own for words (`word_encoder`), which such tasks share."""
    words: str = "words"
    """The column of the words: a list, or a text with blanks between words."""
    training: TrainingConfig = TrainingConfig(encoder_rate=2e-3, head_rate=2e-3, clip=5.0, labelling_pieces=2048)
    """How this task's model is trained."""


class ConstituencyConfig(SentenceTaskConfig):
    """A parser of phrase structure. Files are of trees (.mrg, .ptb, folders and archives of them), or have columns."""

    kind: Literal["constituency"]
    """A parser of phrase structure."""
    tree: str = "tree"
    """The column of the trees, in brackets, as in the Penn Treebank."""


class DependencyConfig(SentenceTaskConfig):
    """A parser of dependencies. Files are treebanks (.conllu, .conll, .dp, folders and archives of them), or have
    columns."""

    kind: Literal["dependency"]
    """A parser of dependencies."""
    heads: str = "heads"
    """The column of the heads, one number for each word: counted from 1, and 0 for the root."""
    relations: str | None = None
    """The column of the relations, one for each word; null where a file with columns has none."""
    punctuation: Literal["counted", "skipped"] = "counted"
    """Whether the scores count punctuation, as Universal Dependencies does, or skip it, as on the Penn Treebank."""


class TaggingConfig(SentenceTaskConfig):
    """A tagger of parts of speech. Files are treebanks of either kind, or have columns."""

    kind: Literal["tagging"]
    """A tagger of parts of speech."""
    tags: str = "tags"
    """The column of the tags, one for each word."""


class RepetitionsConfig(Section):
    """Unlabeled dialogues whose repetitions are made into labels (tasks/repetitions.py)."""

    file: str
    """A file of dialogues, or a part of a named split, in the task's language: English."""
    steps: Count = 700
    """Training steps."""
    most: Count = 4500
    """So many dialogues at most."""


class DialogueTaskConfig(OwnTaskConfig):
    """A task that labels the last turn of a dialogue, on any encoder."""

    encoder: str
    """The encoder's folder, its name below FRIEND_TRAINING_MODELS, or its name on the hub."""
    max_length: Annotated[int, Field(ge=8)] = 125
    """Tokens of a dialogue that the model sees, special ones included; the oldest are cut."""
    repetitions: RepetitionsConfig | None = None
    """What Base learns before gold, once for all seeds: to undo pronouns that were put where a turn repeats an earlier
    one. Null: it begins with the encoder."""


class WordRewritingConfig(DialogueTaskConfig):
    """Rewriting of the last turn of a dialogue by words, for languages with blanks between words."""

    kind: Literal["rewriting-by-words"]
    """A rewriter of a dialogue's last turn that copies whole words."""
    unless_sure: Share = 0.0
    """A rewrite that is less sure than this leaves the utterance as it is."""
    metric: Literal["em", "needed_em", "edit_f1"] = "edit_f1"
    """The score on dev that stops training and compares iterations."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only one that inserts something."""


class CoreferenceConfig(DialogueTaskConfig):
    """What each mention of the last turn of a dialogue stands for."""

    kind: Literal["coreference"]
    """A model that links each mention of a dialogue's last turn to an earlier span, or to nothing."""
    metric: Literal["link_f1", "accuracy", "conll"] = "link_f1"
    """The score on dev that stops training and compares iterations."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only a link to something."""


class EstimatorConfig(TextTaskConfig):
    """A classifier of scikit-learn over words or characters of a text. It takes no steps: each update trains anew."""

    kind: Literal["estimator"]
    """A classifier of scikit-learn (the extra friend-training[sklearn])."""
    model: Annotated[str, Field(pattern=r"^tf-idf-words$|^tf-idf-characters$|\.skops$")] = "tf-idf-words"
    """tf-idf-words or tf-idf-characters: a logistic regression over words or over characters, single ones and pairs,
    whose vocabulary is the pool's; or a file of skops (….skops) with an untrained model of your own."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only one that says something."""


class AnswerFileConfig(TextTaskConfig):
    """A friend that is never trained: labels from a file, by the id of the input."""

    kind: Literal["answer-file"]
    """Labels from a file, made elsewhere: never trained."""
    file: str
    """JSONL or CSV with id, label and confidence; an id that is missing has no answer."""


class EndpointConfig(TextTaskConfig):
    """A friend that is never trained: a language model behind an OpenAI-style address."""

    kind: Literal["endpoint"]
    """A language model behind an OpenAI-style address: never trained."""
    url: str
    """The address up to /v1, such as http://localhost:8000/v1."""
    model: str
    """The model's name there."""
    prompt: str
    """What it is asked; {text} is the text."""
    labels: tuple[str, ...]
    """The labels it may answer with."""
    cache: str
    """The file that keeps its answers: what was asked once is never asked again."""
    samples: Count = 1
    """How often it is asked for each text; the share of the label given most often is its confidence."""
    budget: Count | None = None
    """So many requests at most, those whose answers are saved included; null sets no limit."""
    concurrency: Count = 4
    """Requests under way at once."""
    key_variable: str | None = None
    """The environment variable that holds the key; the key itself is written nowhere."""


class GivenTaskConfig(TaskConfig):
    """A task that FriendTrainer was given as a Python object of your own."""

    kind: Literal["python"]
    """An object of your own: only the program that made it can go on with the run."""
    trained: bool = True
    """Whether it is trained; else it is a friend that only answers."""
    content: Literal["any", "only"] = "any"
    """Whether any label may be chosen, or only one that says something."""


OwnTask = Annotated[
    TextClassificationConfig
    | TokenClassificationConfig
    | ConstituencyConfig
    | DependencyConfig
    | TaggingConfig
    | WordRewritingConfig
    | CoreferenceConfig
    | EstimatorConfig
    | AnswerFileConfig
    | EndpointConfig
    | GivenTaskConfig,
    Field(discriminator="kind"),
]


class PairConfig(Section):
    """Two tasks that are friends, by name."""

    first: PlainName
    """One task."""
    second: PlainName
    """The other."""
    name: PlainName | None = None
    """What the friendship is called; null is FIRST-SECOND."""


Meanings = dict[str, str | tuple[str, ...] | None]


Choose = Literal["whole", "parts"]


class LabelsFriendshipConfig(PairConfig):
    """Labels of one task mean labels of the other."""

    kind: Literal["labels"] = "labels"
    """Labels of one task mean labels of the other."""
    means: Meanings | Literal["learned"]
    """What each label of `first` means among those of `second`: one label, a list of which any will do, or null, where
    it has nothing to say. `learned` estimates the table from what both Bases predict for the pool. The first may be a
    tagger: then these are its tags, and any of them that means something speaks for the text."""
    otherwise: Annotated[str | tuple[str, ...] | None, Field(exclude_if=lambda given: given is None)] = None
    """Of a tagger: what a text means of whose tags none means anything."""


class TagsFriendshipConfig(PairConfig):
    """Tags of one task mean tags of the other, word by word, or span by span."""

    kind: Literal["tags", "spans"]
    """Tags of one task mean tags of the other, word by word; or their BIO spans, as wholes."""
    means: Meanings
    """What each tag of `first`, or each type of span, means among those of `second`, as for labels."""


class CoreferenceFriendshipConfig(PairConfig):
    """Rewriting by words and coreference: an edit that replaces a mention is a link."""

    kind: Literal["coreference-rewriting"]
    """An edit that replaces a mention is a link. `first` rewrites by words, `second` links."""
    match_weight: Rate = 2.0
    """What the match weighs where labels are decided on together (fdt-joint)."""


class SlotsFriendshipConfig(PairConfig):
    """Rewriting by words and the slots of a bot: what a rewrite adds of a slot's values, the slots must hold."""

    kind: Literal["rewriting-slots"]
    """What a rewrite adds of a slot's values, the slots must hold. `first` rewrites by words; labels of `second`, such
    as an answer file of the bot's own state, read "food=chinese; area=south"."""
    values: Annotated[tuple[str, ...], Field(min_length=1)]
    """All values that slots can hold."""


class ParsersFriendshipConfig(PairConfig):
    """Parsers of phrase structure and of dependencies: a tree has heads inside, by head rules."""

    kind: Literal["constituency-dependency"]
    """A tree has heads inside, by head rules. `first` finds trees, `second` heads."""
    scoring: Literal["head-rules", "paper", "paper-all"] = "head-rules"
    """Heads and phrases in common, through head rules; or, as the paper sketches it, the share of phrases that exactly
    one arc enters, or whether all are such."""
    choose: Choose = "whole"
    """Whether a chosen label is learnt as it is, or in parts: what the friend disputes of it is left open."""


class TreeTagsFriendshipConfig(PairConfig):
    """A parser of phrase structure and a tagger: the preterminals of a tree are tags."""

    kind: Literal["constituency-tagging"]
    """The preterminals of a tree are tags. `first` finds trees, `second` tags."""
    choose: Choose = "whole"
    """Whether a chosen label is learnt as it is, or in parts: what the friend disputes of it is left open."""


class GivenFriendshipConfig(PairConfig):
    """A friendship that FriendTrainer was given as a Python object."""

    kind: Literal["python"]
    """An object of your own: only the program that made it can go on with the run."""


def _friendship_kind(given: Any) -> str | None:
    kind = given.get("kind", "labels") if isinstance(given, Mapping) else getattr(given, "kind", None)
    return "tags" if kind == "spans" else kind


OwnFriendship = Annotated[
    Annotated[LabelsFriendshipConfig, Tag("labels")]
    | Annotated[TagsFriendshipConfig, Tag("tags")]
    | Annotated[CoreferenceFriendshipConfig, Tag("coreference-rewriting")]
    | Annotated[SlotsFriendshipConfig, Tag("rewriting-slots")]
    | Annotated[ParsersFriendshipConfig, Tag("constituency-dependency")]
    | Annotated[TreeTagsFriendshipConfig, Tag("constituency-tagging")]
    | Annotated[GivenFriendshipConfig, Tag("python")],
    Discriminator(
        _friendship_kind,
        custom_error_type="friendship",
        custom_error_message="expected a mapping whose kind is labels, tags, spans, coreference-rewriting,"
        " rewriting-slots, constituency-dependency, constituency-tagging or python",
    ),
]


class PoolConfig(Section):
    """Unlabeled inputs. Columns of labels, where the file has some, are seen by no model: they only tell in the report
    which pseudo-labels are right."""

    file: str
    """CSV, TSV, JSONL, Parquet or plain text, one input a line; gzip too. Tasks that read dialogues take any file of
    dialogues, of which neither columns nor hidden labels are read."""
    text: str = "text"
    """The column of the text."""
    words: str | None = None
    """The column of the words, where tasks need words; null splits the text."""
    id: str | None = None
    """The column of the ids; null makes ids of the file's name and the row."""
    hidden: dict[PlainName, str] = {}
    """Columns of gold labels by task, for counting only; where tasks read dialogues, files of labelled examples."""
    most: Count | None = None
    """So many inputs, drawn with the seed; null takes all."""
    held_out: Literal["dropped", "kept"] = "dropped"
    """What becomes of texts that also stand in gold, dev or test of a task."""
