"""The public datasets as all experiments use them: splits made with a fixed seed, and the unlabeled pool.

The splits are described in docs/decisions.md#public-data. The pool is chats of at least four turns, none of them
twice, none from a labelled dev or test set.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from friend_training.data.catalogue import find_part, known_corpus, part_path
from friend_training.data.read import read_examples, stream_examples
from friend_training.data.readers.english import USER, rewrites_of
from friend_training.data.readers.propbank import TaggedSentence, read_propbank
from friend_training.data.splits import normalise, split
from friend_training.data.summary import fingerprint
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.friendships.bridge_quality import within_utterance
from friend_training.types import (
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    RewritingExample,
    SrlExample,
    Text,
    Turn,
    dialogue_group,
)

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


# Coreference and rewriting in English, for configs that name the parts of it in the place of files.


MUDOCO_DOMAINS = ("calling", "messaging", "music", "news", "reminders", "weather")


@cache
def mudoco_few_shot(data_dir: str | Path) -> Mapping[str, Sequence[Any]]:
    """Cuts of MuDoCo's dialogues that end in a turn of the user, by part; no dialogue stands in two parts.

    Rewrites of all domains exist for dev and test only: a quarter of the dialogues of dev gives gold rewrites, a
    quarter is dev, half is test together with the test file (`rewrites-half`, `rewrites-file`, both in
    `rewrites-test`). Gold links come from train, of dialogues in which the user speaks more than once, as do gold
    rewrites; the same dialogues of train are the pool, less turns that have no context.
    """
    links = {part: _of_users(part, data_dir) for part in ("train", "dev", "test")}
    rewrites: dict[str, RewritingExample] = {}
    for part in ("dev", "test"):
        rewrites |= rewrites_of(links[part], _rewriting(f"mudoco-qr/{part}", data_dir))
    dialogues = [cut.dialogue for cut in links["dev"]]
    quarter = len({dialogue_group(dialogue.id) for dialogue in dialogues}) // 4
    cuts = {name: {one.id for one in of} for name, of in split(dialogues, _sides(quarter)).items()}
    cuts["file"] = {cut.dialogue.id for cut in links["test"]}
    parts: dict[str, list[Any]] = {}
    for name, ids in cuts.items():
        parts[f"rewrites-{name}"] = [rewrites[id] for id in rewrites if id in ids]
        parts[f"links-{name}"] = [
            cut for of in links.values() for cut in of if cut.dialogue.id in ids & rewrites.keys()
        ]
    for kind in ("rewrites", "links"):
        parts[f"{kind}-test"] = parts[f"{kind}-half"] + parts[f"{kind}-file"]
    parts["rewrites-gold"] = _of_several(parts["rewrites-gold"])
    parts["links-train"], parts["links-gold"] = links["train"], _of_several(links["train"])
    parts["pool"] = [cut.dialogue for cut in links["train"] if cut.dialogue.context]
    return parts


def _sides(quarter: int) -> dict[str, int | None]:
    return {"gold": quarter, "dev": quarter, "half": None}


def _of_users(part: str, data_dir: str | Path) -> list[CoreferenceExample]:
    names = [f"mudoco/{domain}-{part}" for domain in MUDOCO_DOMAINS]
    cuts = [cut for name in names for cut in read_examples(part_path(name, data_dir), "coreference").examples]
    return [cut for cut in cuts if cut.dialogue.utterance.speaker == USER]


def _of_several(cuts: Sequence[Any]) -> list[Any]:
    """Cuts of dialogues that have more than one."""
    turns = Counter(dialogue_group(cut.dialogue.id) for cut in cuts)
    return [cut for cut in cuts if turns[dialogue_group(cut.dialogue.id)] > 1]


NAMED_SPLITS: Mapping[str, Callable[[str | Path], Mapping[str, Sequence[Any]]]] = {"mudoco-few-shot": mudoco_few_shot}
"""Splits whose parts a config may name where else it names a file: mudoco-few-shot/links-dev."""


def named_part(name: str, path: Path) -> list[Any] | None:
    """The examples or inputs of a part of a named split; None if no split is called so.

    `path` is where a file of this name would lie: the split's data are searched two folders above it.
    """
    of, _, part = name.partition("/")
    if of not in NAMED_SPLITS:
        return None
    parts = NAMED_SPLITS[of](path.parents[1])
    if part not in parts:
        raise DataError(f"{of} has no part {part!r}; its parts are {', '.join(parts)}")
    return list(parts[part])


def dialogues_in(name: str, path: Path) -> list[Dialogue]:
    """The dialogues of a part of a named split, or of the file of that name."""
    found = named_part(name, path)
    return list(read_examples(path, "dialogue").examples) if found is None else found


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


MIN_TURNS = 4
"""The paper takes dialogues of at least four turns."""

WINDOW_TURNS = 6
MAX_CHARACTERS = 110
"""With a speaker token per turn, [CLS] and [SEP] this fits the 125 tokens of the paper."""

_TELLING_TURN = 8
_TELLING_PAIR = 6


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus of the pool. LCCC's chats are short and end where they end; long ones are cut into windows."""

    corpus: str
    windows: bool


SOURCES = (
    Source("lccc", windows=False),
    Source("xdailydialog", windows=True),
    Source("cped", windows=True),
    Source("corecode", windows=True),
    Source("kdconv", windows=True),
    Source("duconv-raw", windows=True),
)
"""In the order in which they are used up: LCCC first, as in the paper, then the other open chats."""


def build_pool(
    data_dir: str | Path, *, count: int, exclude: Iterable[Dialogue], seed: int, evenly: Sequence[str] = ()
) -> list[Dialogue]:
    """`count` dialogues from the corpora that are in the data folder, the same ones for the same seed.

    `exclude` are the dialogues of every labelled dev and test set: whatever overlaps with one of them stays out.
    `evenly` are corpora to take as many from each; without it they are used up one after the other.
    """
    held_out = telling_keys(exclude)
    generator = random.Random(seed)
    pool: list[Dialogue] = []
    seen: set[str] = set()
    sources = [source for source in SOURCES if not evenly or source.corpus in evenly]
    for number, source in enumerate(sources, start=1):
        full = count * number // len(sources) if evenly else count
        candidates = list(_candidates(source, data_dir, generator))
        generator.shuffle(candidates)
        for candidate in candidates:
            if len(pool) == full:
                break
            text = _plain(candidate)
            if text not in seen and held_out.isdisjoint(_keys(candidate)):
                seen.add(text)
                pool.append(candidate)
        if len(pool) == count:
            return pool
        if evenly and len(pool) < full:
            short = f"{source.corpus} has {full - len(pool)} unlabeled dialogues fewer than its share of {count}"
            raise DataError(short, path=data_dir)
    if len(pool) < count:
        raise DataError(f"the corpora here give {len(pool)} unlabeled dialogues, {count} were asked for", path=data_dir)
    return pool


def telling_keys(dialogues: Iterable[Dialogue]) -> frozenset[str]:
    """What gives a dialogue away: a long turn, or two turns in a row. Short turns alone (你好) are everybody's."""
    return frozenset(key for dialogue in dialogues for key in _keys(dialogue))


def cut(turns: Sequence[Turn], *, windows: bool, generator: random.Random) -> Iterator[tuple[Turn, ...]]:
    """The last turns that fit, or windows of four to six turns that follow each other; none under four turns."""
    if not windows:
        yield from _fitted(turns)
        return
    start = 0
    while len(turns) - start >= MIN_TURNS:
        size = generator.randint(MIN_TURNS, WINDOW_TURNS)
        yield from _fitted(turns[start : start + size])
        start += size


def _fitted(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    """Drops the oldest turns until the rest fits: the current utterance is never cut."""
    first, length = len(turns), 0
    while first > 0 and length + len(turns[first - 1].text) <= MAX_CHARACTERS:
        first -= 1
        length += len(turns[first].text)
    if len(turns) - first >= MIN_TURNS:
        yield tuple(turns[first:])


def _candidates(source: Source, data_dir: str | Path, generator: random.Random) -> Iterator[Dialogue]:
    """Chats cut to length. One that recurs is cut once: two cuts of it would overlap without being equal."""
    corpus = known_corpus(source.corpus)
    cut_before: set[str] = set()
    for part in corpus.parts:
        path = find_part(corpus, part, data_dir)
        if path is None:
            continue
        for dialogue in stream_examples(path, "dialogue", Problems(path), format=corpus.format):
            text = _plain(dialogue)
            if text in cut_before:
                continue
            cut_before.add(text)
            for number, turns in enumerate(cut(dialogue.turns, windows=source.windows, generator=generator)):
                if len({turn.speaker for turn in turns}) == 2 and normalise(turns[-1].text):
                    name = f"{corpus.name}/{part.name}:{dialogue.id.partition(':')[2]}.{number}"
                    yield replace(dialogue, id=name, turns=turns)


def _plain(dialogue: Dialogue) -> str:
    return normalise("".join(turn.text for turn in dialogue.turns))


def _keys(dialogue: Dialogue) -> Iterator[str]:
    texts = [normalise(turn.text) for turn in dialogue.turns]
    yield from (text for text in texts if len(text) >= _TELLING_TURN)
    yield from (f"{a}\n{b}" for a, b in pairwise(texts) if len(a) + len(b) >= _TELLING_PAIR)
