"""The data of a run, from wherever its config says: gold, dev and test of both tasks, and the unlabeled pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from friend_training.core.labelling import Audit
from friend_training.corpora import embedded, scenarios
from friend_training.corpora.catalogue import is_here
from friend_training.corpora.embedded import Domain, EmbeddedDialogue
from friend_training.corpora.fingerprint import fingerprint
from friend_training.corpora.pool import build_pool
from friend_training.corpora.read import read_examples
from friend_training.corpora.sharded_pool import ShardedPool, is_sharded, open_pool
from friend_training.errors import ConfigError
from friend_training.examples import CsrlExample, Dialogue, RewritingExample, SrlExample
from friend_training.friends.csrl_rewriting import Sigma
from friend_training.friends.gold_bridge import GoldSigma, gold_sigma
from friend_training.scenarios.bridge_data import bridge_sentences
from friend_training.scenarios.config import Config, HanlpBridge
from friend_training.scenarios.data_sections import EmbeddedData, FileData, PublicData
from friend_training.scenarios.draw import draw_examples, draw_predicates, first_units
from friend_training.scenarios.gold import hidden_gold
from friend_training.scenarios.labelled_pool import left_over
from friend_training.scenarios.making import Making, Progress
from friend_training.scenarios.places import data_folder, model_source
from friend_training.tasks.srl.hanlp import HanlpParser
from friend_training.tasks.srl.ltp import LtpParser
from friend_training.tasks.srl.predicates import FramedVerbFinder, FramedWordFinder, PredicateFinder, VerbFinder

TRAIN_SEED, DEV_SEED, TEST_SEED, POOL_SEED, BRIDGE_SEED = 11, 12, 13, 14, 15
"""The embedded corpora are as fixed as a published dataset: a run's seed only draws from them."""

EMBEDDED_TRAIN = 2000
"""How many embedded dialogues each task's gold is drawn from."""

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


def load_data(config: Config, data_dir: str | Path | None, progress: Progress = lambda done, total: None) -> RunData:
    """Make or read the data; `progress` is told how much of it is there."""
    data_dir = None if data_dir is None else Path(data_dir)
    data = config.data
    if isinstance(data, EmbeddedData):
        return _embedded(data, config, progress)
    if isinstance(data, PublicData):
        return _public(data, config, data_folder(data_dir), progress)
    return _files(data, config, data_dir, progress)


def _embedded(data: EmbeddedData, config: Config, progress: Progress) -> RunData:
    domain, target = Domain(data.domain), Domain(data.target)
    work = Making(2 * EMBEDDED_TRAIN + data.dev + data.test + data.pool + data.bridge_sentences, progress)
    made = work.dialogues(2 * EMBEDDED_TRAIN, seed=TRAIN_SEED, domain=domain, prefix="train-")
    # The paper's two datasets are made independently: no dialogue carries labels of both tasks.
    for_csrl, for_rewriting = made[:EMBEDDED_TRAIN], made[EMBEDDED_TRAIN:]
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
            embedded.rewriting_examples(for_rewriting), data.rewriting_labels, seed=config.seed
        ),
        rewriting_dev=embedded.rewriting_examples(dev),
        rewriting_test=embedded.rewriting_examples(test),
        pool=[one.dialogue for one in pool],
        bridge_train=sentences[split:],
        bridge_dev=sentences[:split],
        audit=hidden_gold(embedded.csrl_examples(pool), embedded.rewriting_examples(pool)),
        gold_sigma=_gold_sigma([*pool, *dev]),
    )


def _with_predicates(made: list[EmbeddedDialogue]) -> list[CsrlExample]:
    return [example for example in embedded.csrl_examples(made) if example.roles]


def _gold_sigma(made: list[EmbeddedDialogue]) -> dict[str, Sigma]:
    return {one.dialogue.id: gold_sigma(one.rewrite, one.sentence_roles) for one in made}


def _public(data: PublicData, config: Config, folder: Path, progress: Progress) -> RunData:
    work = Making(LABELLED_FILES + POOL_FILES + BRIDGE_FILES + data.pool, progress)
    duconv_train, duconv_dev, duconv_test = scenarios.duconv(folder)
    rewrite_train, rewrite_dev, rewrite_test = scenarios.rewrite(folder)
    in_domain = data.scenario == "few-shot"
    # In few-shot nothing is tested on the other domain: where its corpora are here, the pool has none of them either.
    personal_dev, personal_test = list[CsrlExample](), list[CsrlExample]()
    restoration_dev, restoration_test = list[RewritingExample](), list[RewritingExample]()
    if not in_domain or is_here("personal-dialog/test", folder):
        personal_dev, personal_test = scenarios.personal_dialog(folder)
    if not in_domain or is_here("restoration/valid", folder):
        restoration_dev, restoration_test = scenarios.restoration(folder)
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
        pool = build_pool(folder, count=data.pool, exclude=held_out, seed=POOL_SEED, evenly=data.pool_corpora)
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
    found = pool_finder(config, progress).find([dialogue.utterance.text for dialogue in pool])
    return [replace(d, predicates=predicates) for d, predicates in zip(pool, found, strict=True)]


def pool_finder(config: Config, progress: Progress = lambda done, total: None) -> PredicateFinder:
    """What finds the predicates of the public chats, which give none."""
    data = config.data
    assert isinstance(data, PublicData)
    if data.finder == "hanlp-frames":
        assert isinstance(config.bridge, HanlpBridge)
        return FramedWordFinder(HanlpParser(config.bridge.model, device=config.device))
    parser = LtpParser.load(model_source(str(data.ltp)), device=config.device)
    parser.progress = progress
    return VerbFinder(parser) if data.finder == "ltp-verbs" else FramedVerbFinder(parser)


def _files(data: FileData, config: Config, data_dir: Path | None, progress: Progress) -> RunData:
    base = data_dir or Path()
    work = Making(len(FileData.model_fields) - 1, progress)

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
        pool=_pool_of_files(base, data.pool, config.shard_size),
        bridge_train=(),
        bridge_dev=(),
        audit=None,
    )


def _pool_of_files(base: Path, given: str, shard_size: int) -> Sequence[Dialogue] | ShardedPool:
    address = given if "://" in given else str(base / given)
    if is_sharded(address):
        return open_pool(address, shard_size=shard_size)
    return read_examples(Path(address), "dialogue").examples
