"""A word encoder to start from: its word vectors know the company that words keep in raw text, the rest is random."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from friend_training.errors import DataError
from friend_training.nn.pretraining import line_vectors
from friend_training.nn.word_encoder import WEIGHTS, WordEncoder, WordEncoderShape
from friend_training.nn.word_vocabulary import WordVocabulary


def pretrain_word_encoder(
    folder: str | Path, sentences: Sequence[Sequence[str]], shape: WordEncoderShape, *, seed: int
) -> None:
    """Write an encoder for `sentences` (raw text: the words of gold and pool, no labels) into an existing folder."""
    folder = Path(folder)
    vocabulary = WordVocabulary.of(sentences)
    if not vocabulary.forms:
        raise DataError("a word encoder is made from raw text, and none was given")
    lines = [[vocabulary(word)[0] for word in words] for words in sentences]
    vectors, known = line_vectors(lines, len(vocabulary), shape.word, seed=seed)
    torch.manual_seed(seed)
    encoder = WordEncoder(shape, len(vocabulary))
    with torch.no_grad():
        # Unit variance per entry, as embeddings usually begin.
        encoder.words.weight[torch.from_numpy(known)] = torch.from_numpy(vectors[known]) * shape.word**0.5
    save_file(encoder.state_dict(), folder / WEIGHTS)
    encoder.save_shape(folder)
    vocabulary.save(folder)
