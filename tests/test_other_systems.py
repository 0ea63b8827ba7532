"""Windows, and whatever else is not Linux: what only Unix has is not needed, and any folder name will do."""

import subprocess
import sys
from pathlib import Path

import pytest

from friend_training import FriendTrainedModel, load
from friend_training.data import synthetic
from friend_training.data.jsonl import write_jsonl
from friend_training.data.read import open_corpus, read_examples, sniff
from friend_training.data.readers.treebanks import read_treebank
from friend_training.data.text_io import Problems, numbered_lines
from friend_training.inference.export import export_model
from friend_training.report.page import write_report
from friend_training.runs.corrections import Correction, read_corrections, save_correction
from friend_training.study.config import load_config
from friend_training.study.open import open_task
from friend_training.tasks.sources import AnswerFile
from helpers.tiny_config import TEXT
from helpers.untrained_run import make_run

IMPORT_ALL = """
import importlib, os, pkgutil, sys
import friend_training

def import_all():
    for found in pkgutil.walk_packages(friend_training.__path__, "friend_training."):
        importlib.import_module(found.name)

import_all()  # the packages we build on: they go by sys.platform, and here that says Linux
for name in [name for name in sys.modules if name.startswith("friend_training.")]:
    del sys.modules[name]
sys.modules |= {"fcntl": None, "resource": None}
del os.fork
import_all()
print(*(name for name in sys.modules if name.startswith("friend_training.")))
"""


def test_every_module_can_be_imported_without_what_only_unix_has() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = set(done.stdout.split())
    assert {"friend_training.runs.run", "friend_training.cli.main", "friend_training.web.service.app"} <= modules


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A folder as people name them, and as a string."""
    folder = tmp_path / "Müllers Läufe, 第 1 次"
    folder.mkdir()
    return str(folder)


def test_the_models_of_a_run_are_opened_and_exported_by_strings(place: str, tiny_encoder: Path) -> None:
    run = str(make_run(Path(place) / "ein Lauf", tiny_encoder))
    dialogue = ["你喜欢喝茶吗？", "他来看你。"]
    assert load(run).rewrite(dialogue).text == load(Path(run)).rewrite(dialogue).text
    assert open_task(run, "csrl").task.name == "csrl"
    assert write_report(run, f"{place}/ein Bericht.html").read_text(encoding="utf-8").strip()
    export_model(run, "rewriting", f"{place}/ein Modell")
    exported = FriendTrainedModel.from_pretrained(f"{place}/ein Modell")
    assert exported.rewrite(dialogue).text == load(run).rewrite(dialogue).text


def test_files_of_examples_are_written_and_read_by_strings(place: str) -> None:
    path = f"{place}/Gespräche 一.jsonl"
    examples = synthetic.rewriting_examples(synthetic.generate(5, seed=1, domain=synthetic.Domain.FILM, prefix=""))
    write_jsonl(path, examples)
    assert sniff(path) == "jsonl"
    assert read_examples(path, "rewriting").examples == open_corpus(path, "rewriting").examples == examples
    lines = [line for _, line in numbered_lines(path, Problems(path, strict=True))]
    assert lines == Path(path).read_text(encoding="utf-8").splitlines()
    Path(place, "trees.mrg").write_text("(S (NP (NN rain)) (VP (VBZ falls)))\n", encoding="utf-8")
    assert [tree.words.words for tree in read_treebank(place, Problems(place, strict=True))] == [("rain", "falls")]


def test_settings_predictions_and_corrections_are_found_by_strings(place: str) -> None:
    Path(place, "mein Lauf.yaml").write_text(TEXT, encoding="utf-8")
    assert load_config(f"{place}/mein Lauf.yaml").name == "tiny"
    Path(place, "said.jsonl").write_text('{"id": "1", "label": "good", "confidence": 0.5}\n', encoding="utf-8")
    assert AnswerFile("file", f"{place}/said.jsonl").name == "file"
    save_correction(place, Correction("mood", "a", "rejected"))
    assert [correction.unit for correction in read_corrections(place)] == ["a"]
