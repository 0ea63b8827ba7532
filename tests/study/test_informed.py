"""The informed setting: CSRL learns the bridge's sentences before its first gold label; nothing else changes."""

import pytest

from friend_training.data.synthetic import generate_sentences
from friend_training.errors import ConfigError
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare, Train
from friend_training.study import data
from friend_training.study.folders import method_folder
from friend_training.study.resources import as_dialogues
from friend_training.study.study import run_study
from helpers.tiny_config import tiny_config


def test_base_goes_on_from_the_bridges_sentences(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "SYNTHETIC_TRAIN", 20)
    folder = tmp_path / "run"
    run_study(tiny_config("methods=[base]", "informed=true"), folder)
    made = Run.open(folder).require(Prepare("informed-after"))
    assert (made["sentences"], made["steps"]) == (27, 12)
    weights = (folder / "informed-after" / "model.safetensors").read_bytes()
    base = Run.open(method_folder(folder, "base"))
    assert base.checkpoint("csrl", 0).joinpath("model.safetensors").read_bytes() != weights
    assert base.require(Train("csrl", 0))["gold"] > 0
    usual = tmp_path / "usual"
    run_study(tiny_config("methods=[base]"), usual)
    same = {
        task: checkpoint_digest(base.checkpoint(task, 0))
        == checkpoint_digest(Run.open(method_folder(usual, "base")).checkpoint(task, 0))
        for task in ("csrl", "rewriting")
    }
    assert same == {"csrl": False, "rewriting": True}


def test_sentences_are_dialogues_of_one_turn():
    sentences = generate_sentences(5, seed=1)
    for example, made in zip(sentences, as_dialogues(sentences), strict=True):
        assert made.dialogue.utterance.text == example.sentence.text
        assert made.dialogue.context == ()
        assert made.dialogue.predicates == tuple(roles.predicate for roles in made.roles) == example.sentence.predicates
        for true, label in zip(example.roles, made.roles, strict=True):
            assert [(a.role, 0, a.start, a.end) for a in true.arguments] == [
                (a.role, a.turn, a.start, a.end) for a in label.arguments
            ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("tasks.csrl.restart=true", "would forget"),
        ("methods=[base, cps]", "cps trains networks of its own"),
        ("bridge={kind: ltp, source: x}", "only of a bridge that is trained here"),
    ],
)
def test_what_cannot_be_informed_is_refused(change, why):
    with pytest.raises(ConfigError, match=f"informed: .*{why}"):
        tiny_config("informed=true", change)
