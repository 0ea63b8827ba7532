"""A small encoder of words, trained from scratch: word and affix vectors, then a BiLSTM over the sentence.

For a few hundred labelled sentences a BiLSTM is the better bet than a transformer: it need not learn what order is.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from friend_training.errors import ConfigError
from friend_training.nn.devices import PROCESSOR
from friend_training.nn.word_vocabulary import BUCKETS, PADDING, UNKNOWN

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
        nn.init.zeros_(self.words.weight)  # what is never met says nothing
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
