"""A small encoder of words, trained from scratch: word and affix vectors, then a BiLSTM over the sentence.

The vocabulary is fixed before training; affixes tell something of words that are not in it.

For a few hundred labelled sentences a BiLSTM is the better bet than a transformer: it need not learn what order is.
"""

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from friend_training.errors import ConfigError, RunError
from friend_training.nn.devices import PROCESSOR

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
    """The forms that have a vector of their own. Each distinct word is read once and then remembered."""

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


SHAPE, WEIGHTS = "word_encoder.json", "word_encoder.safetensors"


@dataclass(frozen=True, slots=True)
class WordEncoderShape:
    """`word` and `affix` are the widths of their vectors, `width` that of each direction of the BiLSTM.

    `forget` is the share of words that training sees as unknown ones, so that it learns to do without.
    """

    word: int = 100
    affix: int = 50
    width: int = 128
    layers: int = 2
    dropout: float = 0.33
    forget: float = 0.2


class WordEncoder(nn.Module):
    """Words in, vectors out; their width is `self.width`, its first half has read the sentence from the left."""

    def __init__(self, shape: WordEncoderShape, vocabulary: int) -> None:
        super().__init__()
        self.shape, self.vocabulary = shape, vocabulary
        self.width = 2 * shape.width
        # A batch touches few rows: the others get neither gradient nor optimizer state.
        self.words = nn.Embedding(vocabulary, shape.word, padding_idx=PADDING, sparse=True)
        self.affixes = nn.EmbeddingBag(BUCKETS, shape.affix, mode="sum", sparse=True)
        nn.init.zeros_(self.words.weight)  # what is never met adds nothing
        nn.init.zeros_(self.affixes.weight)
        self.dropout = nn.Dropout(shape.dropout)
        self.lstm = nn.LSTM(
            shape.word + shape.affix,
            shape.width,
            shape.layers,
            batch_first=True,
            bidirectional=True,
            dropout=shape.dropout if shape.layers > 1 else 0.0,
        )

    def forward(self, ids: Tensor, affixes: Tensor, lengths: Sequence[int]) -> Tensor:
        """[B, N], [B, N, AFFIXES], B lengths → [B, N, H]; nothing but zeros behind a sentence's end."""
        if self.training and self.shape.forget:
            ids = ids.masked_fill(torch.rand(ids.shape, device=ids.device) < self.shape.forget, UNKNOWN)
        spelt = self.affixes(affixes.flatten(0, 1)).view(*ids.shape, -1)
        vectors = self.dropout(torch.cat([self.words(ids), spelt], dim=2))
        counts = torch.tensor(lengths, device=PROCESSOR)  # where packing reads them
        packed = pack_padded_sequence(vectors, counts, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=ids.size(1))
        out: Tensor = self.dropout(hidden)
        return out

    def save_shape(self, folder: Path) -> None:
        """All that is needed to make this encoder again, but for its weights and words."""
        described = asdict(self.shape) | {"vocabulary": self.vocabulary}
        (folder / SHAPE).write_text(json.dumps(described, indent=2) + "\n")


def is_word_encoder(source: str | Path) -> bool:
    return (Path(source) / SHAPE).is_file()


def empty_word_encoder(folder: Path) -> WordEncoder:
    """The encoder that a folder describes, without its weights."""
    described = json.loads((folder / SHAPE).read_text())
    vocabulary = described.pop("vocabulary")
    return WordEncoder(WordEncoderShape(**described), vocabulary)


def load_word_encoder(folder: Path) -> WordEncoder:
    if not (folder / WEIGHTS).is_file():
        raise ConfigError(f"encoder {folder} has no {WEIGHTS}: a task's folder is not one to start from")
    encoder = empty_word_encoder(folder)
    encoder.load_state_dict(load_file(folder / WEIGHTS))
    return encoder
