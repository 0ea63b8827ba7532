"""What our own bridge may learn from: Chinese PropBank and what NewsDialog has within utterances, never DuConv."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from friend_training.data import benchmark_splits
from friend_training.data.fingerprint import fingerprint
from friend_training.errors import DataError
from friend_training.friendships.bridge_quality import within_utterance
from friend_training.types import CsrlExample, SrlExample, Text

NEWS_DEV = 200

NEWS_TIMES = 3
"""NewsDialog talks as dialogues do and is the smaller part: each of its sentences comes three times an epoch."""

SAID_BY_EVERYONE = 6
"""Utterances shorter than this (是呀。) occur in any corpus and carry nothing from one to the other."""


def bridge_sentences(folder: Path, *, unseen: Iterable[CsrlExample]) -> tuple[list[SrlExample], list[SrlExample]]:
    """Train and dev. `unseen` is DuConv: few-shot labels would leak through a bridge that had seen it."""
    propbank_train, propbank_dev = benchmark_splits.chinese_propbank(folder)
    # Where an argument stands in another turn, a pronoun of this one is left without a role: only complete predicates.
    news = [within_utterance(example, only_complete=True) for example in benchmark_splits.news_dialog(folder)]
    news = [example for example in news if example.roles]
    train = propbank_train + news[NEWS_DEV:] * NEWS_TIMES
    dev = propbank_dev[:NEWS_DEV] + news[:NEWS_DEV]
    check_unseen([*train, *dev], unseen)
    return train, dev


def check_unseen(sentences: Sequence[SrlExample], unseen: Iterable[CsrlExample]) -> None:
    """Compare fingerprints of what the bridge reads with those of every utterance it must never have read."""
    forbidden = {_fingerprint(turn.text) for example in unseen for turn in example.dialogue.turns}
    for example in sentences:
        text = example.sentence.text
        if len(text) >= SAID_BY_EVERYONE and _fingerprint(text) in forbidden:
            raise DataError(
                f"the bridge's training sentence {example.sentence.id!r} is an utterance of the CSRL data that few-shot"
                " labels and tests come from; the bridge must not have seen it"
            )


def _fingerprint(text: str) -> str:
    return fingerprint([Text("", text)])
