"""Pre-training of encoders made from scratch: characters, or words, that occur alike begin with like vectors.

A masked language model needs thousands of steps before it learns more than frequencies (on the synthetic dialogues:
6.0 nats after 300 steps, those of the unigram model). The classical way takes two seconds: positive pointwise mutual
information of each character with its neighbours at the distances 1 to 3 on either side, cut down by a singular value
decomposition (Levy & Goldberg 2014). Surnames meet surnames and verbs meet verbs; attention is left to the labels.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from scipy.sparse.linalg import svds
from transformers import AutoModel

from friend_training.errors import DataError
from friend_training.nn.encoder import EncoderShape, make_encoder
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.word_encoder import WEIGHTS, WordEncoder, WordEncoderShape, WordVocabulary

DISTANCES = (1, 2, 3)

CONTEXT_SMOOTHING = 0.75
"""The usual damping of context frequencies: rare neighbours are not worth more than common ones."""


def pretrain_encoder(folder: str | Path, texts: Sequence[str], shape: EncoderShape, *, seed: int) -> None:
    """Write a small encoder into `folder` whose word embeddings know the company that characters keep in `texts`."""
    folder = Path(folder)
    tokenizer = make_encoder(folder, list(texts), shape, seed=seed)
    vectors, known = neighbour_vectors(texts, tokenizer, shape.width, seed=seed)
    model = AutoModel.from_pretrained(str(folder), trust_remote_code=False)
    with torch.no_grad():
        words = model.get_input_embeddings().weight
        # As long as the vectors they replace: what is added to them (turns, predicates) must not drown.
        words[torch.from_numpy(known)] = torch.from_numpy(vectors[known]) * words.norm(dim=1).mean()
    model.save_pretrained(str(folder))


def neighbour_vectors(
    texts: Sequence[str], tokenizer: Tokenizer, width: int, *, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Unit vectors [vocabulary, width] of all tokens, and which of them have neighbours at all."""
    tokenizer.remember(texts)
    return line_vectors([tokenizer.ids(text) for text in texts], len(tokenizer.backend), width, seed=seed)


def line_vectors(
    lines: Sequence[Sequence[int]], size: int, width: int, *, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The same for lines of numbers below `size`, be they tokens or words."""
    gap = (-1,) * max(DISTANCES)  # no neighbours across lines
    line = np.array([number for numbers in lines for number in (*numbers, *gap)])
    tables = []
    for distance in DISTANCES:
        left, right = line[:-distance], line[distance:]
        real = (left >= 0) & (right >= 0)
        counts = sp.coo_matrix((np.ones(int(real.sum())), (left[real], right[real])), shape=(size, size)).tocsr()
        tables += [_positive_information(counts), _positive_information(counts.T)]
    table = sp.hstack(tables).tocsr()
    rank = min(width, size - 1)
    vectors, strengths, _ = svds(table, k=rank, rng=np.random.default_rng(seed))
    scaled = np.zeros((size, width), dtype=np.float32)
    scaled[:, :rank] = vectors * np.sqrt(strengths)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.maximum(length, 1e-6), length[:, 0] > 1e-6


def _positive_information(counts: sp.csr_matrix) -> sp.csr_matrix:
    """max(0, log p(a, b) / (p(a) p(b))) of every pair that occurs."""
    pairs = counts.tocoo()
    total = pairs.sum()
    rows = np.asarray(pairs.sum(axis=1)).ravel()
    columns = np.asarray(pairs.sum(axis=0)).ravel() ** CONTEXT_SMOOTHING
    columns *= total / columns.sum()
    information = np.log(pairs.data * total / (rows[pairs.row] * columns[pairs.col]))
    positive = information > 0
    return sp.csr_matrix((information[positive], (pairs.row[positive], pairs.col[positive])), shape=pairs.shape)


def pretrain_word_encoder(
    folder: str | Path, sentences: Sequence[Sequence[str]], shape: WordEncoderShape, *, seed: int
) -> None:
    """Write an encoder for `sentences` (raw text: the words of gold and pool, no labels) into an existing folder.

    Its word vectors know the company that words keep in raw text, the rest is random.
    """
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
