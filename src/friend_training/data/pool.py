"""The unlabeled pool: chats of at least four turns, none of them twice, none from a labelled dev or test set."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from friend_training.data.catalogue import find_part, known_corpus
from friend_training.data.read import stream_examples
from friend_training.data.splits import normalise
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.types import Dialogue, Turn

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
