"""The encoder of words: its vocabulary, its affixes, its vectors; the same bits every time, whatever the batch."""

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from friend_training.errors import ConfigError, DataError
from friend_training.nn.encoder import (
    AFFIXES,
    BUCKETS,
    UNKNOWN,
    WEIGHTS,
    WordEncoder,
    WordEncoderShape,
    WordVocabulary,
    affixes,
    form,
    load_word_encoder,
    open_encoder,
    pretrain_word_encoder,
    shaped_encoder,
)
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import make_optimizers
from friend_training.nn.word_input import TokenReader, VocabularyReader, word_reader

SHAPE = WordEncoderShape(word=8, affix=4, width=6, layers=1)
TEXTS = list(product(("Ann", "Bob", "Eve"), ("sees", "has"), ("the",), ("cup", "pen")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pretrain_word_encoder(tmp_path, TEXTS, SHAPE, seed=0)
    return tmp_path


def test_words_that_differ_in_case_or_digits_share_a_form() -> None:
    assert form("The") == form("the")
    assert form("1,987") == form("2,314") != form("23")


def test_affixes_tell_what_the_form_does_not() -> None:
    assert all(len(affixes(word)) == AFFIXES for word in ("a", "Walking", "1990", "U.S.", "", "é"))
    assert affixes("Reading")[:3] == affixes("talking")[:3]
    assert affixes("Apple")[-1] != affixes("apple")[-1]
    assert affixes("Ölberg")[-1] == affixes("Apple")[-1] != affixes("APPLE")[-1]
    assert len(set(affixes("aaaa"))) == AFFIXES  # an ending is no beginning, nor a shorter ending


def test_a_vocabulary_numbers_what_it_has_seen() -> None:
    vocabulary = WordVocabulary.of([("b", "a"), ("A", "c")])
    assert vocabulary.forms == ("a", "b", "c")
    assert [vocabulary(word)[0] for word in ("a", "A", "c", "new")] == [2, 2, 4, UNKNOWN]
    assert len(vocabulary) == 5
    assert all(0 <= bucket < BUCKETS for bucket in vocabulary("new")[1:])
    # Checkpoints are read again elsewhere: the buckets are the same on every machine and in every process.
    assert vocabulary("a")[1:] == (6877, 2334, 6239, 3736, 7572, 973, 2554, 847)


def test_the_same_encoder_every_time(tmp_path: Path) -> None:
    rng = random.Random(0)
    texts = [[f"{'abcdefghij'[int(rng.expovariate(0.5)) % 10]}x" for _ in range(9)] for _ in range(40)]
    folders = [tmp_path / name for name in ("one", "two", "other")]
    for one, seed in zip(folders, (1, 1, 2), strict=True):
        one.mkdir()
        pretrain_word_encoder(one, texts, SHAPE, seed=seed)
    first, second, other = ((one / WEIGHTS).read_bytes() for one in folders)
    assert first == second
    assert first != other


def test_words_in_the_same_places_begin_alike(folder: Path) -> None:
    words = load_word_encoder(folder).words.weight.detach()
    number = WordVocabulary.load(folder)
    vectors = {word: nn.functional.normalize(words[number(word)[0]], dim=0) for word in ("Ann", "Bob", "sees", "cup")}
    assert float(vectors["Ann"] @ vectors["Bob"]) > 0.9
    assert float(vectors["Ann"] @ vectors["sees"]) < 0.5
    assert not words[UNKNOWN].any()


def test_vectors_do_not_depend_on_the_batch(folder: Path) -> None:
    encoder, reader = load_word_encoder(folder).eval(), word_reader(folder)
    rows = [reader.read(words) for words in (("Ann", "sees"), ("Bob", "has", "the", "new", "pen"), ())]
    together = reader.collate(rows).encode(encoder)
    assert together.shape == (3, 5, encoder.width)
    assert not together[0, 2:].any()
    for row, length in enumerate((2, 5, 1)):
        alone = reader.collate([rows[row]]).encode(encoder)
        torch.testing.assert_close(together[row, :length], alone[0])


def test_training_forgets_some_words(folder: Path) -> None:
    """With every word forgotten, sentences cannot be told apart but by affixes, which are 0 here."""
    encoder = WordEncoder(WordEncoderShape(word=8, affix=4, width=6, layers=1, dropout=0.0, forget=1.0), 9)
    nn.init.normal_(encoder.words.weight)
    ids, lengths = torch.tensor([[2, 3], [4, 5]]), (2, 2)
    spelt = torch.zeros(2, 2, AFFIXES, dtype=torch.long)
    one, other = encoder.train()(ids, spelt, lengths)
    torch.testing.assert_close(one, other)
    one, other = encoder.eval()(ids, spelt, lengths)
    assert not torch.allclose(one, other)


def test_only_touched_rows_are_trained(folder: Path) -> None:
    network = nn.ModuleDict({"encoder": load_word_encoder(folder), "head": nn.Linear(12, 2)})
    encoder = network["encoder"]
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    optimizers = make_optimizers(network, encoder_rate=0.1, head_rate=0.1, weight_decay=0.1)
    reader = word_reader(folder)
    row = reader.read(("Ann", "sees"))
    network["head"](reader.collate([row]).encode(encoder)).sum().backward()
    for optimizer in optimizers:
        optimizer.step()
    changed = {n: (w.detach() != before[n]).flatten(1).any(dim=1) for n, w in network.named_parameters() if w.dim() > 1}
    assert set(changed["encoder.words.weight"].nonzero().flatten().tolist()) <= {UNKNOWN, *row[:, 0].tolist()}
    assert set(changed["encoder.affixes.weight"].nonzero().flatten().tolist()) == set(row[:, 1:].flatten().tolist())
    assert changed["head.weight"].all()


def test_an_encoder_is_known_by_its_folder(folder: Path, tiny_encoder: Path) -> None:
    assert isinstance(open_encoder(folder), WordEncoder)
    assert isinstance(word_reader(folder), VocabularyReader)
    assert isinstance(word_reader(tiny_encoder), TokenReader)
    shaped = shaped_encoder(folder)
    assert isinstance(shaped, WordEncoder)
    assert shaped.shape == SHAPE
    (folder / WEIGHTS).unlink()
    with pytest.raises(ConfigError, match=WEIGHTS):
        open_encoder(folder)


def test_an_encoder_needs_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="raw text"):
        pretrain_word_encoder(tmp_path, [(), ()], SHAPE, seed=0)


def test_a_word_of_many_pieces_is_its_first(tokenizer: Tokenizer, tiny_encoder: Path) -> None:
    reader = TokenReader(tokenizer)
    rows = [reader.read(("ab", "  ", "c")), reader.read(())]
    first = tokenizer.ids("ab")[0]
    assert len(tokenizer("ab")) == 2
    made = reader.collate(rows)
    assert made.ids.gather(1, made.first)[0].tolist() == [first, tokenizer.backend.unk_token_id, tokenizer.ids("c")[0]]
    assert made.first[1, 0] == 1
    short = TokenReader(replace(tokenizer, longest=3))
    cut = short.collate([short.read(("ab", "c", "a"))])
    assert cut.ids.shape == (1, 3)
    assert cut.first.tolist() == [[1, 2, 2]]
    assert np.array_equal(cut.mask, np.ones((1, 3)))
