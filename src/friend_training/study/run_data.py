"""The data of a run: labelled examples of each task, and the pool; read from files of your own.

Gold of the tasks may come from different texts. What stands in gold, dev or test of a task is left out of the pool
unless the config keeps it: a pseudo-label of a test text would be a peek at test.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from friend_training.core.friendship import Friendship
from friend_training.core.pool import Inputs
from friend_training.core.selector import gold_shares, shares_of_kinds
from friend_training.core.task import PRF, Input, Prediction, Task
from friend_training.data import tables
from friend_training.data.benchmarks import dialogues_in, named_part
from friend_training.data.sharded_pool import ShardedPool
from friend_training.data.splits import normalise
from friend_training.data.summary import fingerprint
from friend_training.errors import ConfigError, DataError, did_you_mean
from friend_training.friendships.bridge_quality import GoldSigma
from friend_training.loop.labelling import Audit
from friend_training.study.config import FriendsConfig, case_study
from friend_training.study.kinds import Given, kind_of, make_task, pool_view, read_file
from friend_training.study.sections import Config, OwnTaskConfig
from friend_training.tasks.coreference.task import dialogue_of, gold_link_units, link_is_right
from friend_training.tasks.csrl.model import unit_id
from friend_training.tasks.csrl.task import kind_of_roles
from friend_training.tasks.rewriting.task import kind_of_text
from friend_training.types import (
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    Heads,
    HeadsExample,
    Rewrite,
    RewritingExample,
    Roles,
    SrlExample,
    Tags,
    TagsExample,
    Tree,
    TreeExample,
    dialogue_group,
    text_of,
)

T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


@dataclass(frozen=True, slots=True)
class TaskData:
    """The labelled examples of one task."""

    gold: Sequence[Any] = ()
    dev: Sequence[Any] = ()
    test: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class BridgeData:
    """What the paper's pair has besides: sentences for its bridge.

    `gold_sigma` is what a perfect bridge says of gold rewrites, of the pool's dialogues and dev's, where data know it.
    """

    train: Sequence[SrlExample] = ()
    dev: Sequence[SrlExample] = ()
    gold_sigma: GoldSigma | None = None


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run sees. `audit` knows the hidden gold of the pool, where there is any; selection never does.

    `notes` are what a person should know of these data, such as texts of test that were found in the pool.
    """

    tasks: Mapping[str, TaskData]
    pool: Inputs
    audit: Audit | None
    bridge: BridgeData | None = None
    notes: tuple[str, ...] = ()

    def fingerprints(self) -> dict[str, str]:
        parts: dict[str, Sequence[object]] = {}
        for name, examples in self.tasks.items():
            parts |= {f"{name}_gold": examples.gold, f"{name}_dev": examples.dev, f"{name}_test": examples.test}
        if self.bridge is not None:
            parts |= {"bridge_train": self.bridge.train, "bridge_dev": self.bridge.dev}
        if isinstance(self.audit, HiddenGold) and self.bridge is None:  # fdt-oracle chooses by it
            parts["hidden"] = [(task, dict(labels)) for task, labels in self.audit.labels.items()]
        return {name: fingerprint(examples) for name, examples in parts.items()} | {"pool": self.pool_fingerprint}

    @property
    def pool_fingerprint(self) -> str:
        return self.pool.fingerprint if isinstance(self.pool, ShardedPool) else fingerprint(self.pool)


@dataclass(frozen=True, slots=True)
class Objects:
    """Python objects that a config only names: a program gives them, a file cannot.

    `data` are the examples of such tasks; `pool`, where there is one, stands in for the config's file.
    """

    tasks: Mapping[str, Task] = field(default_factory=dict)
    friendships: Mapping[str, Friendship] = field(default_factory=dict)
    data: Mapping[str, TaskData] = field(default_factory=dict)
    pool: Sequence[Any] | None = None


NO_OBJECTS = Objects()


def draw_examples(examples: Sequence[T], count: int | None, *, seed: int | str) -> list[T]:
    if count is None:
        return list(examples)
    check_count(count, len(examples), "examples")
    chosen = random.Random(f"examples {seed}").sample(range(len(examples)), count)
    return [examples[number] for number in sorted(chosen)]


def check_count(wanted: int, there: int, what: str) -> None:
    if wanted > there:
        raise ConfigError(f"{wanted} labelled {what} are asked for, but there are only {there}")


def bridge_data(data: RunData) -> BridgeData:
    """What the paper's pair has for its bridge."""
    return data.bridge or BridgeData()


# What gold says, by the type of an example.


def input_of(example: Any) -> Input:
    match example:
        case CsrlExample(dialogue=given) | RewritingExample(dialogue=given) | CoreferenceExample(dialogue=given):
            return given
        case TagsExample(words=given) | TreeExample(words=given) | HeadsExample(words=given):
            return given
        case (given, _):
            return given  # type: ignore[no-any-return]
    raise ConfigError(f"an example is {example!r}, expected an input with its label")


def gold_units(example: Any) -> list[tuple[str, Any]]:
    """The units of an example, each with its gold label."""
    match example:
        case CsrlExample(dialogue, roles):
            return [(unit_id(dialogue.id, label.predicate), label) for label in roles]
        case RewritingExample(dialogue, rewrite):
            return [(dialogue.id, rewrite)]
        case CoreferenceExample():
            return [*gold_link_units(example)]
        case TagsExample(words, label) | TreeExample(words, label) | HeadsExample(words, label):
            return [(words.id, label)]
        case (given, label):
            return [(given.id, label)]
    raise ConfigError(f"an example is {example!r}, expected an input with its label")


def is_right(label: Any, gold: Any) -> bool:
    """Right means entirely right: every argument of a predicate, the whole rewritten utterance, every phrase,
    head or tag of a sentence that is not left open."""
    match label:
        case Roles():
            return set(label.arguments) == set(gold.arguments)
        case Rewrite():
            return bool(label.text == gold)
        case Heads():
            return not _wrong(label.heads, gold.heads, label.unsure)
        case Tags():
            return not _wrong(label.tags, gold.tags, label.unsure)
        case Tree():
            different = set(label.brackets) ^ set(gold.brackets)
            known = [one for one in different if (one.start, one.end) not in label.unsure]
            return not known and not _wrong(label.tags, gold.tags, label.unsure_tags)
    return bool(label == gold)


def _wrong(label: Sequence[Any], gold: Sequence[Any], unsure: Sequence[int]) -> list[int]:
    """The words, of those that are not open, that gold says something else of."""
    return [
        word for word, pair in enumerate(zip(label, gold, strict=True)) if pair[0] != pair[1] and word not in unsure
    ]


def right_parts(label: Any, gold: Any) -> PRF:
    """How much of a label is right: of arguments, tags, arcs; a label of one part is right or not."""
    match label:
        case Roles():
            return PRF.of(label.arguments, gold.arguments)
        case Tags():  # words that are outside of everything are no parts
            return PRF.of(*([one for one in enumerate(tags) if one[1] != "O"] for tags in (label.tags, gold.tags)))
        case Heads():
            return PRF.of(enumerate(label.heads), enumerate(gold.heads))
        case Tree():
            return PRF.of(label.brackets, gold.brackets)
    return PRF(int(is_right(label, gold)), 1, 1)


@dataclass(frozen=True, slots=True)
class HiddenGold:
    """Which predictions are right, by gold labels that training and selection do not see; None: nobody knows.

    An audit of the core, and picklable: workers that label take it along. Links of found mentions are right or wrong by
    the entities of their dialogue, which `entities` has by task and dialogue.
    """

    labels: Mapping[str, Mapping[str, Any]]
    entities: Mapping[str, Mapping[str, CoreferenceExample]] = field(default_factory=dict)

    def __call__(self, task: str, prediction: Prediction) -> bool | None:
        if task in self.entities:
            example = self.entities[task].get(dialogue_of(prediction.unit))
            return None if example is None else link_is_right(prediction.label, example)
        gold = self.labels.get(task, {}).get(prediction.unit)
        return None if gold is None else is_right(prediction.label, gold)

    def parts(self, task: str, prediction: Prediction) -> PRF | None:
        """How many parts of a prediction are right, of how many."""
        gold = self.labels.get(task, {}).get(prediction.unit)
        return None if gold is None else right_parts(prediction.label, gold)


def hidden_gold(examples: Mapping[str, Iterable[Any]]) -> HiddenGold:
    """An audit by examples of each task."""
    known = {task: list(of) for task, of in examples.items()}
    labels = {task: dict(unit for one in of for unit in gold_units(one)) for task, of in known.items()}
    linked = {task: of for task, of in known.items() if of and isinstance(of[0], CoreferenceExample)}
    return HiddenGold(labels, {task: {one.dialogue.id: one for one in of} for task, of in linked.items()})


def label_shares(task: Task, examples: Sequence[Any]) -> dict[str, float]:
    """How often gold has labels of each kind, by what selectors balance.

    Of role labels and rewrites hardly two are the same: of those that say something, where their arguments stand; how
    many utterances need a rewrite. Other labels are their own kinds.
    """
    if examples and isinstance(examples[0], CsrlExample):
        roles = [(one, len(e.dialogue.turns) - 1) for e in examples for one in e.roles if one.arguments]
        return shares_of_kinds([kind_of_roles(*of_turn) for of_turn in roles])
    if examples and isinstance(examples[0], RewritingExample):
        return shares_of_kinds([kind_of_text(example.rewrite, example.dialogue) for example in examples])
    if examples and isinstance(examples[0], CoreferenceExample):
        links = [link for example in examples for _, link in gold_units(example)]
        return shares_of_kinds(["none" if link.antecedent is None else "linked" for link in links])
    return gold_shares([label for one in examples for _, label in gold_units(one)], task.label_type)


# Files of your own.


def own_data(
    config: FriendsConfig,
    base: Path | None,
    progress: Progress,
    *,
    pool: bool = True,
    objects: Objects = NO_OBJECTS,
) -> RunData:
    """Read what the config names; paths begin at `base`. Without the `pool` all else is as it would be."""
    base = base or Path()
    found: dict[str, TaskData] = {}
    for number, (name, section) in enumerate(config.tasks.items(), start=1):
        given = objects.data.get(name, TaskData())
        found[name] = _task_data(config, name, section, base) if isinstance(section, OwnTaskConfig) else given
        progress(number, len(config.tasks) + 1)
    for friendship in config.friendships:
        if friendship.kind in ("labels", "tags"):
            _check_meanings(friendship.first, friendship, found[friendship.first].gold)
        if friendship.kind == "labels":
            _check_meant(friendship, found[friendship.second])
    inputs, audit, notes = _pool(config, base, found, objects.pool) if pool else ([], None, [])
    progress(len(config.tasks) + 1, len(config.tasks) + 1)
    return RunData(found, inputs, audit, notes=(*leaks(found), *notes))


def all_own_gold(config: FriendsConfig, base: Path | None) -> dict[str, list[Any]]:
    """All the labels that the few of gold are drawn from."""
    drawn = {name: section for name, section in config.tasks.items() if getattr(section, "draw", None) is not None}
    if not drawn:
        raise ConfigError("base-full, fdt-s and fdt-sf need more labels than gold; no task of this config draws a few")
    sections = {name: section for name, section in config.tasks.items() if isinstance(section, OwnTaskConfig)}
    return {name: _examples(config, name, base or Path(), str(one.gold)) for name, one in sections.items() if one.gold}


def _task_data(config: FriendsConfig, name: str, section: OwnTaskConfig, base: Path) -> TaskData:
    if not kind_of(config, name).trained:
        make_task(config, name, Given(base=base))  # answers that cannot be read are told before a run is begun
        dev, test = (_examples(config, name, base, part) if part else [] for part in (section.dev, section.test))
        return TaskData((), dev, test)
    for part in ("gold", "dev", "test"):
        if getattr(section, part) is None:
            raise ConfigError(f"tasks.{name}.{part}: a file of labelled examples is needed here")
    parts = [_examples(config, name, base, str(part)) for part in (section.gold, section.dev, section.test)]
    return TaskData(_drawn(parts[0], section.draw, seed=f"{name} {config.seed}"), parts[1], parts[2])


def _drawn(examples: list[Any], count: int | None, *, seed: str) -> list[Any]:
    """So many examples; of dialogues so many with all their cuts."""
    if not examples or not isinstance(input_of(examples[0]), Dialogue):
        return draw_examples(examples, count, seed=seed)
    group = [dialogue_group(input_of(example).id) for example in examples]
    kept = set(draw_examples(list(dict.fromkeys(group)), count, seed=seed))
    return [example for example, of in zip(examples, group, strict=True) if of in kept]


def base_of(config: Config, *folders: Path | None) -> Path | None:
    """Where the paths of a config begin: the first of these folders that has its files, else the first that is named.

    They are told by one of them: the pool, or of the paper's pair, whose pool may be of many files, CSRL's gold.
    """
    named = [folder for folder in folders if folder is not None]
    file = config.pool.file if isinstance(config, FriendsConfig) else getattr(case_study(config).data, "csrl_train", "")
    there = [folder for folder in named if (folder / with_seed(file, config)).exists()]
    return next(iter([*there, *named]), None)


def with_seed(file: str, config: Config) -> str:
    """Files that were drawn for each seed name it: gold-{seed}.csv."""
    return file.replace("{seed}", str(config.seed))


def _examples(config: FriendsConfig, name: str, base: Path, file: str) -> list[Any]:
    path = base / with_seed(file, config)
    examples = named_part(file, path)
    if examples is None:
        examples = read_file(config, name, path)
    if not examples:
        raise DataError(f"no example of task {name} is in this file", path=path)
    twice = [id for id, count in Counter(input_of(one).id for one in examples).items() if count > 1]
    if twice:
        raise DataError(f"the id {twice[0]!r} stands here more than once, ids must differ", path=path)
    return examples


def _check_meanings(name: str, friendship: Any, gold: Sequence[Any]) -> None:
    """Every label of gold must stand in the table: what is missing is told before anything is trained."""
    if friendship.means == "learned":
        return
    labels = {one for example in gold for _, label in gold_units(example) for one in _single(label)}
    absent = sorted(labels - friendship.means.keys())
    if absent:
        raise ConfigError(
            f"friendship {friendship.first}-{friendship.second}: means says nothing of {', '.join(absent)}, labels in"
            f" gold of {name}; give each a meaning, or null where it has none"
        )


def _check_meant(friendship: Any, second: TaskData) -> None:
    """What labels mean is told by labels of the second task; one that is nearly one of those was misspelt."""
    examples = (*second.gold, *second.dev, *second.test)
    labels = {str(one) for example in examples for _, label in gold_units(example) for one in _single(label)}
    if friendship.means == "learned" or not labels:
        return
    for label, meant in friendship.means.items():
        for one in (meant,) if isinstance(meant, str) else meant or ():
            near = "" if one in labels else did_you_mean(one, sorted(labels))
            if near:
                raise ConfigError(
                    f"friendship {friendship.first}-{friendship.second}: {label} means {one!r}, which is no label of"
                    f" {friendship.second}{near}"
                )


def _single(label: Any) -> Iterable[str]:
    return label.tags if hasattr(label, "tags") else (label,)


def _pool(
    config: FriendsConfig, base: Path, tasks: Mapping[str, TaskData], given: Sequence[Any] | None
) -> tuple[list[Any], Audit | None, list[str]]:
    path = base / with_seed(config.pool.file, config)
    if given is not None:
        inputs, notes = _usable(config, list(given), tasks, path)
        return inputs, None, notes
    section = config.pool
    if pool_view(config) == "dialogue":
        inputs, notes = _usable(config, dialogues_in(section.file, path), tasks, path)
        return inputs, _hidden_of(config, base, {one.id for one in inputs}), notes
    rows = list(tables.rows_of(path))
    words = section.words if pool_view(config) == "words" else None
    all_inputs: list[Any] = (
        list(tables.texts(path, text=section.text, id=section.id))
        if words is None
        else list(tables.words(path, words=words, id=section.id))
    )
    hidden = {task: dict[str, Any]() for task in section.hidden}
    for one, row in zip(all_inputs, rows, strict=True):
        for task, column in section.hidden.items():
            if (given_label := row.cell(column)) is not None and given_label != "":
                hidden[task][one.id] = kind_of(config, task).hidden(row, column)
    inputs, notes = _usable(config, all_inputs, tasks, path)
    return inputs, HiddenGold(hidden) if hidden else None, notes


def unlabeled(config: FriendsConfig, tasks: Mapping[str, TaskData], file: str, base: Path) -> list[Dialogue]:
    """The dialogues of a file or a part of a named split, but for those that stand in dev or test of a task."""
    dialogues = dialogues_in(file, base / with_seed(file, config))
    return without_held_out(dialogues, {name: replace(one, gold=()) for name, one in tasks.items()})[0]


def _hidden_of(config: FriendsConfig, base: Path, pool: set[str]) -> Audit | None:
    """Gold of the pool's own dialogues, from files of labelled examples."""
    found = {
        task: [one for one in _examples(config, task, base, file) if input_of(one).id in pool]
        for task, file in config.pool.hidden.items()
    }
    return hidden_gold(found) if found else None


def _usable(
    config: FriendsConfig, inputs: list[Any], tasks: Mapping[str, TaskData], path: Path
) -> tuple[list[Any], list[str]]:
    """The inputs of the pool that the config wants, and what a person should know of those that are left out."""
    notes: list[str] = []
    if config.pool.held_out == "dropped":
        inputs, notes = without_held_out(inputs, tasks)
    if config.pool.most is not None and config.pool.most < len(inputs):
        inputs = draw_examples(inputs, config.pool.most, seed=config.seed)
    if not inputs:
        raise DataError("no input is left in the pool", path=path)
    twice = [id for id, count in Counter(one.id for one in inputs).items() if count > 1]
    if twice:
        raise DataError(f"the id {twice[0]!r} stands here more than once, ids must differ", path=path)
    return inputs, notes


def whole_text(given: Any) -> str:
    """What an input says, case and marks aside: of a dialogue all turns, for many end in the same words."""
    if isinstance(given, Dialogue):
        return "\n".join(normalise(turn.text) for turn in given.turns)
    return normalise(text_of(given))


def without_held_out(inputs: list[Any], tasks: Mapping[str, TaskData]) -> tuple[list[Any], list[str]]:
    """Texts of gold, dev and test are left out of the pool, by what they say and not by their ids."""
    held: dict[str, str] = {}
    for name, examples in tasks.items():
        for part in ("test", "dev", "gold"):
            held |= {whole_text(input_of(one)): f"{part} of {name}" for one in getattr(examples, part)}
    found = Counter(held[text] for one in inputs if (text := whole_text(one)) in held)
    if not found:
        return inputs, []
    kept = [one for one in inputs if whole_text(one) not in held]
    told = ", ".join(f"{count} of {where}" for where, count in sorted(found.items()))
    return kept, [f"{sum(found.values())} inputs of the pool were left out because they also stand elsewhere: {told}"]


def leaks(tasks: Mapping[str, TaskData]) -> list[str]:
    """Gold of a task that is dev or test of any, and dev of a task that is its own test."""
    texts = {
        (name, part): {whole_text(input_of(one)) for one in getattr(examples, part)}
        for name, examples in tasks.items()
        for part in ("gold", "dev", "test")
    }
    notes = []
    for name in tasks:
        for part in ("dev", "test"):
            here = texts[name, part]
            for other in tasks:
                if shared := len(here & texts[other, "gold"]):
                    notes.append(f"{shared} of {len(here)} texts in {part} of {name} are gold of {other}")
        if shared := len(texts[name, "dev"] & texts[name, "test"]):
            notes.append(f"{shared} of {len(texts[name, 'test'])} texts in test of {name} are its dev")
    return notes
