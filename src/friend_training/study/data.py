"""The data of a run, from wherever its config says: gold, dev and test of both tasks, and the unlabeled pool."""

import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from friend_training.bridges.hanlp import HanlpParser
from friend_training.bridges.ltp import LtpParser
from friend_training.bridges.predicates import FramedVerbFinder, FramedWordFinder, PredicateFinder, VerbFinder
from friend_training.core.task import Prediction
from friend_training.data import benchmark_splits, synthetic
from friend_training.data.bridge_sentences import bridge_sentences
from friend_training.data.catalogue import is_here
from friend_training.data.fingerprint import fingerprint
from friend_training.data.pool import build_pool
from friend_training.data.read import read_examples
from friend_training.data.sharded_pool import ShardedPool, is_sharded, open_pool
from friend_training.data.synthetic import Domain, SyntheticDialogue
from friend_training.errors import ConfigError
from friend_training.friendships.bridge_controls import GoldSigma, gold_sigma
from friend_training.friendships.csrl_rewriting import Sigma
from friend_training.loop.labelling import Audit
from friend_training.study.config import (
    Config,
    FileDataConfig,
    HanlpBridgeConfig,
    PublicDataConfig,
    SyntheticDataConfig,
)
from friend_training.tasks.role_labelling import unit_id
from friend_training.types import CsrlExample, Dialogue, RewritingExample, Roles, SrlExample, dialogue_group

# Drawing a few labels: for CSRL so many predicates, for rewriting so many dialogues.


T = TypeVar("T")


def draw_predicates(examples: Sequence[CsrlExample], count: int | None, *, seed: int) -> list[CsrlExample]:
    """`count` predicates, each with its dialogue; the other predicates of that dialogue are not seen. None: all."""
    if count is None:
        return list(examples)
    units = [(number, unit) for number, example in enumerate(examples) for unit in range(len(example.roles))]
    _check(count, len(units), "predicates")
    kept: dict[int, set[int]] = {}
    for number, unit in random.Random(f"csrl {seed}").sample(units, count):
        kept.setdefault(number, set()).add(unit)
    return [_only(examples[number], kept[number]) for number in sorted(kept)]


def draw_examples(examples: Sequence[T], count: int | None, *, seed: int) -> list[T]:
    if count is None:
        return list(examples)
    _check(count, len(examples), "examples")
    chosen = random.Random(f"examples {seed}").sample(range(len(examples)), count)
    return [examples[number] for number in sorted(chosen)]


def first_units(examples: Sequence[CsrlExample], count: int | None) -> list[CsrlExample]:
    """Whole examples, in order, until `count` predicates are together; None takes all."""
    if count is None:
        return list(examples)
    chosen: list[CsrlExample] = []
    units = 0
    for example in examples:
        if units >= count:
            break
        chosen.append(example)
        units += len(example.roles)
    return chosen


def _only(example: CsrlExample, units: set[int]) -> CsrlExample:
    roles = tuple(label for number, label in enumerate(example.roles) if number in units)
    dialogue = replace(example.dialogue, predicates=tuple(label.predicate for label in roles))
    return CsrlExample(dialogue, roles)


def _check(wanted: int, there: int, what: str) -> None:
    if wanted > there:
        raise ConfigError(f"{wanted} labelled {what} are asked for, but there are only {there}")


# Which predictions are right, by gold labels that training and selection do not see.


@dataclass(frozen=True, slots=True)
class HiddenGold:
    """Right means entirely right: every argument of the predicate, or the whole rewritten utterance.

    None where a unit has no gold label. An audit of the core, and picklable: workers that label take it along.
    """

    roles: Mapping[str, Roles]
    rewrites: Mapping[str, str]

    def __call__(self, task: str, prediction: Prediction) -> bool | None:
        if task == "csrl":
            roles = self.roles.get(prediction.unit)
            return None if roles is None else set(prediction.label.arguments) == set(roles.arguments)
        rewrite = self.rewrites.get(prediction.unit)
        return None if rewrite is None else bool(prediction.label.text == rewrite)


def hidden_gold(csrl: Iterable[CsrlExample], rewriting: Iterable[RewritingExample]) -> HiddenGold:
    return HiddenGold(
        {unit_id(example.dialogue.id, label.predicate): label for example in csrl for label in example.roles},
        {example.dialogue.id: example.rewrite for example in rewriting},
    )


# A pool whose gold is known: labelled training dialogues that are not among the few a run may learn from.
#
# Selection and training see none of its labels. It is for ceilings (FDT with oracle selection) and for counting on real
# dialogues how many of the chosen pseudo-labels are right.


def left_over(
    csrl: Sequence[CsrlExample],
    rewriting: Sequence[RewritingExample],
    *,
    csrl_gold: Sequence[CsrlExample],
    rewriting_gold: Sequence[RewritingExample],
    count: int,
    seed: int,
) -> tuple[list[CsrlExample], list[RewritingExample]]:
    """`count` dialogues, half of them from each task's training set; rewriting, the larger one, fills up.

    Of a dialogue that gold has a turn of, no turn is taken.
    """
    seen = {dialogue_group(example.dialogue.id) for example in csrl_gold}
    others = [example for example in csrl if dialogue_group(example.dialogue.id) not in seen and example.roles]
    drawn = {example.dialogue.id for example in rewriting_gold}
    rest = [example for example in rewriting if example.dialogue.id not in drawn]
    generator = random.Random(seed)
    for_csrl = generator.sample(others, min(count // 2, len(others)))
    wanted = count - len(for_csrl)
    if wanted > len(rest):
        raise ConfigError(
            f"data.pool: {count} labelled dialogues are asked for; {len(for_csrl) + len(rest)} are left over"
        )
    return for_csrl, generator.sample(rest, wanted)


# How much of the data of a run is there already, told while they are made or read.


Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


AT_ONCE = 250
"""Synthetic dialogues made between two reports: a third of a second."""


class Making:
    """Counts up to a known total, in whatever takes about the same time."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.total, self.progress = total, progress
        self.done = 0

    def add(self, count: int) -> None:
        self.done += count
        self.progress(self.done, self.total)

    def part(self, size: int) -> Progress:
        """Progress of a part of this work, which is `size` of its total, however the part itself counts."""
        before = self.done

        def advanced(done: int, total: int) -> None:
            self.done = before + size * done // total
            self.progress(self.done, self.total)

        return advanced

    def dialogues(self, count: int, *, seed: int, domain: Domain, prefix: str) -> list[SyntheticDialogue]:
        made: list[SyntheticDialogue] = []
        while len(made) < count:
            some = min(AT_ONCE, count - len(made))
            made += synthetic.generate(some, seed=seed, domain=domain, prefix=prefix, first=len(made))
            self.add(some)
        return made

    def sentences(self, count: int, *, seed: int) -> list[SrlExample]:
        made = synthetic.generate_sentences(count, seed=seed)
        self.add(count)
        return made


# Where public data and encoders lie on this machine: given, or by FRIEND_TRAINING_DATA and FRIEND_TRAINING_MODELS.


def named_data_folder(given: str | Path | None) -> Path | None:
    """The folder that was named, there or not."""
    named = given or os.environ.get("FRIEND_TRAINING_DATA")
    return Path(named) if named else None


def data_folder(given: str | Path | None) -> Path:
    named = named_data_folder(given)
    if named is None:
        raise ConfigError("this run needs public datasets: name their folder by --data-dir or FRIEND_TRAINING_DATA")
    if not named.is_dir():
        raise ConfigError(f"the data folder {named} does not exist")
    return named


def model_file(source: str, name: str) -> Path | None:
    """A file of a model that is on this machine: in its folder, or in the hub's cache. Nothing is downloaded."""
    folder = Path(model_source(source))
    if folder.is_dir():
        return folder / name if (folder / name).is_file() else None
    # Only now: it takes a moment, and a folder is asked for more often than the hub.
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(source, name)
    except HFValidationError:  # a path that is no name of the hub
        return None
    return Path(found) if isinstance(found, str) else None


def model_source(source: str) -> str:
    """A folder as given, a folder below FRIEND_TRAINING_MODELS, or else a hub name, left to transformers."""
    below = Path(os.environ.get("FRIEND_TRAINING_MODELS", "")) / source
    for folder in (Path(source), below):
        if folder.is_dir():
            return str(folder)
    return source


TRAIN_SEED, DEV_SEED, TEST_SEED, POOL_SEED, BRIDGE_SEED = 11, 12, 13, 14, 15
"""The synthetic corpora are as fixed as a published dataset: a run's seed only draws from them."""


SYNTHETIC_TRAIN = 2000
"""How many synthetic dialogues each task's gold is drawn from."""


LABELLED_FILES, POOL_FILES, BRIDGE_FILES = 1500, 500, 1300
"""Reading the public files takes as long as finding the predicates of so many dialogues."""


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run sees. `audit` knows the hidden gold of the pool, where there is any; selection never does.

    `gold_sigma` is what a perfect bridge says of gold rewrites, of the pool's dialogues and dev's, where data know it.
    """

    csrl_gold: Sequence[CsrlExample]
    csrl_dev: Sequence[CsrlExample]
    csrl_test: Sequence[CsrlExample]
    rewriting_gold: Sequence[RewritingExample]
    rewriting_dev: Sequence[RewritingExample]
    rewriting_test: Sequence[RewritingExample]
    pool: Sequence[Dialogue] | ShardedPool
    bridge_train: Sequence[SrlExample]
    bridge_dev: Sequence[SrlExample]
    audit: Audit | None
    gold_sigma: GoldSigma | None = None

    def fingerprints(self) -> dict[str, str]:
        parts: Mapping[str, Sequence[object]] = {
            "csrl_gold": self.csrl_gold,
            "csrl_dev": self.csrl_dev,
            "csrl_test": self.csrl_test,
            "rewriting_gold": self.rewriting_gold,
            "rewriting_dev": self.rewriting_dev,
            "rewriting_test": self.rewriting_test,
            "bridge_train": self.bridge_train,
            "bridge_dev": self.bridge_dev,
        }
        return {name: fingerprint(examples) for name, examples in parts.items()} | {"pool": self.pool_fingerprint}

    @property
    def pool_fingerprint(self) -> str:
        return self.pool.fingerprint if isinstance(self.pool, ShardedPool) else fingerprint(self.pool)


def load_data(
    config: Config, data_dir: str | Path | None, progress: Progress = lambda done, total: None, *, pool: bool = True
) -> RunData:
    """Make or read the data; `progress` is told how much of it is there.

    Without the `pool`, which takes longest, all else is as it would be: the pool of a finished run is read from its
    folder (runs/inputs.py).
    """
    data_dir = None if data_dir is None else Path(data_dir)
    data = config.data
    if not pool:
        data = data.model_copy(update={"pool": "" if isinstance(data, FileDataConfig) else 0})
    if isinstance(data, SyntheticDataConfig):
        return _synthetic(data, config, progress)
    if isinstance(data, PublicDataConfig):
        return _public(data, config, data_folder(data_dir), progress)
    return _files(data, config, data_dir, progress)


def _synthetic(data: SyntheticDataConfig, config: Config, progress: Progress) -> RunData:
    domain, target = Domain(data.domain), Domain(data.target)
    work = Making(2 * SYNTHETIC_TRAIN + data.dev + data.test + data.pool + data.bridge_sentences, progress)
    made = work.dialogues(2 * SYNTHETIC_TRAIN, seed=TRAIN_SEED, domain=domain, prefix="train-")
    # The paper's two datasets are made independently: no dialogue carries labels of both tasks.
    for_csrl, for_rewriting = made[:SYNTHETIC_TRAIN], made[SYNTHETIC_TRAIN:]
    dev = work.dialogues(data.dev, seed=DEV_SEED, domain=target, prefix="dev-")
    test = work.dialogues(data.test, seed=TEST_SEED, domain=target, prefix="test-")
    pool = work.dialogues(data.pool, seed=POOL_SEED, domain=target, prefix="pool-")
    sentences = work.sentences(data.bridge_sentences, seed=BRIDGE_SEED)
    split = max(1, len(sentences) // 10)
    return RunData(
        csrl_gold=draw_predicates(_with_predicates(for_csrl), data.csrl_labels, seed=config.seed),
        csrl_dev=_with_predicates(dev),
        csrl_test=_with_predicates(test),
        rewriting_gold=draw_examples(
            synthetic.rewriting_examples(for_rewriting), data.rewriting_labels, seed=config.seed
        ),
        rewriting_dev=synthetic.rewriting_examples(dev),
        rewriting_test=synthetic.rewriting_examples(test),
        pool=[one.dialogue for one in pool],
        bridge_train=sentences[split:],
        bridge_dev=sentences[:split],
        audit=hidden_gold(synthetic.csrl_examples(pool), synthetic.rewriting_examples(pool)),
        gold_sigma=_gold_sigma([*pool, *dev]),
    )


def _with_predicates(made: list[SyntheticDialogue]) -> list[CsrlExample]:
    return [example for example in synthetic.csrl_examples(made) if example.roles]


def _gold_sigma(made: list[SyntheticDialogue]) -> dict[str, Sigma]:
    return {one.dialogue.id: gold_sigma(one.rewrite, one.sentence_roles) for one in made}


def _public(data: PublicDataConfig, config: Config, folder: Path, progress: Progress) -> RunData:
    work = Making(LABELLED_FILES + POOL_FILES + BRIDGE_FILES + data.pool, progress)
    duconv_train, duconv_dev, duconv_test = benchmark_splits.duconv(folder)
    rewrite_train, rewrite_dev, rewrite_test = benchmark_splits.rewrite(folder)
    in_domain = data.scenario == "few-shot"
    # In few-shot nothing is tested on the other domain: where its corpora are here, the pool has none of them either.
    personal_dev, personal_test = list[CsrlExample](), list[CsrlExample]()
    restoration_dev, restoration_test = list[RewritingExample](), list[RewritingExample]()
    if not in_domain or is_here("personal-dialog/test", folder):
        personal_dev, personal_test = benchmark_splits.personal_dialog(folder)
    if not in_domain or is_here("restoration/valid", folder):
        restoration_dev, restoration_test = benchmark_splits.restoration(folder)
    work.add(LABELLED_FILES)
    csrl_dev, csrl_test = (duconv_dev, duconv_test) if in_domain else (personal_dev, personal_test)
    dr_dev, dr_test = (rewrite_dev, rewrite_test) if in_domain else (restoration_dev, restoration_test)
    held_out = [
        example.dialogue for part in (duconv_dev, duconv_test, personal_dev, personal_test) for example in part
    ] + [e.dialogue for part in (rewrite_dev, rewrite_test, restoration_dev, restoration_test) for e in part]
    csrl_gold = draw_predicates(duconv_train, data.csrl_labels, seed=config.seed)
    rewriting_gold = draw_examples(rewrite_train, data.rewriting_labels, seed=config.seed)
    audit: Audit | None = None
    with_gold: list[Dialogue] = []
    if data.pool_of == "labelled":
        rest = left_over(
            duconv_train,
            rewrite_train,
            csrl_gold=csrl_gold,
            rewriting_gold=rewriting_gold,
            count=data.pool,
            seed=POOL_SEED,
        )
        with_gold, audit = [example.dialogue for example in rest[0]], hidden_gold(*rest)
        pool = [example.dialogue for example in rest[1]]
    else:
        pool = (
            build_pool(folder, count=data.pool, exclude=held_out, seed=POOL_SEED, evenly=data.pool_corpora)
            if data.pool
            else []
        )
    work.add(POOL_FILES)
    train, dev = list[SrlExample](), list[SrlExample]()
    if config.bridge.kind == "trained":
        train, dev = bridge_sentences(folder, unseen=[*duconv_train, *duconv_dev, *duconv_test])
    work.add(BRIDGE_FILES)
    return RunData(
        csrl_gold=csrl_gold,
        csrl_dev=first_units(csrl_dev, data.dev),
        csrl_test=csrl_test,
        rewriting_gold=rewriting_gold,
        rewriting_dev=dr_dev[: data.dev],
        rewriting_test=dr_test,
        pool=with_gold + with_found_predicates(pool, config, work.part(data.pool)),
        bridge_train=train,
        bridge_dev=dev,
        audit=audit,
    )


def with_found_predicates(pool: Sequence[Dialogue], config: Config, progress: Progress) -> list[Dialogue]:
    """Dialogues of a corpus without predicates, with those that the finder sees in the last turn."""
    if not pool:  # no parser is opened for nothing
        return []
    found = pool_finder(config, progress).find([dialogue.utterance.text for dialogue in pool])
    return [replace(d, predicates=predicates) for d, predicates in zip(pool, found, strict=True)]


def pool_finder(config: Config, progress: Progress = lambda done, total: None) -> PredicateFinder:
    """What finds the predicates of the public chats, which give none."""
    data = config.data
    assert isinstance(data, PublicDataConfig)
    if data.finder == "hanlp-frames":
        assert isinstance(config.bridge, HanlpBridgeConfig)
        return FramedWordFinder(HanlpParser(config.bridge.model, device=config.device))
    parser = LtpParser.load(model_source(str(data.ltp)), device=config.device)
    parser.progress = progress
    return VerbFinder(parser) if data.finder == "ltp-verbs" else FramedVerbFinder(parser)


def _files(data: FileDataConfig, config: Config, data_dir: Path | None, progress: Progress) -> RunData:
    base = data_dir or Path()
    work = Making(len(FileDataConfig.model_fields) - 1, progress)

    def csrl(name: str) -> list[CsrlExample]:
        found = read_examples(base / name, "csrl").examples
        work.add(1)
        return [example for example in found if example.roles]

    def rewriting(name: str) -> list[RewritingExample]:
        found = read_examples(base / name, "rewriting").examples
        work.add(1)
        return found

    if config.bridge.kind == "trained":
        raise ConfigError("bridge.kind: with data.kind 'files' there is nothing to train a bridge on; use ltp or hanlp")
    return RunData(
        csrl_gold=csrl(data.csrl_train),
        csrl_dev=csrl(data.csrl_dev),
        csrl_test=csrl(data.csrl_test),
        rewriting_gold=rewriting(data.rewriting_train),
        rewriting_dev=rewriting(data.rewriting_dev),
        rewriting_test=rewriting(data.rewriting_test),
        pool=_pool_of_files(base, data.pool, config.shard_size) if data.pool else (),
        bridge_train=(),
        bridge_dev=(),
        audit=None,
    )


def _pool_of_files(base: Path, given: str, shard_size: int) -> Sequence[Dialogue] | ShardedPool:
    address = given if "://" in given else str(base / given)
    if is_sharded(address):
        return open_pool(address, shard_size=shard_size)
    return read_examples(Path(address), "dialogue").examples
