"""Words as numbers: a vocabulary fixed before training, and the affixes that tell something of words not in it."""

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from friend_training.errors import RunError

VOCABULARY = "words.json"
PADDING, UNKNOWN = 0, 1
"""The first two rows of the word table; the vocabulary begins behind them."""

BUCKETS = 8192
"""Rows of the affix table. Affixes are hashed into them: nothing to be saved, and no affix is unknown."""

AFFIXES = 8
"""How many affixes each word has."""

_DIGIT = re.compile(r"\d")


def form(word: str) -> str:
    """Words that differ in case or digits only share a vector; their affixes still tell them apart."""
    return _DIGIT.sub("0", word).lower()


def affixes(word: str) -> tuple[str, ...]:
    """Endings and beginnings of up to four and three characters, and the shape: Xx, 0.0, x-x, …"""
    shape = "".join(kind for kind, _ in groupby(map(_kind, word)))
    lower = form(word)
    endings = (f"-{length}{lower[-length:]}" for length in (1, 2, 3, 4))
    beginnings = (f"{length}-{lower[:length]}" for length in (1, 2, 3))
    return (*endings, *beginnings, f"={shape[:8]}")


def _kind(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return "0" if character.isdigit() else character


@dataclass
class WordVocabulary:
    """The forms that have a vector of their own. Each distinct word is looked at once and then remembered."""

    forms: tuple[str, ...]
    numbers: dict[str, int] = field(init=False, repr=False)
    memory: dict[str, tuple[int, ...]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {known: number for number, known in enumerate(self.forms, start=UNKNOWN + 1)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "WordVocabulary":
        """All forms of raw text, sorted: the same text in another order gives the same vocabulary."""
        return cls(tuple(sorted({form(word) for words in sentences for word in words})))

    @classmethod
    def load(cls, folder: Path) -> "WordVocabulary":
        return cls(tuple(json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))))

    def __len__(self) -> int:
        return len(self.forms) + UNKNOWN + 1

    def __call__(self, word: str) -> tuple[int, ...]:
        """The word's number, then the buckets of its affixes."""
        known = self.memory.get(word)
        if known is None:
            buckets = (zlib.crc32(affix.encode()) % BUCKETS for affix in affixes(word))
            known = self.memory[word] = (self.numbers.get(form(word), UNKNOWN), *buckets)
        return known

    def save(self, folder: Path) -> None:
        (folder / VOCABULARY).write_text(json.dumps(self.forms, ensure_ascii=False) + "\n", encoding="utf-8")

    def check(self, folder: Path) -> None:
        """Weights that were trained with other words would be read as if they were these."""
        if WordVocabulary.load(folder).forms != self.forms:
            raise RunError(f"{folder} was saved with another vocabulary than that of this task's encoder")
