"""The little grammar is found by name; the encoder of words that its tests begin with."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from friend_training.nn.pretraining import pretrain_word_encoder
from friend_training.nn.word_encoder import WordEncoderShape


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from little_grammar import trees

    folder = tmp_path_factory.mktemp("word-encoder")
    shape = WordEncoderShape(word=16, affix=8, width=24, layers=1, dropout=0.1, forget=0.1)
    pretrain_word_encoder(folder, [tree.words.words for tree in trees(200, seed=9)], shape, seed=0)
    return folder
