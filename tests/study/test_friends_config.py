"""A config of any tasks: files of one's own, friends by a table, by one that is learned, and by tags."""

import csv
import gzip
import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest

from friend_training.data import tables
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.runs.run import Run
from friend_training.runs.steps import MeasureAgreement, WeighFriends
from friend_training.study.config import FriendsConfig, case_study, explained_config, parse_config
from friend_training.study.data import load_data
from friend_training.study.folders import method_folder, read_records
from friend_training.study.friends import means_step
from friend_training.study.run_data import base_of
from friend_training.study.study import run_study

WORDS = {
    "joy": ["lovely", "great", "happy", "sunny"],
    "anger": ["awful", "broken", "rude", "loud"],
    "sadness": ["grey", "lost", "alone", "cold"],
}
POLARITY = {"joy": "positive", "anger": "negative", "sadness": "negative"}
MEANS = "{joy: positive, anger: negative, sadness: negative}"
SIZES = {"polarity": 30, "emotion": 60, "dev": 30, "test": 60, "pool": 120}

CONFIG = """
name: reviews
tasks:
  polarity: {kind: estimator, gold: polarity.csv, dev: dev.csv, test: test.csv, text: says, label: polarity}
  emotion: {kind: estimator, gold: emotion.csv, dev: dev.csv, test: test.csv, text: says, label: emotion,
    metric: macro_f1}
friendships: [{first: emotion, second: polarity, means: MEANS}]
pool: {file: pool.csv, text: says, hidden: {polarity: polarity, emotion: emotion}}
methods: [base, base-same-steps, sst, fdt, fdt-shuffled, friend-labels, random-as-many, fdt-oracle]
iterations: 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reviews made up here, with two labels each; every text is another one."""
    place = tmp_path_factory.mktemp("reviews")
    for seed, (name, count) in enumerate(SIZES.items()):
        draw = random.Random(seed)
        with (place / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["says", "emotion", "polarity"])
            for number in range(count):
                emotion = draw.choice(list(WORDS))
                text = " ".join(draw.choice(WORDS[emotion]) for _ in range(5))
                rows.writerow([f"{text} {name}{number}", emotion, POLARITY[emotion]])
    return place


def config_of(means: str = MEANS, *changes: str) -> FriendsConfig:
    config = parse_config(CONFIG.replace("MEANS", means), "reviews.yaml", list(changes))
    assert isinstance(config, FriendsConfig)
    return config


def test_every_method_and_control_runs_and_the_pools_gold_is_only_counted(folder: Path, tmp_path: Path) -> None:
    config = config_of()
    records = run_study(config, tmp_path / "run", data_dir=folder)
    assert [record["method"] for record in records] == list(config.methods)
    for record in records:
        if record["method"] == "base-same-steps":
            assert record["metrics"] == {}, "estimators take no steps: they would only be fitted again"
            continue
        assert record["metrics"]["polarity.accuracy"] > 60
        assert record["metrics"]["emotion.macro_f1"] > 60
    chosen = {record["method"]: record["chosen"][0]["polarity"] for record in records if any(record["chosen"])}
    assert chosen["fdt"]["chosen"] > chosen["fdt-shuffled"]["chosen"] > 0, "a foreign friend agrees by chance alone"
    assert chosen["random-as-many"]["chosen"] == chosen["fdt"]["chosen"]
    rows = Run.open(method_folder(tmp_path / "run", "friend-labels")).store.read(1).to_pylist()
    learnt = [row for row in rows if row["task"] == "polarity" and row["chosen"]]
    own = Run.open(method_folder(tmp_path / "run", "fdt")).store.read(1).to_pylist()
    says = {row["input"]: POLARITY[json.loads(row["label"])] for row in own if row["task"] == "emotion"}
    assert learnt
    assert all(json.loads(row["label"]) == says[row["input"]] for row in learnt), "what the friend says, not its own"
    assert run_study(config, tmp_path / "run", data_dir=folder) == read_records(tmp_path / "run")


def test_labels_are_decided_on_together_where_the_selection_or_a_method_says_so(folder: Path, tmp_path: Path) -> None:
    """What a friend's word weighs is found on dev; the shuffled friend has a shuffled word."""
    wanted = [f"tasks.{name}.selection.labels=joint" for name in ("polarity", "emotion")]
    config = config_of(MEANS, *wanted, "methods=[base, fdt, fdt-shuffled, fdt-joint, joint-shuffled]", "stop=agreement")
    by_method = {record["method"]: record for record in run_study(config, tmp_path / "run", data_dir=folder)}
    runs = {method: Run.open(method_folder(tmp_path / "run", method)) for method in by_method}
    weights = {m: run.require(WeighFriends(1))["tasks"]["polarity"] for m, run in runs.items() if m != "base"}
    assert weights["fdt"]["score"] >= weights["fdt"]["own"]
    assert weights["fdt"]["units"] == SIZES["dev"]
    assert by_method["fdt"]["metrics"] == by_method["fdt-joint"]["metrics"]
    labels = {m: [row["label"] for row in run.store.read(1).to_pylist()] for m, run in runs.items() if m != "base"}
    assert labels["fdt"] == labels["fdt-joint"]
    assert weights["joint-shuffled"]["score"] <= weights["fdt"]["score"]
    assert runs["fdt"].require(MeasureAgreement(1))["stop"] is False


def test_votes_need_a_third_friend(folder: Path, tmp_path: Path) -> None:
    config = config_of(MEANS, "tasks.polarity.selection.score=votes", "methods=[base, fdt]")
    with pytest.raises(ConfigError, match="'polarity' goes by votes: it needs two friends or more, and there are 1"):
        run_study(config, tmp_path / "run", data_dir=folder)


def test_labels_of_one_part_cannot_be_chosen_in_parts(folder: Path, tmp_path: Path) -> None:
    config = config_of(MEANS, "tasks.polarity.selection.choose=parts", "methods=[base, fdt]")
    with pytest.raises(ConfigError, match=r"tasks.polarity.selection.choose is parts, but no friendship of polarity"):
        run_study(config, tmp_path / "run", data_dir=folder)


def test_taggers_learn_the_words_that_their_friend_does_not_dispute(tiny_encoder: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    words = {"NN": ["cat", "dog"], "VB": ["runs", "sleeps"]}
    for name in ("gold", "dev", "test", "pool"):
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for _ in range(8):
                tags = draw.choices(list(words), k=4)
                said = [draw.choice(words[tag]) for tag in tags]
                file.write(json.dumps({"words": said, "text": " ".join(said), "tags": tags}) + "\n")
    task = (
        f"{{kind: token-classification, encoder: {tiny_encoder}, gold: gold.jsonl, dev: dev.jsonl, test: test.jsonl,"
        " base_steps: 2, update_steps: 2, training: {look_every: 2}, selection: {choose: parts}}"
    )
    text = (
        f"{{name: taggers, tasks: {{a: {task}, b: {task}}}, friendships: [{{first: a, second: b, kind: tags,"
        " means: {NN: NN, VB: VB}}], pool: {file: pool.jsonl, words: words}, methods: [base, fdt, fdt-parts],"
        " iterations: 1}"
    )
    run_study(parse_config(text, "taggers.yaml"), tmp_path / "run", data_dir=tmp_path)
    rows = Run.open(method_folder(tmp_path / "run", "fdt")).store.read(1).to_pylist()
    labels = {(row["task"], row["unit"]): json.loads(row["label"]) for row in rows}
    for unit in {row["unit"] for row in rows}:
        a, b = labels["a", unit], labels["b", unit]
        disputed = [place for place, pair in enumerate(zip(a["tags"], b["tags"], strict=True)) if len(set(pair)) > 1]
        assert a.get("unsure", []) == b.get("unsure", []) == disputed
    by_method = Run.open(method_folder(tmp_path / "run", "fdt-parts")).store.read(1).to_pylist()
    assert [row["label"] for row in by_method] == [row["label"] for row in rows]


def test_a_table_that_lacks_a_label_of_gold_is_told_before_training(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"emotion-polarity: means says nothing of anger, sadness"):
        load_data(config_of("{joy: positive}"), folder)


def test_a_table_can_be_learned_and_is_kept(folder: Path, tmp_path: Path) -> None:
    config = config_of("learned", "methods=[base, fdt]")
    run_study(config, tmp_path / "run", data_dir=folder)
    result = Run.open(tmp_path / "run").require(means_step(config.friendships[0]))
    assert result["from"] == "predictions", "no text is in the gold of both"
    assert result["means"] == {"joy": ["positive"], "anger": ["negative"], "sadness": ["negative"]}


def test_what_stands_in_dev_and_test_is_left_out_of_the_pool_and_said(folder: Path, tmp_path: Path) -> None:
    for name in SIZES:
        (tmp_path / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    copied = (folder / "test.csv").read_text(encoding="utf-8").splitlines()[1:4]
    with (tmp_path / "pool.csv").open("a", encoding="utf-8") as pool:
        pool.writelines(line + "\n" for line in copied)
    data = load_data(config_of(), tmp_path)
    assert len(list(data.pool)) == SIZES["pool"]
    assert any("3 inputs of the pool were left out" in note for note in data.notes)
    kept = load_data(config_of(MEANS, "pool.held_out=kept"), tmp_path)
    assert len(list(kept.pool)) == SIZES["pool"] + 3


def test_wrong_files_are_told_with_their_line(folder: Path, tmp_path: Path) -> None:
    for name in SIZES:
        (tmp_path / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    with pytest.raises(DataError, match=r"pool\.csv:2: there is no column 'review'; the columns are says"):
        load_data(config_of(MEANS, "pool.text=review"), tmp_path)
    with pytest.raises(DataError, match=r"nowhere\.csv: there is no such file"):
        load_data(config_of(MEANS, "tasks.polarity.gold=nowhere.csv"), tmp_path)
    with (tmp_path / "dev.csv").open("a", encoding="utf-8") as file:
        file.write("a text without its labels\n")
    with pytest.raises(DataError, match=rf"dev\.csv:{SIZES['dev'] + 2}: 3 cells were expected"):
        load_data(config_of(), tmp_path)


def with_answers(file: str) -> FriendsConfig:
    """A third friend, whose answers stand in a file."""
    text = CONFIG.replace("MEANS", MEANS).replace(
        "friendships: [", f"  said: {{kind: answer-file, file: {file}}}\nfriendships: [{SAID}, "
    )
    config = parse_config(text, "reviews.yaml", ["methods=[base, fdt]"])
    assert isinstance(config, FriendsConfig)
    return config


SAID = "{first: said, second: polarity, means: {positive: positive}}"


def written(place: Path, name: str, content: bytes) -> Path:
    (place / name).write_bytes(content)
    return place


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"says,says,emotion\na,b,joy\n", r"p\.csv:1: two columns have the name 'says'"),
        ("p.csv", b'says,emotion\n"' + b"a\n" * 100_000, r"p\.csv:\d+: broken CSV: field larger than field limit"),
        ("p.csv", b"says,emotion\n" + b"a" * 200_000 + b",joy\n", r"p\.csv:2: broken CSV: field larger|a text of"),
        ("p.csv", b"says,emotion\na\xff,joy\n", r"p\.csv:2: not UTF-8"),
        ("p.csv", b"says\n" + b"a" * 2_000_000, r"p\.csv:2: a line of more than 1,048,576 bytes"),
        (
            "p.csv.gz",
            gzip.compress(b"says\n" + b"a\n" * 100, mtime=0)[:-9],
            r"p\.csv\.gz: the gzip file is damaged or cut off",
        ),
        (
            "p.csv.gz",
            gzip.compress(b"says\n" + b"a\n" * 600_000, mtime=0),
            r"p\.csv\.gz: .* unfolds to more than 100 times",
        ),
        ("p.parquet", b"PAR1 no PAR1", r"p\.parquet: not a Parquet file that can be read"),
        ("p.jsonl", b'{"says": ' + b"[" * 100_000 + b"}\n", r"p\.jsonl:1: lists and objects nested"),
        ("p.jsonl", b'{"says": ' + b"9" * 5_000 + b"}\n", r"p\.jsonl:1: broken JSON: a number of thousands"),
        ("p.jsonl", b'{"says": "a\\ud83d"}\n', r"p\.jsonl:1: half a character"),
        ("p.jsonl", b'{"says": ["a\\ud83d"]}\n', r"p\.jsonl:1: half a character"),
    ],
)
def test_a_file_from_elsewhere_is_refused_with_its_line(
    folder: Path, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    place = written(shutil.copytree(folder, tmp_path / "files"), name, content)
    with pytest.raises(DataError, match=message) as refused:
        run_study(config_of(MEANS, f"pool.file={name}"), tmp_path / "run", data_dir=place)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_list_of_words_is_checked_as_a_text_is(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    for cell, message in (('"[""a"", ""\\ud83d""]"', "half a character"), ('"[""a"", "', "broken JSON")):
        path.write_text(f"words\n{cell}\n")
        with pytest.raises(DataError, match=rf"w\.csv:2: {message}"):
            list(tables.words(path, words="words"))


def test_the_pool_is_a_file(folder: Path, tmp_path: Path, device: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "files")
    os.mkfifo(place / "pipe.csv")
    for name in (".", "pipe.csv", str(device)):
        with pytest.raises(DataError, match=r"a file was expected, this is none"):
            load_data(config_of(MEANS, f"pool.file={name}"), place)


def test_other_gold_answers_or_hidden_labels_are_refused_when_a_run_goes_on(folder: Path, tmp_path: Path) -> None:
    place = written(shutil.copytree(folder, tmp_path / "files"), "said.csv", b"id,label\npool:2,positive\n")
    config = with_answers("said.csv")
    run_study(config, tmp_path / "run", data_dir=place)
    (tmp_path / "run" / "results.jsonl").unlink()
    for path in (tmp_path / "run" / "methods" / "fdt" / "phases").iterdir():
        if path.name.startswith("test") or "-1" in path.name:
            path.unlink()
    for name, old, new, message in (
        ("polarity.csv", b"positive", b"negative", "made from other data: polarity_gold"),
        ("pool.csv", b"joy", b"anger", "made from other data: hidden"),
        ("said.csv", b"positive", b"negative", "the fixed friend of this run was"),
    ):
        whole = (place / name).read_bytes()
        written(place, name, whole.replace(old, new, 1))
        with pytest.raises(RunError, match=message):
            run_study(config, tmp_path / "run", data_dir=place)
        written(place, name, whole)
        assert not (tmp_path / "run" / "results.jsonl").exists()
    assert len(run_study(config, tmp_path / "run", data_dir=place)) == 2


def test_answers_that_cannot_be_read_are_told_before_a_run_is_begun(folder: Path, tmp_path: Path) -> None:
    place = written(shutil.copytree(folder, tmp_path / "files"), "said.jsonl", b"{broken\n")
    with pytest.raises(DataError, match=r"said\.jsonl:1: broken JSON"):
        run_study(with_answers("said.jsonl"), tmp_path / "run", data_dir=place)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("pool.hidden={nobody: polarity}", "pool.hidden: there is no task 'nobody'"),
        ("friendships=[{first: emotion, second: emotion, means: learned}]", "emotion cannot be a friend of itself"),
        (
            "friendships=[{first: emotion, second: polarity, means: learned},"
            " {first: emotion, second: polarity, means: learned}]",
            "'emotion-polarity' is the name of two of them",
        ),
        ("friendships=[{first: emotion, second: polarity, name: ../x, means: learned}]", "expected text of the form"),
        ('pool.file="a\\0b"', "a control character"),
        ("tasks={../x: {kind: estimator}}", "expected text of the form"),
    ],
)
def test_names_that_lead_nowhere_or_out_are_refused(change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        config_of(MEANS, change)


def test_a_friend_that_is_no_task_and_a_command_for_another_pair(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no task 'stars'; there are polarity, emotion"):
        config_of(MEANS, "friendships=[{first: stars, second: polarity, means: {a: b}}]")
    with pytest.raises(ConfigError, match=r"paper's pair, CSRL and rewriting; the tasks here are polarity, emotion"):
        case_study(config_of())


def test_a_method_of_the_papers_pair_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"friendship emotion-polarity cannot do 'checked'"):
        run_study(config_of(MEANS, "methods=[base, fdt-checked]"), tmp_path / "run", data_dir=folder)


def test_the_explained_config_is_one(folder: Path) -> None:
    config = config_of()
    assert parse_config(explained_config(config), "explained") == config


def test_paths_begin_at_the_folder_that_has_the_files(folder: Path, tmp_path: Path) -> None:
    config = config_of()
    assert base_of(config, tmp_path, folder) == folder
    assert base_of(config, None, tmp_path) == tmp_path, "what is missing there is told by its path"
