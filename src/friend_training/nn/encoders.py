"""Encoders of either kind, by their folder: word pieces through transformers, or words through our own BiLSTM."""

from pathlib import Path

from friend_training.nn.encoder import Encoder, empty_encoder, load_encoder
from friend_training.nn.word_encoder import WordEncoder, empty_word_encoder, is_word_encoder, load_word_encoder

AnyEncoder = Encoder | WordEncoder


def open_encoder(source: str | Path) -> AnyEncoder:
    """The encoder that training starts from, with its weights: a local folder, or a hub name."""
    return load_word_encoder(Path(source)) if is_word_encoder(source) else load_encoder(source)


def shaped_encoder(folder: Path) -> AnyEncoder:
    """The encoder that a task's folder describes, without its weights (they come from the task's own file)."""
    return empty_word_encoder(folder) if is_word_encoder(folder) else empty_encoder(folder)
