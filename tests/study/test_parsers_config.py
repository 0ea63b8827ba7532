"""Parsers and a tagger by a config: files of every format, all methods and controls, labels in parts."""

import json
from pathlib import Path
from typing import Any

import pytest

from friend_training.errors import ConfigError, DataError
from friend_training.friendships.parsing import lexical_heads
from friend_training.runs.run import Run
from friend_training.study.config import FriendsConfig, parse_config
from friend_training.study.data import load_data
from friend_training.study.folders import method_folder
from friend_training.study.run_data import is_right
from friend_training.study.study import run_study
from friend_training.types import Bracket, Heads, Tags, Tree
from helpers.own_parsers import PARTS, TEXT, sentences, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("parsers")).parent


def config_of(*changes: str) -> FriendsConfig:
    config = parse_config(TEXT, "parsers.yaml", list(changes))
    assert isinstance(config, FriendsConfig)
    return config


@pytest.fixture(scope="module")
def finished(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    # Without relations, so that a tree can be said as heads.
    run = tmp_path_factory.mktemp("run") / "run"
    records = run_study(
        config_of("tasks.arcs.relations=null", "tasks.arcs.gold=arcs.dp", "tasks.arcs.dev=dev.dp"), run, data_dir=folder
    )
    return run, {record["method"]: record for record in records}


def rows(run: Path, method: str) -> list[dict[str, Any]]:
    return [
        {**row, "label": json.loads(row["label"])}
        for row in Run.open(method_folder(run, method)).store.read(1).to_pylist()
    ]


def test_every_format_gives_the_same_examples(folder: Path) -> None:
    data = load_data(config_of(), folder)
    trees = [(tree.words.words, tree.tree) for tree, _, _ in sentences("trees")]
    assert [(one.words.words, one.tree) for one in data.tasks["trees"].gold] == trees
    heads = [(one.words.words, one.heads) for _, one, _ in sentences("arcs")]
    assert [(one.words.words, one.heads) for one in data.tasks["arcs"].gold] == heads
    assert [one.heads for one in data.tasks["arcs"].test] == [one.heads for _, one, _ in sentences("test")]
    assert [one.tags for one in data.tasks["tags"].gold] == [one.tags for _, _, one in sentences("tags")]
    assert [one.tags for one in data.tasks["tags"].dev] == [one.tags for _, _, one in sentences("dev")]
    assert [one.id for one in data.pool] == [one.words.id for one, _, _ in sentences("pool")]


def test_every_method_and_control_runs(finished: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    run, records = finished
    assert list(records) == [*config_of().methods]
    for method, record in records.items():
        assert {"trees.f1", "arcs.uas", "tags.accuracy"} <= record["metrics"].keys(), method
        assert all(record["dev"][task][0] == records["base"]["dev"][task][0] for task in record["dev"]), method
    chosen = {method: record["chosen"][0] for method, record in records.items() if any(record["chosen"])}
    for task in ("trees", "arcs", "tags"):
        assert chosen["random-as-many"][task]["chosen"] == chosen["fdt"][task]["chosen"] > 0
    assert all(row["correct"] is not None for row in rows(run, "fdt")), "the pool's gold is known, and counted"
    assert (run / "encoder").is_dir()


def test_the_friends_labels_are_what_its_answers_say(finished: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    run, _ = finished
    own = {(row["task"], row["unit"]): row["label"] for row in rows(run, "fdt")}
    told = rows(run, "friend-labels")
    learnt = [row for row in told if row["task"] == "arcs" and row["chosen"]]
    assert learnt
    for row in learnt:
        tree = own["trees", row["unit"]]
        brackets = tuple(Bracket(**one) for one in tree["brackets"])
        assert tuple(row["label"]["heads"]) == lexical_heads(Tree(brackets, tuple(tree["tags"])))
    tags = [row for row in told if row["task"] == "tags" and row["chosen"]]
    assert tags
    assert all(row["label"]["tags"] == own["trees", row["unit"]]["tags"] for row in tags)


def test_in_parts_what_the_friend_disputes_is_open(finished: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    run, _ = finished
    whole = {(row["task"], row["unit"]): row["label"] for row in rows(run, "fdt")}
    parts = rows(run, "fdt-parts")
    opened = dict.fromkeys(("trees", "arcs", "tags"), 0)
    for row in parts:
        own = whole[row["task"], row["unit"]]
        opened[row["task"]] += bool(row["label"].get("unsure"))
        if row["task"] == "tags":
            friend = whole["trees", row["unit"]]["tags"]
            assert row["label"].get("unsure", []) == [n for n, tag in enumerate(own["tags"]) if tag != friend[n]]
        if row["task"] == "trees":
            assert all(one in own["brackets"] for one in row["label"]["brackets"])
            tagger = whole["tags", row["unit"]]["tags"]
            assert row["label"].get("unsure_tags", []) == [n for n, t in enumerate(own["tags"]) if t != tagger[n]]
        if row["task"] == "arcs":
            assert row["label"]["heads"] == own["heads"], "what is open is not taught as another arc"
    assert opened["trees"] > 0
    assert opened["arcs"] > 0


def test_a_task_without_friends_takes_no_part(folder: Path, tmp_path: Path) -> None:
    two = "friendships=[{kind: constituency-dependency, first: trees, second: arcs, scoring: paper, choose: parts}]"
    config = config_of(two, "methods=[base, fdt, random-as-many]", "pool.most=10")
    records = {one["method"]: one for one in run_study(config, tmp_path / "run", data_dir=folder)}
    assert "tags.accuracy" in records["base"]["metrics"]
    for method in ("fdt", "random-as-many"):
        assert {name.partition(".")[0] for name in records[method]["metrics"]} == {"trees", "arcs"}


def test_right_is_what_is_learnt() -> None:
    assert is_right(Heads((2, 0, 1), unsure=(2,)), Heads((2, 0, 2)))
    assert not is_right(Heads((2, 0, 1)), Heads((2, 0, 2)))
    assert is_right(Tags(("A", "B")), Tags(("A", "B")))
    assert not is_right(Tags(("A", "B"), unsure=(0,)), Tags(("A", "C")))
    gold = Tree((Bracket(0, 3, "S"), Bracket(1, 3, "VP")), ("A", "B", "C"))
    assert is_right(gold, gold)
    assert is_right(Tree(gold.brackets[:1], gold.tags, unsure=((1, 3),)), gold)
    assert is_right(Tree(gold.brackets, ("A", "B", "X"), unsure_tags=(2,)), gold)
    assert not is_right(Tree(gold.brackets[:1], gold.tags), gold)
    assert not is_right(Tree((*gold.brackets, Bracket(1, 2, "NP")), gold.tags), gold)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ("friendships=[{kind: constituency-dependency, first: arcs, second: trees}]", ConfigError, "in this order"),
        (
            "friendships=[{kind: constituency-tagging, first: trees, second: arcs}]",
            ConfigError,
            "constituency and tagg",
        ),
        ("tasks.trees.gold=nowhere.mrg", DataError, "no such file"),
        ("tasks.arcs.gold=trees.mrg", DataError, r"trees\.mrg:1: 1 columns parted by tabs"),
        ("tasks.arcs.heads=tags", DataError, r"test\.jsonl:1: column 'tags': expected the head of each word"),
        ("tasks.trees.test=test.jsonl", DataError, None),
        ("tasks.tags.tags=tree", DataError, r"words in 'words', but \d+ tags in 'tree'"),
        ("pool.hidden={trees: tags}", DataError, r"pool\.jsonl:1: column 'tags': '.*' stands outside of all trees"),
    ],
)
def test_what_cannot_be_read_is_told(folder: Path, change: str, error: type[Exception], message: str | None) -> None:
    if message is None:  # rows have trees too
        assert len(load_data(config_of(change), folder).tasks["trees"].test) == PARTS["test"]
        return
    with pytest.raises(error, match=message):
        load_data(config_of(change), folder)


def test_a_tree_in_a_cell_is_one_tree(folder: Path, tmp_path: Path) -> None:
    for text, message in (
        ("(S (NN a)) (S (NN b))", "2 trees, expected one"),
        ("(S (NN a)", "1 brackets of the tree that begins here are never closed"),
        ("(S )", r"\(S\) holds nothing"),
    ):
        (tmp_path / "trees.jsonl").write_text(json.dumps({"tree": text}) + "\n", encoding="utf-8")
        with pytest.raises(DataError, match=rf"trees\.jsonl:1: column 'tree': .*{message}"):
            load_data(config_of(f"tasks.trees.gold={tmp_path / 'trees.jsonl'}"), folder)


def test_heads_in_a_cell_are_a_tree(folder: Path, tmp_path: Path) -> None:
    for heads, message in (
        ([2, 1], "go in a circle"),
        ([0, 9], "a head is 9, but there are 2 words"),
        ([0], "2 words in 'words', but 1 in 'heads'"),
        ([0, -1], "expected the head of each word"),
        ("0 1.5", "expected the head of each word"),
    ):
        row = {"words": ["a", "b"], "heads": heads, "relations": ["r", "s"]}
        (tmp_path / "arcs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        with pytest.raises(DataError, match=rf"arcs\.jsonl:1: .*{message}"):
            load_data(config_of(f"tasks.arcs.gold={tmp_path / 'arcs.jsonl'}"), folder)


TASKS = ("trees", "arcs", "tags")
FEW_STEPS = [f"tasks.{task}.{steps}=2" for task in TASKS for steps in ("base_steps", "update_steps")]


def test_methods_inside_training_strong_friends_and_thresholds_found_on_dev(folder: Path, tmp_path: Path) -> None:
    methods = "base, multitask-base, mt, cps, stbr, stea, base-full, fdt, fdt-s, fdt-oracle"
    found = [f"tasks.{task}.pick_threshold={{precision: 0.1, confidence: 0.9}}" for task in ("trees", "arcs")]
    drawn = [f"tasks.{task}.draw=8" for task in TASKS]
    config = config_of(f"methods=[{methods}]", "pool.most=8", *FEW_STEPS, *found, *drawn)
    records = {one["method"]: one for one in run_study(config, tmp_path / "run", data_dir=folder)}
    assert list(records) == methods.split(", ")
    assert all({"trees.f1", "arcs.las", "tags.accuracy"} <= one["metrics"].keys() for one in records.values())
    assert "threshold" in records["fdt"]["chosen"][0]["arcs"]
    with pytest.raises(ConfigError, match="needs a second head, and task 'trees' has only one"):
        run_study(config_of("methods=[base, scot]", "pool.most=8", *FEW_STEPS), tmp_path / "scot", data_dir=folder)


def test_workers_label_the_same_and_a_stopped_run_goes_on(folder: Path, tmp_path: Path) -> None:
    changes = ["methods=[base, fdt-parts]", "pool.most=8", "shard_size=4", *FEW_STEPS]
    alone = run_study(config_of(*changes), tmp_path / "alone", data_dir=folder)
    config = config_of(*changes, "engine.workers=2")
    together = run_study(config, tmp_path / "together", data_dir=folder)
    assert [one["metrics"] for one in together] == [one["metrics"] for one in alone]
    assert rows(tmp_path / "together", "fdt-parts") == rows(tmp_path / "alone", "fdt-parts")
    (tmp_path / "together" / "results.jsonl").unlink()
    for path in (method_folder(tmp_path / "together", "fdt-parts") / "phases").iterdir():
        if "-1" in path.name or path.name.startswith("test"):
            path.unlink()
    assert run_study(config, tmp_path / "together", data_dir=folder) == together
