"""A tiny study, run once, and the command as a user types it."""

import shutil
from pathlib import Path

import pytest

from friend_training.cli.main import main
from friend_training.data import synthetic
from friend_training.data.jsonl import write_jsonl
from friend_training.data.synthetic import Domain
from friend_training.study import data
from helpers.command import FriendTrain, Said
from helpers.own_run import write_files
from helpers.tiny_config import DRAWN_FROM, TEXT


@pytest.fixture(autouse=True)
def _small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", DRAWN_FROM)


@pytest.fixture
def friend_train(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> FriendTrain:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FRIEND_TRAINING_DATA", raising=False)

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        return Said(int(stopped.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def finished(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; tests that change it take a `copy`."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SYNTHETIC_TRAIN", DRAWN_FROM)
        with pytest.raises(SystemExit) as stopped:
            main(["run", str(tiny), "--out", str(folder)])
    assert not stopped.value.code
    # A run folder must do without what it was made from.
    shutil.rmtree(folder / "encoder")
    shutil.rmtree(folder / "bridge")
    return folder


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two classifiers with files of a user's own, which lie beside it."""
    folder = tmp_path_factory.mktemp("own")
    config = write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with pytest.raises(SystemExit) as stopped:
            main(["run", str(config), "--out", str(folder / "run")])
    assert not stopped.value.code
    return folder / "run"


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


@pytest.fixture(scope="session")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Dialogues the run has not seen, by task."""
    folder = tmp_path_factory.mktemp("labelled")
    made = synthetic.generate(12, seed=77, domain=Domain.TRAVEL, prefix="new-")
    paths = {"csrl": folder / "csrl.jsonl", "rewriting": folder / "rewriting.jsonl"}
    write_jsonl(paths["csrl"], [example for example in synthetic.csrl_examples(made) if example.roles])
    write_jsonl(paths["rewriting"], synthetic.rewriting_examples(made))
    return paths
