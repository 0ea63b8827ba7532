"""Sentences in words, ready for whichever encoder stands below: a word encoder, or a transformer over word pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from friend_training.nn.batching import pad
from friend_training.nn.encoder import Encoder
from friend_training.nn.tokens import Tokenizer
from friend_training.nn.word_encoder import WordEncoder, is_word_encoder
from friend_training.nn.word_vocabulary import AFFIXES, PADDING, UNKNOWN, WordVocabulary

Row = NDArray[np.int64]


class WordInput(Protocol):
    """A batch of sentences as an encoder wants them."""

    def encode(self, encoder: Any) -> Tensor:
        """One vector per word: [B, N, H]."""
        ...


class WordReader(Protocol):
    """Reads sentences once (`read`) and puts them together in every epoch anew (`collate`)."""

    def read(self, words: Sequence[str]) -> Row: ...

    def collate(self, rows: Sequence[Row]) -> WordInput: ...

    def save(self, folder: Path) -> None: ...

    def check(self, folder: Path) -> None:
        """Refuse weights that were saved with other words."""
        ...


def word_reader(encoder: str | Path) -> WordReader:
    """The reader that goes with an encoder's folder or hub name."""
    if is_word_encoder(encoder):
        return VocabularyReader(WordVocabulary.load(Path(encoder)))
    return PieceReader(Tokenizer.load(encoder))


@dataclass(frozen=True, slots=True)
class VocabularyInput:
    rows: Tensor  # [B, N, 1 + AFFIXES]
    lengths: tuple[int, ...]  # B of them, which stay on the processor

    def encode(self, encoder: WordEncoder) -> Tensor:
        vectors: Tensor = encoder(self.rows[:, :, 0], self.rows[:, :, 1:], self.lengths)
        return vectors


@dataclass(frozen=True, slots=True)
class VocabularyReader:
    """For a word encoder: each word's number and affixes."""

    vocabulary: WordVocabulary

    def read(self, words: Sequence[str]) -> Row:
        """[N, 1 + AFFIXES]; a sentence without words is read as one unknown word, since networks want something."""
        rows = [self.vocabulary(word) for word in words] or [(UNKNOWN, *(0,) * AFFIXES)]
        return np.array(rows, dtype=np.int64)

    def collate(self, rows: Sequence[Row]) -> VocabularyInput:
        lengths = tuple(len(row) for row in rows)
        table = np.full((len(rows), max(lengths), 1 + AFFIXES), PADDING, dtype=np.int64)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return VocabularyInput(torch.from_numpy(table), lengths)

    def save(self, folder: Path) -> None:
        self.vocabulary.save(folder)

    def check(self, folder: Path) -> None:
        self.vocabulary.check(folder)


@dataclass(frozen=True, slots=True)
class PieceInput:
    ids: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    first: Tensor  # [B, N] the first piece of each word

    def encode(self, encoder: Encoder) -> Tensor:
        hidden = encoder(self.ids, torch.zeros_like(self.ids), self.mask)  # [B, M, H]
        vectors: Tensor = hidden.gather(1, self.first.unsqueeze(2).expand(-1, -1, hidden.size(2)))
        return vectors


@dataclass(frozen=True, slots=True)
class PieceReader:
    """For a transformer: a word's vector is that of its first piece. Words beyond `max_pieces` share the last one's."""

    tokenizer: Tokenizer
    max_pieces: int = 512

    def read(self, words: Sequence[str]) -> Row:
        """[2, M]: the pieces between [CLS] and [SEP], and for each whether it begins a word."""
        self.tokenizer.remember(words)
        unknown = [int(self.tokenizer.backend.unk_token_id)]
        cut = [self.tokenizer.ids(word) or unknown for word in words] or [unknown]  # a word of blanks has no piece
        pieces = [self.tokenizer.cls_id, *(piece for word in cut for piece in word), self.tokenizer.sep_id]
        begins = [0, *(int(not place) for word in cut for place in range(len(word))), 0]
        return np.array([pieces, begins], dtype=np.int64)

    def collate(self, rows: Sequence[Row]) -> PieceInput:
        kept = [row[0, : self.max_pieces] for row in rows]
        first = pad([np.flatnonzero(row[1]) for row in rows], 0)
        mask = pad([np.ones(len(pieces), dtype=np.int64) for pieces in kept], 0)
        return PieceInput(pad(kept, self.tokenizer.pad_id), mask, first.clamp(max=self.max_pieces - 1))

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)

    def check(self, folder: Path) -> None:
        """A transformer's tokenizer is published with it: the pieces are the same wherever the encoder is."""
