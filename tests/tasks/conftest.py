"""The encoder of words that tests of the little grammar begin with."""

from pathlib import Path

import pytest

from friend_training.nn.encoder import WordEncoderShape, pretrain_word_encoder


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from helpers.little_grammar import trees

    folder = tmp_path_factory.mktemp("word-encoder")
    shape = WordEncoderShape(word=16, affix=8, width=24, layers=1, dropout=0.1, forget=0.1)
    pretrain_word_encoder(folder, [tree.words.words for tree in trees(200, seed=9)], shape, seed=0)
    return folder
