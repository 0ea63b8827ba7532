"""Rewriting by words and coreference by a config: files of dialogues, every kind of label, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest

from friend_training.core.task import Prediction
from friend_training.data.jsonl import write_jsonl
from friend_training.errors import ConfigError, DataError
from friend_training.friendships.coreference_rewriting import random_links
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.study.config import FriendsConfig, parse_config
from friend_training.study.data import load_data
from friend_training.study.friends import own_friendships
from friend_training.study.kinds import Given, make_task
from friend_training.study.plans import wanted_balance
from friend_training.study.study import run_study
from friend_training.tasks.coreference.task import unit_of
from friend_training.types import (
    CoreferenceExample,
    Dialogue,
    Link,
    Mention,
    Rewrite,
    RewritingExample,
    Turn,
    dialogue_group,
)

CONFIG = """
name: english
tasks:
  rewriting: {kind: rewriting-by-words, encoder: ENCODER, gold: rewrites.jsonl, dev: rewrites.jsonl,
    test: rewrites.jsonl, base_steps: 6, update_steps: 4, pick_threshold: 0.0, sst_threshold: 0.0, balance: gold,
    training: {batch_size: 4}}
  coreference: {kind: coreference, encoder: ENCODER, gold: links.jsonl, dev: links.jsonl, test: links.jsonl,
    base_steps: 6, update_steps: 4, pick_threshold: 0.0, sst_threshold: 0.0, training: {batch_size: 4}}
friendships: [{kind: coreference-rewriting, first: rewriting, second: coreference}]
pool: {file: pool.jsonl, hidden: {coreference: links-of-pool.jsonl}}
methods: [base, sst, fdt, fdt-merged, fdt-joint, fdt-shuffled, merged-shuffled, friend-labels, fdt-perfect,
  merged-perfect]
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
    write_jsonl(
        place / "links-of-pool.jsonl",
        [CoreferenceExample(given, ((Mention(0, 5, 8), Mention(1, 5, 8)),)) for given in dialogues[9:11]],
    )
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


def test_base_goes_on_from_what_repetitions_taught_for_all_seeds(
    folder: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    said = [f"Who sent {number} notes to Ann Lee ?" for number in range(300)]
    write_jsonl(
        tmp_path / "chats.jsonl",
        [Dialogue(f"c{n}/turn2", (Turn("A", text), Turn("B", "Call Ann Lee now"))) for n, text in enumerate(said)],
    )
    for file in folder.glob("*.jsonl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    changes = ["methods=[base]", "tasks.rewriting.repetitions={file: chats.jsonl, steps: 3, most: 250}"]
    digests = []
    for seed in (1, 2):
        config = config_of(tiny_encoder, *changes, f"seed={seed}")
        run_study(config, tmp_path / f"run-{seed}", data_dir=tmp_path, resources=tmp_path / "shared")
        [start] = (tmp_path / "shared").glob("repetitions-rewriting-*")
        digests.append(checkpoint_digest(start))
    assert digests[0] == digests[1], "learnt once"
    few = config_of(tiny_encoder, "methods=[base]", "tasks.coreference.repetitions={file: pool.jsonl}")
    with pytest.raises(DataError, match=r"tasks.coreference.repetitions: 0 turns repeat .* 201 are needed"):
        run_study(few, tmp_path / "few", data_dir=tmp_path)


def test_of_dialogues_the_whole_is_held_out(folder: Path, tiny_encoder: Path) -> None:
    data = load_data(config_of(tiny_encoder), folder)
    assert [given.id for given in data.pool] == ["d9/turn2", "d10/turn2", "d11/turn2"], "all end in the same words"


def test_hidden_links_tell_what_is_right_and_make_a_perfect_friend(folder: Path, tiny_encoder: Path) -> None:
    data = load_data(config_of(tiny_encoder), folder)
    assert data.audit is not None
    given = data.pool[0]
    mention = Mention(1, 5, 8)
    unit = unit_of(given, mention)
    answers = [Link(mention, Mention(0, 5, 8)), Link(mention, Mention(0, 0, 4)), Link(mention, None)]
    assert [data.audit("coreference", Prediction(unit, one, 1.0)) for one in answers] == [True, False, False]
    unknown = Mention(1, 0, 4)
    assert data.audit("coreference", Prediction(unit_of(given, unknown), Link(unknown, None), 1.0)) is None
    [pair] = own_friendships(config_of(tiny_encoder), {}, lambda section: {}, data.audit)
    as_it_is = [[Prediction(given.id, Rewrite(given.utterance.text), 1.0)]]
    merged = pair.variants["perfect"](pair.variants["merged"](pair.friendship))
    assert merged.merge_first is not None
    assert merged.merge_first([given], as_it_is, [[]])[0][0].label.text == f"tell {given.turns[0].text[5:8]}"


def test_links_of_a_friend_that_knows_nothing_are_drawn_from_the_context(folder: Path, tiny_encoder: Path) -> None:
    given = load_data(config_of(tiny_encoder), folder).pool[0]
    drawn = {random_links(given, seed=seed)[0].antecedent for seed in range(20)}
    assert len(drawn) > 1
    assert {place.turn for place in drawn if place is not None} == {0}
    assert random_links(given, seed=1) == random_links(given, seed=1)


def test_of_dialogues_whole_ones_are_drawn(folder: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    cuts = [
        RewritingExample(Dialogue(f"d{number}/turn{turn}", (Turn("A", f"{number} {turn}"),)), "x")
        for number in range(6)
        for turn in (1, 2)
    ]
    for name in ("rewrites", "links", "pool", "links-of-pool"):
        (tmp_path / f"{name}.jsonl").write_bytes((folder / f"{name}.jsonl").read_bytes())
    write_jsonl(tmp_path / "rewrites.jsonl", cuts)
    gold = load_data(config_of(tiny_encoder, "tasks.rewriting.draw=2"), tmp_path).tasks["rewriting"].gold
    assert sorted(Counter(dialogue_group(one.dialogue.id) for one in gold).values()) == [2, 2]


def test_a_balance_of_ones_own(folder: Path, tiny_encoder: Path) -> None:
    config = config_of(tiny_encoder, "tasks.rewriting.balance={changed: 0.5, unchanged: 0.5}")
    data = load_data(config, folder)
    task = make_task(config, "rewriting", Given())
    assert wanted_balance(config, data, task) == {"changed": 0.5, "unchanged": 0.5}


def test_what_the_pair_refuses(folder: Path, tiny_encoder: Path) -> None:
    with pytest.raises(ConfigError, match="coreference-rewriting is for rewriting-by-words and coreference, in this"):
        config_of(tiny_encoder, "friendships=[{kind: coreference-rewriting, first: coreference, second: rewriting}]")
