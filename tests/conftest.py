"""What all tests share: one thread, no clocks, the folders of public data, and a tiny encoder made on the spot."""

import os
import stat
from pathlib import Path

from helpers import patience

# Before torch is imported: the sums of several threads come in no fixed order, and two cores are soon too few.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Before pytest-timeout is configured: the last limit of every test. It ends one that hangs, never one that is slow.
os.environ.setdefault("PYTEST_TIMEOUT", f"{patience.TEST:g}")

import pytest
import torch
from hypothesis import HealthCheck, settings

from friend_training.data.synthetic import Domain, generate
from friend_training.nn.encoder import EncoderShape, make_encoder
from friend_training.nn.tokenizer import Tokenizer

torch.set_num_threads(1)
settings.register_profile("no clocks", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clocks")


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        pytest.skip(f"{variable} does not name a folder: the public files are not on this machine")
    return Path(value)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _folder("FRIEND_TRAINING_DATA")


@pytest.fixture(scope="session")
def models_dir() -> Path:
    return _folder("FRIEND_TRAINING_MODELS")


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A device of the test's own, like /dev/null: a test that fails may destroy what it writes to, and the machine's
    own devices belong to everybody. Only root can make one."""
    path = tmp_path / "device"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    return path


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained encoder of one layer that knows the characters of the synthetic dialogues, letters and digits."""
    folder = tmp_path_factory.mktemp("encoder")
    made = [*generate(200, seed=3, domain=Domain.FILM), *generate(200, seed=3, domain=Domain.TRAVEL)]
    texts = [turn.text for one in made for turn in one.dialogue.turns]
    alphabet = "我你她他甲乙丙丁abcdefghijklmnopqrstuvwxyz0123456789"
    make_encoder(folder, [*texts, alphabet], EncoderShape(layers=1, width=32, heads=2), seed=0)
    return folder


@pytest.fixture(scope="session")
def tokenizer(tiny_encoder: Path) -> Tokenizer:
    return Tokenizer.load(tiny_encoder)
