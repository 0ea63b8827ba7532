"""Which predicates are meant where nobody names them: the run's own finder, or what its data lets us make of one."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter

from friend_training.bridges.bridge import FramedVerbFinder, LexiconFinder, PredicateFinder
from friend_training.bridges.hanlp import missing_of_hanlp
from friend_training.bridges.ltp import LtpParser
from friend_training.data import synthetic
from friend_training.data.catalogue import model_source
from friend_training.data.synthetic import Domain
from friend_training.errors import DataError
from friend_training.runs.inputs import first_inputs, has_inputs
from friend_training.study.config import CaseStudyConfig
from friend_training.study.data import POOL_SEED, pool_finder
from friend_training.study.sections import (
    HanlpBridgeConfig,
    LtpBridgeConfig,
    PublicDataConfig,
    SyntheticDataConfig,
)
from friend_training.types import Dialogue

LEXICON_DIALOGUES = 1000
"""Dialogues that a lexicon is learnt from: a second's work, and all verbs of the synthetic ones occur by then."""


def default_finder(run: Path, config: CaseStudyConfig, *, ltp: Path | None) -> PredicateFinder | None:
    """The finder to use, or None where the run has nothing to make one of.

    Predicates are found as those of pools are, by framed verbs: a model is asked about what it was taught. In this
    order: the LTP parser that is given; the one that found the predicates of the run's pool, or that is its
    bridge, if it is at hand; the words that are predicates in the run's unlabeled dialogues.
    """
    if ltp is not None:
        return FramedVerbFinder(LtpParser.load(ltp, device=config.device))
    if isinstance(config.data, PublicDataConfig) and _is_at_hand(config, config.data):
        return pool_finder(config)
    if isinstance(config.bridge, LtpBridgeConfig) and (folder := Path(model_source(config.bridge.source))).is_dir():
        return FramedVerbFinder(LtpParser.load(folder, device=config.device))
    lexicon = LexiconFinder.learn(_unlabeled(run, config))
    return lexicon if lexicon.words else None


def _is_at_hand(config: CaseStudyConfig, data: PublicDataConfig) -> bool:
    """Whether the parser that found the predicates of the run's pool is on this machine."""
    if isinstance(config.bridge, HanlpBridgeConfig) and data.finder == "hanlp-frames":
        return not missing_of_hanlp(config.bridge.model)
    return data.ltp is not None and Path(model_source(data.ltp)).is_dir()


def no_finder() -> DataError:
    return DataError(
        "no predicates are given, and this run has no way to find them: name them by word or offsets,"
        " or name the folder of an LTP parser"
    )


def _unlabeled(run: Path, config: CaseStudyConfig) -> Iterator[Dialogue]:
    """Dialogues of the run's pool, with the predicates they were matched by: saved in its folder, or made again."""
    if has_inputs(run):
        yield from map(TypeAdapter(Dialogue).validate_json, first_inputs(run, LEXICON_DIALOGUES))
    elif isinstance(config.data, SyntheticDataConfig):
        count, domain = min(config.data.pool, LEXICON_DIALOGUES), Domain(config.data.target)
        yield from (one.dialogue for one in synthetic.generate(count, seed=POOL_SEED, domain=domain, prefix="pool-"))
