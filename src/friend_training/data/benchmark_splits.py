"""The splits that all experiments share, made with the fixed seed (docs/decisions.md#public-data)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from friend_training.data.catalogue import part_path
from friend_training.data.read import read_examples
from friend_training.data.readers.propbank import TaggedSentence, read_propbank
from friend_training.data.splits import split
from friend_training.data.summary import fingerprint
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.friendships.bridge_quality import within_utterance
from friend_training.types import CsrlExample, RewritingExample, SrlExample, Text

Csrl = list[CsrlExample]

Rewriting = list[RewritingExample]


def duconv(data_dir: str | Path) -> tuple[Csrl, Csrl, Csrl]:
    """Train, dev, test: 240 and 60 dialogues of the dev file; the test file is only ever test."""
    parts = split(_csrl("duconv/dev", data_dir), {"train": 240, "dev": 60})
    return parts["train"], parts["dev"], _csrl("duconv/test", data_dir)


def personal_dialog(data_dir: str | Path) -> tuple[Csrl, Csrl]:
    """Dev and test: 30 and 70 dialogues. The original file holds 100 dialogues more; they are test too."""
    parts = split(_csrl("personal-dialog/test", data_dir), {"dev": 30, "test": None})
    return parts["dev"], parts["test"]


def news_dialog(data_dir: str | Path) -> Csrl:
    """All of it, for the bridge."""
    return _csrl("news-dialog/test", data_dir)


def rewrite(data_dir: str | Path) -> tuple[Rewriting, Rewriting, Rewriting]:
    """Train, dev, test: 16,000, 1,000 and 1,000; what is left over stays unused."""
    parts = split(_rewriting("rewrite/all", data_dir), {"train": 16_000, "dev": 1_000, "test": 1_000})
    return parts["train"], parts["dev"], parts["test"]


def restoration(data_dir: str | Path) -> tuple[Rewriting, Rewriting]:
    """Dev and test: 2,000 and 3,095."""
    parts = split(_rewriting("restoration/valid", data_dir), {"dev": 2_000, "test": None})
    return parts["dev"], parts["test"]


def chinese_propbank(data_dir: str | Path) -> tuple[list[SrlExample], list[SrlExample]]:
    """Train and dev, as published."""
    train, dev = chinese_propbank_tagged(data_dir)
    return [sentence.example for sentence in train], [sentence.example for sentence in dev]


def chinese_propbank_tagged(data_dir: str | Path) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """The same with words and parts of speech, for the predicate finder."""
    train, dev = (part_path(f"chinese-propbank/{part}", data_dir) for part in ("train", "dev"))
    return list(read_propbank(train, Problems(train))), list(read_propbank(dev, Problems(dev)))


def _csrl(name: str, data_dir: str | Path) -> Csrl:
    return read_examples(part_path(name, data_dir), "csrl").examples


def _rewriting(name: str, data_dir: str | Path) -> Rewriting:
    return read_examples(part_path(name, data_dir), "rewriting").examples


# What our own bridge may learn from: Chinese PropBank and what NewsDialog has within utterances, never DuConv.


NEWS_DEV = 200


NEWS_TIMES = 3
"""NewsDialog talks as dialogues do and is the smaller part: each of its sentences comes three times an epoch."""


SAID_BY_EVERYONE = 6
"""Utterances shorter than this (是呀。) occur in any corpus and carry nothing from one to the other."""


def bridge_sentences(folder: Path, *, unseen: Iterable[CsrlExample]) -> tuple[list[SrlExample], list[SrlExample]]:
    """Train and dev. `unseen` is DuConv: few-shot labels would leak through a bridge that had seen it."""
    propbank_train, propbank_dev = chinese_propbank(folder)
    # Where an argument stands in another turn, a pronoun of this one is left without a role: only complete predicates.
    news = [within_utterance(example, only_complete=True) for example in news_dialog(folder)]
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
