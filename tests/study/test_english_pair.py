"""Rewriting by words and coreference by a config: files of dialogues, every kind of label, and what is refused."""

from pathlib import Path

import pytest

from friend_training.data.jsonl import write_jsonl
from friend_training.errors import ConfigError
from friend_training.study.config import FriendsConfig, parse_config
from friend_training.study.data import load_data
from friend_training.study.study import run_study
from friend_training.types import CoreferenceExample, Dialogue, Mention, RewritingExample, Turn

CONFIG = """
name: english
tasks:
  rewriting: {kind: rewriting-by-words, encoder: ENCODER, gold: rewrites.jsonl, dev: rewrites.jsonl,
    test: rewrites.jsonl, base_steps: 6, update_steps: 4, pick_threshold: 0.0, sst_threshold: 0.0, balance: gold,
    training: {batch_size: 4}}
  coreference: {kind: coreference, encoder: ENCODER, gold: links.jsonl, dev: links.jsonl, test: links.jsonl,
    base_steps: 6, update_steps: 4, pick_threshold: 0.0, sst_threshold: 0.0, training: {batch_size: 4}}
friendships: [{kind: coreference-rewriting, first: rewriting, second: coreference}]
pool: {file: pool.jsonl}
methods: [base, sst, fdt, fdt-merged, fdt-joint, fdt-shuffled, friend-labels]
iterations: 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    place = tmp_path_factory.mktemp("english")
    said = [("ann", "tell her", "tell ann"), ("bob", "ring him", "ring bob"), ("eva", "thanks", "thanks")] * 4
    dialogues = [
        Dialogue(f"d{number}/turn2", (Turn("A", f"call {name} {number}"), Turn("B", text)))
        for number, (name, text, _) in enumerate(said)
    ]
    pairs = list(zip(dialogues, said, strict=True))
    write_jsonl(place / "rewrites.jsonl", [RewritingExample(given, rewrite) for given, (_, _, rewrite) in pairs[:6]])
    linked = [
        CoreferenceExample(given, ((Mention(0, 5, 8), Mention(1, 5, 8)),) if text != "thanks" else ())
        for given, (_, text, _) in pairs[3:9]
    ]
    write_jsonl(place / "links.jsonl", linked)
    write_jsonl(place / "pool.jsonl", dialogues)
    return place


def config_of(encoder: Path, *changes: str) -> FriendsConfig:
    config = parse_config(CONFIG.replace("ENCODER", str(encoder)), "english.yaml", list(changes))
    assert isinstance(config, FriendsConfig)
    return config


def test_every_method_of_the_pair_runs(folder: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    config = config_of(tiny_encoder)
    records = run_study(config, tmp_path / "run", data_dir=folder)
    assert [record["method"] for record in records] == list(config.methods)
    for record in records:
        assert {"rewriting.needed_em", "rewriting.edit_f1", "coreference.link_f1"} <= record["metrics"].keys()


def test_of_dialogues_the_whole_is_held_out(folder: Path, tiny_encoder: Path) -> None:
    data = load_data(config_of(tiny_encoder), folder)
    assert [given.id for given in data.pool] == ["d9/turn2", "d10/turn2", "d11/turn2"], "all end in the same words"


def test_what_the_pair_refuses(folder: Path, tiny_encoder: Path) -> None:
    with pytest.raises(ConfigError, match="coreference-rewriting is for rewriting-by-words and coreference, in this"):
        config_of(tiny_encoder, "friendships=[{kind: coreference-rewriting, first: coreference, second: rewriting}]")
    with pytest.raises(ConfigError, match="a file of dialogues has no columns of labels"):
        load_data(config_of(tiny_encoder, "pool.hidden={rewriting: rewrite}"), folder)
