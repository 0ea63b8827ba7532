"""A model that leaves its run is the same model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from friend_training import FriendTrainedModel
from friend_training.data.synthetic import Domain, generate
from friend_training.errors import ConfigError, RunError, UnsupportedTaskError
from friend_training.inference.export import export_model
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.open import open_task
from friend_training.types import Dialogue
from helpers.untrained_run import FINGERPRINTS, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "untrained", tiny_encoder)


@pytest.fixture(scope="module")
def exported(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("exported")
    for task in TASKS:
        export_model(run, task, folder / task)
    return {task: folder / task for task in TASKS}


@pytest.fixture(scope="module")
def dialogues() -> list[Dialogue]:
    return [one.dialogue for one in generate(30, seed=8, domain=Domain.FILM)]


@pytest.mark.parametrize("task", TASKS)
def test_it_predicts_exactly_the_same(
    run: Path, exported: dict[str, Path], dialogues: list[Dialogue], task: str
) -> None:
    model = FriendTrainedModel.from_pretrained(exported[task])
    expected = open_task(run, task).task.predict(dialogues)
    assert model.predict(dialogues) == expected
    assert any(unit.content for units in expected for unit in units), "something is said at all"


@pytest.mark.parametrize("task", TASKS)
def test_it_is_decoded_as_in_its_run(
    run: Path, tmp_path: Path, tiny_encoder: Path, dialogues: list[Dialogue], task: str
) -> None:
    other = make_run(
        tmp_path / "run", tiny_encoder, "repeated_roles=apart", "insertion_spans=apart", "rewriting_turns=1"
    )
    export_model(other, task, tmp_path / "exported")
    found = FriendTrainedModel.from_pretrained(tmp_path / "exported").predict(dialogues)
    assert found == open_task(other, task).task.predict(dialogues)
    assert found != open_task(run, task).task.predict(dialogues), "the same weights say something else otherwise"


@pytest.mark.parametrize("task", TASKS)
def test_the_encoder_is_a_plain_one(run: Path, exported: dict[str, Path], task: str) -> None:
    plain = AutoModel.from_pretrained(exported[task] / "encoder").eval()
    ours = open_task(run, task).task.network.encoder.model.eval()  # type: ignore[union-attr]
    tokenizer = AutoTokenizer.from_pretrained(exported[task] / "encoder")
    given = tokenizer(["我来了", "你喜欢茶吗"], padding=True, return_tensors="pt")
    with torch.inference_mode():
        assert torch.equal(plain(**given).last_hidden_state, ours(**given).last_hidden_state)  # type: ignore[operator]


def test_it_works_in_another_program(exported: dict[str, Path]) -> None:
    program = (
        "import sys; from friend_training import FriendTrainedModel;"
        "print(FriendTrainedModel.from_pretrained(sys.argv[1]).rewrite(['我来了', '你喜欢茶吗']).text)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, exported["rewriting"]],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert (
        said.stdout.strip()
        == FriendTrainedModel.from_pretrained(exported["rewriting"]).rewrite(["我来了", "你喜欢茶吗"]).text.strip()
    )


def test_each_model_does_its_own_task(exported: dict[str, Path]) -> None:
    roles = FriendTrainedModel.from_pretrained(exported["csrl"])
    assert [one.predicate for one in roles.roles(["我来了"], ["来"])] == ["来"]
    with pytest.raises(UnsupportedTaskError, match="a model of the task 'csrl', not of 'rewriting'"):
        roles.rewrite(["我来了"])
    with pytest.raises(UnsupportedTaskError, match="no tokenizer"):
        FriendTrainedModel(roles.config).predict([])


@pytest.mark.parametrize("task", TASKS)
def test_the_folder_tells_nothing_of_this_machine(run: Path, exported: dict[str, Path], task: str) -> None:
    names = {path.relative_to(exported[task]).as_posix() for path in exported[task].rglob("*") if path.is_file()}
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json"} <= names
    assert {"encoder/config.json", "encoder/model.safetensors", "encoder/tokenizer.json"} <= names
    for path in exported[task].rglob("*.*"):
        if path.is_file():
            assert str(run.parent).encode() not in path.read_bytes(), path
            assert path.stat().st_mode & 0o044, f"{path} can be read by others"


def test_the_card_says_where_the_model_comes_from(exported: dict[str, Path]) -> None:
    card = (exported["csrl"] / "README.md").read_text(encoding="utf-8")
    for words in (
        "`fdt`, iteration 1: the best on dev",
        "| F1 | 12.5 | 12.5 |",
        f"| csrl_gold | `{FINGERPRINTS['csrl_gold'][:16]}` |",
        "ARG0, ARG1",
        "at most 125 tokens",
        "Apache-2.0",
        "FriendTrainedModel.from_pretrained",
    ):
        assert words in card, words
    assert "onnx" not in card
    assert "EM | 25.0" in (exported["rewriting"] / "README.md").read_text(encoding="utf-8")
    assert json.loads((exported["csrl"] / "config.json").read_text())["architectures"] == ["FriendTrainedModel"]


def test_base_is_called_by_its_name(run: Path, tmp_path: Path) -> None:
    export_model(run / "methods" / "base", "csrl", tmp_path / "base")
    assert "`base`, iteration 0 (Base, before any pseudo-label)" in (tmp_path / "base" / "README.md").read_text("utf-8")


def test_nothing_is_overwritten_or_left_half_done(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="already there"):
        export_model(run, "csrl", tmp_path)
    with pytest.raises(RunError, match="no models of method 'sst'"):
        export_model(run, "csrl", tmp_path / "new", method="sst")
    assert not list(tmp_path.iterdir())
