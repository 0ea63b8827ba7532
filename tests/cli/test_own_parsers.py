"""Every command on a run of parsers that are friends."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from friend_training import load
from friend_training.cli.main import main
from friend_training.inference.trained_tasks import TrainedTasks
from friend_training.nn.class_names import read_names
from friend_training.report.page import write_report
from friend_training.tasks import constituency_task
from friend_training.types import Words
from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import look_at
from friend_training.web.service.app import make_tasks_app
from helpers.command import FriendTrain
from helpers.own_parsers import PARTS, write_files

WORDS = ["the", "old", "cat", "sees", "Anna", "."]


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; its encoder is gone, and its files lie beside it."""
    folder = tmp_path_factory.mktemp("parsers")
    config = write_files(folder)
    changed = ["--set", "methods=[base, sst, fdt]", "--set", "tasks.arcs.relations=null"]
    changed += ["--set", "tasks.arcs.gold=arcs.dp", "--set", "tasks.arcs.dev=dev.dp"]
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(config), "--out", str(folder / "run"), "--data-dir", str(folder), *changed])
    assert not stopped.value.code
    shutil.rmtree(folder / "run" / "encoder")
    return folder / "run"


def test_results_and_choices(parsers: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    said = friend_train("show", parsers, "--examples", "1")
    assert said.code == 0, said.err
    assert "Chosen for trees, best overall scores first" in said.out
    differences = friend_train("compare", parsers, "--show", "differences").out.splitlines()
    assert differences[0] == "| FDT minus | arcs UAS | tags accuracy | trees F1 |"
    assert "| FDT | arcs | 1 |" in friend_train("compare", parsers, "--show", "chosen").out
    page = write_report(Path(shutil.copytree(parsers, tmp_path / "run"))).read_text(encoding="utf-8")
    assert "UAS on test" in page
    assert "[NP " in page


def test_labels_leave_and_come_back_as_corrections(parsers: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    run = Path(shutil.copytree(parsers, tmp_path / "run"))
    assert friend_train("labels", run, "--out", tmp_path / "labels.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 3 * PARTS["pool"]
    with TestClient(make_app(look_at(run)), base_url="http://127.0.0.1") as client:
        for task, label in (("arcs", "heads"), ("tags", "tags"), ("trees", "brackets")):
            asked = {"task": task, "iteration": 1}
            unit = client.get("/api/units", params=asked).json()["units"][0]["unit"]
            found = client.get("/api/unit", params=asked | {"unit": unit})
            assert found.status_code == 200, found.text
            kept = next(row["label"] for row in rows if row["task"] == task and row["unit"] == unit)
            assert label in kept
            verdict = client.post("/api/corrections", json=asked | {"unit": unit, "verdict": "rejected"})
            assert verdict.status_code == 200, verdict.text
    said = friend_train("diagnose", run, "--examples", "1", "--data-dir", parsers.parent)
    assert said.code == 0, said.err
    assert "| arcs | trees-arcs | 1 |" in said.out


def test_models_are_used(parsers: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    file = parsers.parent / "test.jsonl"
    files = {"trees": ("f1", "test.mrg"), "arcs": ("uas", "test.jsonl"), "tags": ("accuracy", "test.dp")}
    for task, (metric, path) in files.items():
        said = friend_train("evaluate", parsers, parsers.parent / path, "--task", task, "--json")
        assert said.code == 0, said.err
        scores = json.loads(said.out)["scores"]["all"]
        assert scores["examples"] == PARTS["test"]
        assert 0 <= scores[metric] <= 100
    said = friend_train("predict", parsers, file, "--task", "arcs")
    assert said.code == 0, said.err
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert len(lines) == PARTS["test"]
    assert all("heads" in line["label"] for line in lines)
    friends = load(parsers)
    assert isinstance(friends, TrainedTasks)
    [tree] = friends.predict("trees", [WORDS])
    [heads] = friends.predict("arcs", [WORDS])
    assert tree is not None
    assert heads is not None
    assert len(heads.label.heads) == len(tree.label.tags) == len(WORDS)
    assert {one.task for one in friends.agreement([WORDS])[0]} == {"trees", "arcs", "tags"}
    with TestClient(make_tasks_app(friends), base_url="http://127.0.0.1") as client:
        sent = client.post("/v1/predict", json={"task": "tags", "inputs": [{"words": WORDS}]})
        assert sent.status_code == 200, sent.text
        assert len(sent.json()["labels"][0][0]["label"]) == len(WORDS), "tags are a list there"
    assert friend_train("export", parsers, "--task", "trees", "--out", tmp_path / "trees").code == 0
    again = constituency_task(tmp_path / "trees", **read_names(tmp_path / "trees"))
    again.load(tmp_path / "trees")
    assert again.predict([Words("1", tuple(WORDS))])[0][0].label == tree.label
    assert "library_name: friend-training" in (tmp_path / "trees" / "README.md").read_text(encoding="utf-8")


def test_a_run_says_what_it_needs_and_goes_on(parsers: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    config = parsers.parent / "parsers.yaml"
    said = friend_train("run", config, "--data-dir", parsers.parent, "--out", tmp_path / "new", "--dry-run")
    assert said.code == 0, said.err
    assert "trees.mrg" in said.out + said.err
    assert friend_train("verify", parsers).code in (0, 2)
    assert pq.read_table(parsers / "inputs.parquet").num_rows == PARTS["pool"]


def test_an_experiment_of_parsers_has_variants_and_a_figure(
    parsers: Path, friend_train: FriendTrain, tmp_path: Path
) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    shutil.copy(parsers.parent / "parsers.yaml", folder / "config.yaml")
    (folder / "experiment.yaml").write_text(
        "title: T\nconfig: config.yaml\nseeds: [1]\nset: [iterations=1, pool.most=8]\nvary:\n"
        "  - {name: three, methods: [base, fdt]}\n"
        "  - {name: two, methods: [base, fdt], set: ['friendships=[{kind: constituency-dependency, first: trees,"
        " second: arcs}]']}\n",
        encoding="utf-8",
    )
    said = friend_train("experiment", folder, "--data-dir", parsers.parent, "--runs", tmp_path / "runs")
    assert said.code == 0, said.err
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["variant"]["name"], one["method"]) for one in records] == [
        (variant, method) for variant in ("three", "two") for method in ("base", "fdt")
    ]
    assert records[0]["metrics"] == records[2]["metrics"], "Base is the same, and was taken over"
    assert friend_train("figure", folder, "--out", tmp_path / "two.svg").code == 0
    assert friend_train("compare", folder).code == 0
