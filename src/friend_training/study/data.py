"""The data of a run, from wherever its config says: gold, dev and test of both tasks, and the unlabeled pool."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import FramedVerbFinder, FramedWordFinder, PredicateFinder, VerbFinder
from friend_training.bridges.hanlp import HanlpParser
from friend_training.bridges.ltp import LtpParser
from friend_training.data import benchmarks, synthetic
from friend_training.data.benchmarks import bridge_sentences, build_pool
from friend_training.data.catalogue import (
    Corpus,
    corpora_of,
    data_folder,
    is_here,
    known_corpus,
    model_source,
    strictest_licence,
)
from friend_training.data.read import read_examples
from friend_training.data.sharded_pool import ShardedPool, is_sharded, open_pool
from friend_training.data.synthetic import Domain, SyntheticDialogue
from friend_training.errors import ConfigError, DataError
from friend_training.friendships.bridge_quality import gold_sigma
from friend_training.friendships.csrl_rewriting import Sigma
from friend_training.loop.labelling import Audit
from friend_training.methods.registry import METHODS
from friend_training.study.config import CaseStudyConfig, FriendsConfig, case_study
from friend_training.study.run_data import (
    NO_OBJECTS,
    BridgeData,
    Objects,
    Progress,
    RunData,
    TaskData,
    check_count,
    draw_examples,
    gold_units,
    hidden_gold,
    leaks,
    own_data,
    with_seed,
    without_held_out,
)
from friend_training.study.sections import (
    Config,
    FileDataConfig,
    HanlpBridgeConfig,
    LtpBridgeConfig,
    OwnTaskConfig,
    PublicDataConfig,
    SyntheticDataConfig,
)
from friend_training.types import (
    WITHOUT_BLANKS,
    CsrlExample,
    Dialogue,
    RewritingExample,
    SrlExample,
    dialogue_group,
)

# Drawing a few labels: for CSRL so many predicates, for rewriting so many dialogues.


def draw_predicates(examples: Sequence[CsrlExample], count: int | None, *, seed: int) -> list[CsrlExample]:
    """`count` predicates, each with its dialogue; the other predicates of that dialogue are not seen. None: all."""
    if count is None:
        return list(examples)
    units = [(number, unit) for number, example in enumerate(examples) for unit in range(len(example.roles))]
    check_count(count, len(units), "predicates")
    kept: dict[int, set[int]] = {}
    for number, unit in random.Random(f"csrl {seed}").sample(units, count):
        kept.setdefault(number, set()).add(unit)
    return [_only(examples[number], kept[number]) for number in sorted(kept)]


def first_units(examples: Sequence[Any], count: int | None) -> list[Any]:
    """Whole examples, in order, until `count` units are together; None takes all."""
    if count is None:
        return list(examples)
    chosen: list[Any] = []
    units = 0
    for example in examples:
        if units >= count:
            break
        chosen.append(example)
        units += len(gold_units(example))
    return chosen


def _only(example: CsrlExample, units: set[int]) -> CsrlExample:
    roles = tuple(label for number, label in enumerate(example.roles) if number in units)
    dialogue = replace(example.dialogue, predicates=tuple(label.predicate for label in roles))
    return CsrlExample(dialogue, roles)


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


TRAIN_SEED, DEV_SEED, TEST_SEED, POOL_SEED, BRIDGE_SEED = 11, 12, 13, 14, 15
"""The synthetic corpora are as fixed as a published dataset: a run's seed only draws from them."""


SYNTHETIC_TRAIN = 2000
"""How many synthetic dialogues each task's gold is drawn from."""


LABELLED_FILES, POOL_FILES, BRIDGE_FILES = 1500, 500, 1300
"""Reading the public files takes as long as finding the predicates of so many dialogues."""


def load_data(
    config: Config,
    data_dir: str | Path | None,
    progress: Progress = lambda done, total: None,
    *,
    pool: bool = True,
    objects: Objects = NO_OBJECTS,
) -> RunData:
    """Make or read the data; `progress` is told how much of it is there.

    Without the `pool`, which takes longest, all else is as it would be: the pool of a finished run is read from its
    folder (runs/inputs.py). `objects` are what a program gives instead of files.
    """
    data_dir = None if data_dir is None else Path(data_dir)
    if isinstance(config, FriendsConfig):
        found = own_data(config, data_dir, progress, pool=pool, objects=objects)
    else:
        found = _case_study_data(config, data_dir, progress, pool=pool)
    if config.test_units is None:
        return found
    cut = {name: replace(one, test=first_units(one.test, config.test_units)) for name, one in found.tasks.items()}
    return replace(found, tasks=cut)


def _case_study_data(config: Config, data_dir: Path | None, progress: Progress, *, pool: bool) -> RunData:
    assert isinstance(config, CaseStudyConfig), "there is no other"
    data = config.data
    if not pool:
        data = data.model_copy(update={"pool": "" if isinstance(data, FileDataConfig) else 0})
    if isinstance(data, SyntheticDataConfig):
        return _synthetic(data, config, progress)
    if isinstance(data, PublicDataConfig):
        return _public(data, config, data_folder(data_dir), progress)
    return _files(data, config, data_dir, progress)


def _synthetic(data: SyntheticDataConfig, config: CaseStudyConfig, progress: Progress) -> RunData:
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
    rewrites = draw_examples(synthetic.rewriting_examples(for_rewriting), data.rewriting_labels, seed=config.seed)
    return RunData(
        tasks={
            "csrl": TaskData(
                draw_predicates(_with_predicates(for_csrl), data.csrl_labels, seed=config.seed),
                _with_predicates(dev),
                _with_predicates(test),
            ),
            "rewriting": TaskData(rewrites, synthetic.rewriting_examples(dev), synthetic.rewriting_examples(test)),
        },
        pool=[one.dialogue for one in pool],
        audit=hidden_gold({"csrl": synthetic.csrl_examples(pool), "rewriting": synthetic.rewriting_examples(pool)}),
        bridge=BridgeData(sentences[split:], sentences[:split], _gold_sigma([*pool, *dev])),
    )


def _with_predicates(made: list[SyntheticDialogue]) -> list[CsrlExample]:
    return [example for example in synthetic.csrl_examples(made) if example.roles]


def _gold_sigma(made: list[SyntheticDialogue]) -> dict[str, Sigma]:
    return {one.dialogue.id: gold_sigma(one.rewrite, one.sentence_roles) for one in made}


def _public(data: PublicDataConfig, config: CaseStudyConfig, folder: Path, progress: Progress) -> RunData:
    work = Making(LABELLED_FILES + POOL_FILES + BRIDGE_FILES + data.pool, progress)
    duconv_train, duconv_dev, duconv_test = benchmarks.duconv(folder)
    rewrite_train, rewrite_dev, rewrite_test = benchmarks.rewrite(folder)
    in_domain = data.scenario == "few-shot"
    # In few-shot nothing is tested on the other domain: where its corpora are here, the pool has none of them either.
    personal_dev, personal_test = list[CsrlExample](), list[CsrlExample]()
    restoration_dev, restoration_test = list[RewritingExample](), list[RewritingExample]()
    if not in_domain or is_here("personal-dialog/test", folder):
        personal_dev, personal_test = benchmarks.personal_dialog(folder)
    if not in_domain or is_here("restoration/valid", folder):
        restoration_dev, restoration_test = benchmarks.restoration(folder)
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
        with_gold = [example.dialogue for example in rest[0]]
        audit = hidden_gold({"csrl": rest[0], "rewriting": rest[1]})
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
        tasks={
            "csrl": TaskData(csrl_gold, first_units(csrl_dev, data.dev), csrl_test),
            "rewriting": TaskData(rewriting_gold, dr_dev[: data.dev], dr_test),
        },
        pool=with_gold + with_found_predicates(pool, config, work.part(data.pool)),
        audit=audit,
        bridge=BridgeData(train, dev),
    )


def training_corpora(config: CaseStudyConfig) -> list[str]:
    """The public datasets that models of a run learn from, by their names: gold, pool, and the bridge's sentences."""
    if not isinstance(config.data, PublicDataConfig):
        return []
    pool = [] if config.data.pool_of == "labelled" else config.data.pool_corpora or ("lccc",)
    bridge = ("chinese-propbank", "news-dialog") if config.bridge.kind == "trained" else ()
    return ["duconv", "rewrite", *pool, *bridge]


@dataclass(frozen=True, slots=True)
class KnownData:
    """The datasets of the catalogue that models of a run learnt from."""

    corpora: tuple[Corpus, ...]

    @property
    def front(self) -> dict[str, Any]:
        """Their names and the strictest of their licences, as cards have them."""
        names = {"datasets": [corpus.name for corpus in self.corpora]} if self.corpora else {}
        return {"license": strictest_licence(self.corpora)} | names

    def __str__(self) -> str:
        return "; ".join(f"`{corpus.name}` ({corpus.licence})" for corpus in self.corpora)


def known_data(config: Config, base: Path) -> KnownData:
    """What was learnt from in a run: labels of one task reach its friends. `base` is where files of one's own lie."""
    if not isinstance(config, FriendsConfig):
        return KnownData(tuple(known_corpus(name) for name in training_corpora(case_study(config))))
    gold = [section.gold for section in config.tasks.values() if isinstance(section, OwnTaskConfig) and section.gold]
    return KnownData(tuple(corpora_of(base / with_seed(file, config) for file in [*gold, config.pool.file])))


def all_case_study_gold(config: CaseStudyConfig, data_dir: Path | None) -> Mapping[str, Sequence[Any]]:
    """The whole training sets that gold is drawn from."""
    given = config.data
    if isinstance(given, SyntheticDataConfig):
        count = SYNTHETIC_TRAIN
        made = synthetic.generate(2 * count, seed=TRAIN_SEED, domain=synthetic.Domain(given.domain), prefix="train-")
        csrl = [example for example in synthetic.csrl_examples(made[:count]) if example.roles]
        return {"csrl": csrl, "rewriting": synthetic.rewriting_examples(made[count:])}
    if isinstance(given, PublicDataConfig):
        folder = data_folder(data_dir)
        return {"csrl": benchmarks.duconv(folder)[0], "rewriting": benchmarks.rewrite(folder)[0]}
    raise ConfigError("base-full, fdt-s and fdt-sf need more labels than gold; of your own files all labels are gold")


def with_predicates(dialogues: Sequence[Dialogue], config: CaseStudyConfig, task: str) -> list[Dialogue]:
    """The dev dialogues of a task with predicates, in the form of the pool's; those of CSRL have them."""
    if isinstance(config.data, PublicDataConfig) and task == "rewriting":
        dialogues = with_found_predicates(dialogues, config, lambda done, total: None)
    if not any(dialogue.predicates for dialogue in dialogues):
        raise ConfigError(
            f"the dev dialogues of {task} give no predicates, so friends have nothing to match there and no threshold"
            " can be found for a precision; name the predicates, or set tasks.*.pick_threshold to a number or a share"
        )
    return list(dialogues)


def with_found_predicates(pool: Sequence[Dialogue], config: CaseStudyConfig, progress: Progress) -> list[Dialogue]:
    """Dialogues of a corpus without predicates, with those that the finder sees in the last turn."""
    if not pool:  # no parser is opened for nothing
        return []
    found = pool_finder(config, progress).find([dialogue.utterance.text for dialogue in pool])
    return [replace(d, predicates=predicates) for d, predicates in zip(pool, found, strict=True)]


def pool_finder(config: CaseStudyConfig, progress: Progress = lambda done, total: None) -> PredicateFinder:
    """What finds the predicates of the public chats, which give none."""
    data = config.data
    assert isinstance(data, PublicDataConfig)
    if data.finder == "hanlp-frames":
        assert isinstance(config.bridge, HanlpBridgeConfig)
        return FramedWordFinder(HanlpParser(config.bridge.model, device=config.device))
    parser = LtpParser.load(model_source(str(data.ltp)), device=config.device)
    parser.progress = progress
    return VerbFinder(parser) if data.finder == "ltp-verbs" else FramedVerbFinder(parser)


def _files(data: FileDataConfig, config: CaseStudyConfig, data_dir: Path | None, progress: Progress) -> RunData:
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
        raise ConfigError(
            "bridge.kind: with data.kind 'files' there is nothing to train a bridge on; use ltp, hanlp, or saved, one"
            " that another run has trained"
        )
    tasks = {
        "csrl": TaskData(csrl(data.csrl_train), csrl(data.csrl_dev), csrl(data.csrl_test)),
        "rewriting": TaskData(
            rewriting(data.rewriting_train), rewriting(data.rewriting_dev), rewriting(data.rewriting_test)
        ),
    }
    pool: Sequence[Dialogue] | ShardedPool = ()
    notes = leaks(tasks)
    if data.pool:
        pool = _pool_of_files(base, data.pool, config.shard_size)
        if not isinstance(pool, ShardedPool):  # one that no memory could hold is taken as it is
            kept, left_out = without_held_out(list(pool), tasks)
            pool, found = _asked_of(kept, config, base / data.pool)
            notes = [*notes, *left_out, *found, *odd_dialogues([*(one.dialogue for one in tasks["csrl"].gold), *pool])]
    return RunData(tasks=tasks, pool=pool, audit=None, bridge=BridgeData(), notes=tuple(notes))


def _asked_of(pool: list[Dialogue], config: CaseStudyConfig, path: Path) -> tuple[list[Dialogue], list[str]]:
    """A pool whose dialogues name predicates: those that the bridge's parser finds where the file names none."""
    if config.bridge.kind in ("ltp", "hanlp"):
        _check_chinese(pool, config.bridge.kind, path)
    if any(dialogue.predicates for dialogue in pool) or not any(METHODS[name].label_parts for name in config.methods):
        return pool, []
    finder: PredicateFinder
    if isinstance(config.bridge, LtpBridgeConfig):
        finder = FramedVerbFinder(LtpParser.load(model_source(config.bridge.source), device=config.device))
    elif isinstance(config.bridge, HanlpBridgeConfig):
        finder = FramedWordFinder(HanlpParser(config.bridge.model, device=config.device))
    else:
        raise DataError(
            "no dialogue of the pool names predicates, so CSRL would label nothing and friends could not be compared;"
            " name them in the file, or have a bridge of kind ltp or hanlp, whose parser finds them",
            path=path,
        )
    found = finder.find([dialogue.utterance.text for dialogue in pool])
    count = sum(map(len, found))
    if not count:
        raise DataError(f"the parser finds no predicate in its {len(pool)} dialogues; expected some", path=path)
    told = f"the pool names no predicates: the parser of the bridge found {count} in its {len(pool)} dialogues"
    return [replace(d, predicates=predicates) for d, predicates in zip(pool, found, strict=True)], [told]


_CHINESE = 0.1
"""Text of which fewer characters are Chinese is of another language."""


def _check_chinese(pool: Sequence[Dialogue], bridge: str, path: Path) -> None:
    letters = [one for dialogue in pool for turn in dialogue.turns for one in turn.text if one.isalpha()]
    chinese = sum(bool(WITHOUT_BLANKS.match(one)) for one in letters)
    if letters and chinese < _CHINESE * len(letters):
        raise DataError(
            f"{100 * chinese / len(letters):.0f} % of its letters are Chinese, and a bridge of kind {bridge} is a"
            " parser of Chinese; for other languages there are rewriting-by-words and coreference as friends"
            " (docs/own-dialogues.md)",
            path=path,
        )


def odd_dialogues(dialogues: Sequence[Dialogue]) -> list[str]:
    """What a person should know of dialogues that can be read, but are hardly meant so."""
    blank = sum(any(not turn.text.strip() for turn in dialogue.turns) for dialogue in dialogues)
    alone = sum(len({turn.speaker for turn in one.turns}) == 1 < len(one.turns) for one in dialogues)
    found = {"have blank turns": blank, "have one speaker only": alone}
    count = len(dialogues)
    return [
        f"{number} of {count} dialogues of CSRL's gold and the pool {what}" for what, number in found.items() if number
    ]


def _pool_of_files(base: Path, given: str, shard_size: int) -> Sequence[Dialogue] | ShardedPool:
    address = given if "://" in given else str(base / given)
    if is_sharded(address):
        return open_pool(address, shard_size=shard_size)
    return read_examples(Path(address), "dialogue").examples
