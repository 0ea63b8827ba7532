"""The benchmark beside transformers' Trainer: both read the same texts as the same tokens, and all rounds are told."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

import trainer
from friend_training import TextClassification


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trainer.random_bert(tmp_path_factory.mktemp("bert"), layers=1, width=32)


def test_both_see_the_same_tokens(encoder: Path) -> None:
    texts = trainer.made_texts(6, 1)
    task = TextClassification("mood", encoder=encoder, labels=trainer.LABELS, device="cpu")
    theirs = AutoTokenizer.from_pretrained(encoder)([text.text for text, _ in texts])["input_ids"]
    assert [item.tokens.tolist() for item in task.definition.gold_items(texts)] == theirs
    assert {label for _, label in texts} == set(trainer.LABELS)


def test_every_round_has_a_time_for_each(encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--texts", "8", "--batch", "4", "--steps", "2", "--rounds", "2"]
    ratios = trainer.main(["--encoder", str(encoder), *sizes])
    assert set(ratios) == {trainer.SAME, trainer.AS_IT_COMES}
    assert all(ratio > 0 for ratio in ratios.values())
    assert capsys.readouterr().out.count("round ") == 2
