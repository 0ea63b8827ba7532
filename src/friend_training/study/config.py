"""Which configs there are, and how they are read, changed, explained and found.

A run is of the paper's pair (`CaseStudyConfig`) or of any tasks with files of your own (`FriendsConfig`); the sections
of both are in sections.py.

Old configs are still read, by the names that settings had before, and results keep the ids they were recorded under:
an id is made from the recorded form of a config. Whoever renames a setting or a value adds the old name here.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

import yaml
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo

from friend_training.core.friendship import Aggregation
from friend_training.core.limits import read_yaml
from friend_training.errors import ConfigError, did_you_mean
from friend_training.methods.registry import METHODS
from friend_training.study.sections import (
    Config,
    Count,
    FileDataConfig,
    FoundThreshold,
    HanlpBridgeConfig,
    LtpBridgeConfig,
    Mark,
    MatchWeight,
    OwnFriendship,
    OwnTask,
    PlainName,
    PoolConfig,
    PretrainedEncoderConfig,
    PublicDataConfig,
    Repeats,
    SavedBridgeConfig,
    ScratchEncoderConfig,
    Section,
    Share,
    SyntheticDataConfig,
    TaskConfig,
    Temperature,
    TrainedBridgeConfig,
    TrainingConfig,
    WordEncoderConfig,
    kinds_of,
    sections_in,
    settings_refused,
)


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
    """How labels are decided on together with a friend (core/friendship.py)."""

    match_weight: MatchWeight = 64.0
    """γ: what the match with the friend weighs beside the log-probabilities of the two models; auto is found on dev in
    each iteration."""
    temperature: Temperature = 1.0
    """Log-probabilities are divided by it: above 1 the models are trusted less; auto is found on dev."""
    best: Count = 16
    """How many of a model's likeliest labels are considered."""
    edits_match_weight: MatchWeight = 16.0
    """γ where rewrites are decided on."""
    sure: Share = 0.95
    """What the rewriter's likeliest scripts must agree on, of their probability, for a place that the friend says
    nothing of to be learnt."""


class OwnJointConfig(Section):
    """How labels are decided on together with friends (core/friendship.py)."""

    match_weight: MatchWeight = "auto"
    """γ: what the match with a friend weighs beside the log-probabilities of both models; auto is found on dev in each
    iteration, for each friend by itself."""
    temperature: Temperature = 1.0
    """Log-probabilities are divided by it: above 1 the models are trusted less; auto is found on dev."""
    best: Count = 16
    """How many of a task's likeliest labels are considered."""
    friend_best: Count = 16
    """How many of a friend's likeliest labels are considered; of a friend that cannot rank, its answer."""


class CaseStudyConfig(Config):
    """The paper's pair: conversational semantic role labelling and dialogue rewriting."""

    data: Annotated[SyntheticDataConfig | PublicDataConfig | FileDataConfig, Field(discriminator="kind")]
    """Where dialogues and labels come from."""
    encoder: Annotated[ScratchEncoderConfig | PretrainedEncoderConfig, Field(discriminator="kind")]
    """The encoder that every model starts from."""
    bridge: Annotated[
        TrainedBridgeConfig | LtpBridgeConfig | HanlpBridgeConfig | SavedBridgeConfig, Field(discriminator="kind")
    ]
    """The sentence SRL parser that reads rewrites, so that they can be compared with CSRL."""
    max_length: Annotated[int, Field(ge=8)] = 125
    """Tokens of a dialogue that a model sees, special ones included; the oldest context is cut first."""
    predicate_mark: Mark = "after"
    """Where CSRL is told of its predicate: in the encoder's input, which costs a pass per predicate, or after the
    encoder."""
    span_source: Literal["context", "dialogue"] = "dialogue"
    """Where insertions of a rewrite are copied from: the turns before, or the last utterance too."""
    tasks: TasksConfig = TasksConfig()
    """The tasks: their Base, their updates and what is chosen for them."""
    bridge_training: TrainingConfig = TrainingConfig()
    """How a trained bridge is trained."""
    friendship: FriendshipConfig = FriendshipConfig()
    """How the predictions of the two tasks are compared."""
    joint: JointConfig = JointConfig()
    """How labels are decided on together with a friend, by methods that do so."""
    informed: bool = False
    """Whether CSRL learns the bridge's training sentences before its own gold, so that every method starts from what
    the bridge was trained on."""
    repeated_roles: Repeats = "once"
    """Where a role may begin anew in what CSRL predicts: right behind itself (apart), only after something else
    (joined), or nowhere (once: of several spans the likeliest is taken)."""
    predicate_as_argument: Literal["allowed", "never"] = "never"
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
    insertion_spans: Literal["apart", "together"] = "together"
    """Whether first and last token of an insertion are chosen apart, or together as a span of one turn."""

    @property
    def pool_of_another_domain(self) -> bool:
        return isinstance(self.data, PublicDataConfig) and self.data.pool_of == "chats"

    @property
    def balances_parts(self) -> bool:
        return self.checked_labels == "balanced"

    @property
    def sections(self) -> Mapping[str, TaskConfig]:
        return {"csrl": self.tasks.csrl, "rewriting": self.tasks.rewriting}

    @property
    def kinds(self) -> Mapping[str, str]:
        return {name: name for name in self.sections}

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


def case_study(config: Config) -> CaseStudyConfig:
    """The config as that of the paper's pair, for what only that pair can do."""
    if not isinstance(config, CaseStudyConfig):
        raise ConfigError(
            f"{config.name}: this is for the paper's pair, CSRL and rewriting; the tasks here are"
            f" {', '.join(config.sections)}"
        )
    return config


KINDS_OF_FRIENDS = {
    "coreference-rewriting": ("rewriting-by-words", "coreference"),
    "constituency-dependency": ("constituency", "dependency"),
    "constituency-tagging": ("constituency", "tagging"),
}
"""Friendships that join two kinds of tasks only."""


class FriendsConfig(Config):
    """Any tasks, and which of them are friends."""

    tasks: dict[PlainName, OwnTask]
    """The tasks, by names of your own."""
    friendships: tuple[OwnFriendship, ...]
    """Which tasks check each other, and how the labels of one mean something to the other."""
    pool: PoolConfig
    """Unlabeled inputs, shared by all tasks."""
    aggregate: Aggregation = "mean"
    """How the matching scores of a task with several friends become one."""
    word_encoder: WordEncoderConfig = WordEncoderConfig()
    """The encoder of parsers and taggers that name none of their own."""
    joint: OwnJointConfig = OwnJointConfig()
    """How labels are decided on together with friends, where a task's selection or a method does so."""

    @property
    def sections(self) -> Mapping[str, TaskConfig]:
        return self.tasks

    @property
    def kinds(self) -> Mapping[str, str]:
        return {name: section.kind for name, section in self.tasks.items()}

    @model_validator(mode="after")
    def _friends_are_tasks(self) -> Self:
        for task in self.pool.hidden:
            if task not in self.tasks:
                raise ValueError(f"pool.hidden: there is no task {task!r}; there are {', '.join(self.tasks)}")
        names = set[str]()
        for friendship in self.friendships:
            for name in (friendship.first, friendship.second):
                if name not in self.tasks:
                    raise ValueError(f"friendships: there is no task {name!r}; there are {', '.join(self.tasks)}")
            if friendship.first == friendship.second:
                raise ValueError(f"friendships: {friendship.first} cannot be a friend of itself")
            title = friendship.name or f"{friendship.first}-{friendship.second}"
            if title in names:
                raise ValueError(f"friendships: {title!r} is the name of two of them; give one another name")
            names.add(title)
            kinds = tuple(self.kinds[name] for name in (friendship.first, friendship.second))
            if friendship.kind == "rewriting-slots" and kinds[0] != "rewriting-by-words":
                raise ValueError(
                    f"friendships: {friendship.first} is of the kind {kinds[0]}; the first of rewriting-slots is"
                    " rewriting-by-words"
                )
            wanted = KINDS_OF_FRIENDS.get(friendship.kind, kinds)
            if kinds != wanted:
                raise ValueError(
                    f"friendships: {friendship.first} and {friendship.second} are of the kinds {' and '.join(kinds)};"
                    f" {friendship.kind} is for {' and '.join(wanted)}, in this order"
                )
        return self


def has_own_files(config: Config) -> bool:
    """Whether data are files of the user's own, whose paths begin at a folder that a run has to remember."""
    return isinstance(config, FriendsConfig) or isinstance(case_study(config).data, FileDataConfig)


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


def parse_config(text: str, where: str, overrides: Sequence[str] = (), *, whole: bool = False) -> Config:
    """A config from YAML; one that was written `whole`, by a run, may be older than what it leaves out."""
    values = read_yaml(text, where)
    if not isinstance(values, dict):
        found = "this is empty" if values is None else f"found {str(values)[:60]!r}"
        raise ConfigError(f"{where}: a config is a mapping of settings, such as 'name: reviews'; {found}")
    try:
        values = pair_by_kinds(current_form(complete_form(values) if whole else values))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    for override in overrides:
        values = current_form(_override(values, override))
    return checked_config(values, where, "" if overrides else text)


def checked_config(values: Mapping[str, Any], where: str, text: str = "") -> Config:
    """The config of some settings; `where` is what messages call them, `text` the YAML that has them."""
    values = pair_by_kinds(values)
    kind = _kind_of(values)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise settings_refused(error, where, kind, text) from None


def _kind_of(values: Mapping[str, Any]) -> type[CaseStudyConfig] | type[FriendsConfig]:
    """Tasks that name their kinds are of your own."""
    tasks = values.get("tasks")
    named = isinstance(tasks, dict) and any(isinstance(task, dict) and "kind" in task for task in tasks.values())
    return FriendsConfig if named or "friendships" in values or "pool" in values else CaseStudyConfig


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
    return _changed(values, name.split("."), value, (_kind_of(values),), override)


def _changed(
    values: Any, path: Sequence[str], value: Any, sections: Sequence[type[Section]], override: str
) -> dict[str, Any]:
    """A copy along the path: sections that a YAML alias (*training) shares must not change together.

    `sections` are those that the values may be of.
    """
    first, *rest = path
    fields = _fields(values, sections)
    if first not in fields:
        here = did_you_mean(first, fields) or (f"; here are {', '.join(fields)}" if fields else "")
        raise ConfigError(f"--set {override}: there is no setting {override.partition('=')[0]!r}{here}")
    if not rest:
        return {**values, first: value}
    default, inner = fields[first].default, sections_in(fields[first].annotation)
    before = values.get(first, default.model_dump(mode="json") if isinstance(default, Section) else {})
    if get_origin(fields[first].annotation) is dict:  # sections by names of the user's own
        return {**values, first: _changed_in(before, rest, value, inner, override)}
    return {**values, first: _changed(before, rest, value, inner, override)}


def _changed_in(
    named: dict[str, Any], path: Sequence[str], value: Any, sections: Sequence[type[Section]], override: str
) -> dict[str, Any]:
    name, *rest = path
    if name not in named:
        meant = did_you_mean(name, named) or f"; here are {', '.join(named)}"
        raise ConfigError(f"--set {override}: there is no {name!r}{meant}")
    return {**named, name: _changed(named[name], rest, value, sections, override) if rest else value}


def _fields(values: Any, sections: Sequence[type[Section]]) -> dict[str, FieldInfo]:
    """The settings that a section can have, of its kind if it says which one it is."""
    if not isinstance(values, dict):
        return {}
    chosen = [section for section in sections if values.get("kind") in kinds_of(section)] or sections
    return {name: field for section in chosen for name, field in section.model_fields.items()}


# The configs that come with the package, found wherever it is installed: those that need no file of anybody's own.


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
        elif isinstance(value, Mapping) and all(isinstance(one, Section) for one in value.values()) and value:
            yield f"{indent}{name}:"
            for given, one in value.items():
                yield f"{indent}  {given}:"
                yield from _lines(one, f"{indent}    ", described)
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
    if isinstance(plain, tuple):
        plain = [one.model_dump(mode="json") if isinstance(one, Section) else one for one in plain]
    text: str = yaml.safe_dump(plain, default_flow_style=True, allow_unicode=True, width=_WIDTH)
    return text.removesuffix("...\n").rstrip("\n")


def opening_words(path: Path) -> str:
    """What a config file says of itself: the first sentence of the comment that it begins with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = " ".join(line.removeprefix("#").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
    return comment.partition(". ")[0].rstrip(".") + "."


OLD_CONFIG_NAMES = {
    "embedded-few-shot": "synthetic-few-shot",
    "embedded-domain-generalisation": "synthetic-domain-generalisation",
}
"""Configs that come with the package, by the names that they had before."""

_OLD_VALUES: dict[str, dict[str, str]] = {"data.kind": {"embedded": "synthetic"}}

_RECORDED_VALUES: dict[str, dict[str, str]] = {
    setting: {new: old for old, new in names.items()}
    for setting, names in {**_OLD_VALUES, "name": OLD_CONFIG_NAMES}.items()
}


LATER_SETTINGS: dict[str, Any] = {
    "engine": {"kind": "local", "workers": 1},
    "informed": False,
    "test_units": None,
    "repeated_roles": "apart",
    "predicate_as_argument": "allowed",
    "joint.match_weight": 64.0,
    "joint.temperature": 1.0,
    "joint.best": 16,
    "joint.edits_match_weight": 16.0,
    "joint.sure": 0.95,
    "pronouns": "kept",
    "checked_labels": "balanced",
    "rewriting_turns": None,
    "rewriting_metric": "em",
    "insertion_spans": "apart",
    "data.pool_of": "chats",
    "data.pool_corpora": [],
    "bridge.predicate_mark": "after",
    "bridge.adjacent": "apart",
    "bridge_training.precision": "fp32",
    "word_encoder.word": 100,
    "word_encoder.affix": 50,
    "word_encoder.width": 128,
    "word_encoder.layers": 2,
    "word_encoder.dropout": 0.33,
    "word_encoder.forget": 0.2,
    "tasks.csrl.balance": "none",
    "tasks.csrl.training.precision": "fp32",
    "tasks.rewriting.balance": "none",
    "tasks.rewriting.training.precision": "fp32",
    "tasks.csrl.selection.score": "paper",
    "tasks.csrl.selection.pick": None,
    "tasks.rewriting.selection.score": "paper",
    "tasks.rewriting.selection.pick": None,
    "tasks.*.selection.choose": "whole",
    "tasks.*.selection.labels": "own",
    "stop": None,
}
"""Settings that came when results were recorded already, and what was done before they came: their defaults.

The recorded form leaves them out where they say that; * is any task. Whoever adds a setting to a config adds it here.
"""

_OF_OWN_TASKS: dict[str, Any] = {"joint.match_weight": "auto", "joint.friend_best": 16}
"""The same where configs of any tasks have another default than that of the paper's pair."""


CHANGED_DEFAULTS: dict[str, Any] = {
    "repeated_roles": "apart",
    "predicate_as_argument": "allowed",
    "insertion_spans": "apart",
}
"""Settings of the paper's pair whose defaults are others today, and what they were.

Decided on dev (docs/decisions.md): each role once, no predicate its own argument, an insertion a span of one turn.
Every config that does not name them has these decisions; what was recorded before, and the paper's own settings, keep
what they were made with.
"""


def current_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file, by the names that they have today."""
    return _renamed(config, _OLD_VALUES, "")


def complete_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a config that was written whole, as records and run folders have it, by today's names.

    What such a config does not name was as it was before there was a choice. A precision without a confidence was an
    estimate.
    """
    values = _estimates(config)
    return {**CHANGED_DEFAULTS, **values} if "friendship" in config else values


def _estimates(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"precision"} and not isinstance(value["precision"], str):  # what networks compute in is a name
        return {"expected_precision": value["precision"]}
    return {key: _estimates(inner) for key, inner in value.items()}


def _recorded_estimates(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"expected_precision"}:
        return {"precision": value["expected_precision"]}
    return {key: _recorded_estimates(inner) for key, inner in value.items()}


def recorded_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config as results were recorded with it; one that is in this form stays as it is."""
    later = LATER_SETTINGS | (_OF_OWN_TASKS if "friendships" in config else {})
    return _renamed(_told(_recorded_estimates(config), "", later), _RECORDED_VALUES, "")


def _told(values: Mapping[str, Any], place: str, later: Mapping[str, Any]) -> dict[str, Any]:
    """Without the settings that came later and say what was done before they came, and sections of nothing else."""
    told = {
        key: _told(value, f"{place}{key}.", later) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if not any(name in later and value == later[name] for name in _names(f"{place}{key}"))
    }
    return {key: value for key, value in told.items() if value != {} or values[key] == {}}


def _names(setting: str) -> tuple[str, str]:
    """A setting of a task goes by the task's name, and by * as one of any task."""
    of, _, rest = setting.partition(".")
    return setting, f"tasks.*.{rest.partition('.')[2]}" if of == "tasks" else setting


def _renamed(values: Mapping[str, Any], names: Mapping[str, Mapping[str, str]], place: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in values.items():
        setting = f"{place}{key}"
        if isinstance(value, Mapping):
            value = _renamed(value, names, f"{setting}.")
        elif isinstance(value, str):
            value = names.get(setting, {}).get(value, value)
        renamed[key] = value
    return renamed


# The paper's pair listed by kinds, as any other tasks are.


_PAIR = {"csrl": "csrl", "rewriting": "rewriting"}
_FRIENDSHIP = "csrl-rewriting"
_SHARED = ("encoder", "max_length")
"""What both tasks must have alike: they share an encoder."""

_OF_RUN = {
    "csrl": {name: name for name in ("predicate_mark", "repeated_roles", "predicate_as_argument")},
    "rewriting": {
        "span_source": "span_source",
        "insertion_spans": "insertion_spans",
        "turns": "rewriting_turns",
        "metric": "rewriting_metric",
    },
}
"""Settings of a task that the pair's config has beside the tasks, by their names there."""


def pair_by_kinds(values: Mapping[str, Any]) -> dict[str, Any]:
    """A config that lists the paper's pair by kinds, with files of one's own, as that pair's; others as they are."""
    tasks = values.get("tasks")
    named = tasks if isinstance(tasks, Mapping) else {}
    kinds = {name: task.get("kind") if isinstance(task, Mapping) else None for name, task in named.items()}
    if not {*_PAIR} & {kind for kind in kinds.values() if isinstance(kind, str)}:
        return dict(values)
    if kinds != _PAIR:
        raise ConfigError(
            "tasks: those of the kinds csrl and rewriting are a pair with the same names, and no others stand beside"
            f" them; here are {', '.join(f'{name} ({kind})' for name, kind in kinds.items())}"
        )
    rest = {name: value for name, value in values.items() if name not in ("tasks", "friendships", "pool", "aggregate")}
    pool = values.get("pool")
    if not isinstance(pool, Mapping) or "file" not in pool:
        raise ConfigError("pool.file: a file of unlabeled dialogues is needed here")
    data, sections = {"kind": "files", "pool": pool["file"]}, {}
    for name, task in named.items():
        section = {key: value for key, value in task.items() if key != "kind"}
        for part, stands in (("gold", "train"), ("dev", "dev"), ("test", "test")):
            if not section.get(part):
                raise ConfigError(f"tasks.{name}.{part}: a file of labelled examples is needed here")
            data[f"{name}_{stands}"] = section.pop(part)
        rest |= {there: section.pop(here) for here, there in _OF_RUN[name].items() if here in section}
        for shared in _SHARED:
            if shared in section and rest.setdefault(shared, section[shared]) != section.pop(shared):
                raise ConfigError(f"tasks.{name}.{shared}: csrl and rewriting share an encoder, so it must be the same")
        sections[name] = section
    if isinstance(rest.get("encoder"), str):
        rest["encoder"] = {"kind": "pretrained", "source": rest["encoder"]}
    return rest | _bridged(values.get("friendships")) | {"data": data, "tasks": sections}


def _bridged(friendships: Any) -> dict[str, Any]:
    """The one friendship of the pair: its bridge, and how predictions are compared."""
    match friendships:
        case [{"kind": "csrl-rewriting", "first": "csrl", "second": "rewriting", **settings}]:
            compared = {name: value for name, value in settings.items() if name not in ("name", "bridge")}
            return {"friendship": compared} | {name: settings[name] for name in ("bridge",) if name in settings}
    raise ConfigError(
        f"friendships: csrl and rewriting have one, {{kind: {_FRIENDSHIP}, first: csrl, second: rewriting, bridge: …}}"
    )
