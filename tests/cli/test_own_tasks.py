"""Every command on a run of two classifiers with files of a user's own."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import ClassVar

import pyarrow.parquet as pq
import pytest
import skops.io
import torch
import yaml
from starlette.testclient import TestClient
from transformers import pipeline

from friend_training import load
from friend_training.data.catalogue import CorpusFile, Part, known_corpora
from friend_training.errors import DataError
from friend_training.inference.trained_tasks import TrainedTasks
from friend_training.report.page import write_report
from friend_training.study.folders import files_of, remember_notes
from friend_training.web.inspector.app import make_app
from friend_training.web.inspector.run_view import look_at
from friend_training.web.service.app import make_tasks_app
from helpers.command import FriendTrain
from helpers.own_run import write_rows


def test_tables_have_the_metrics_of_the_tasks(own: Path, friend_train: FriendTrain) -> None:
    said = friend_train("show", own, "--examples", "1")
    assert said.code == 0
    head = [line.split() for line in said.out.splitlines()]
    assert ["polarity", "polarity", "mood", "mood"] in head
    assert ["Method", "macro", "F1", "accuracy", "macro", "F1", "accuracy"] in head
    assert "CSRL" not in said.out
    assert any(line.split()[:4] == ["FDT", "mood", "macro", "F1"] for line in said.out.splitlines()), "dev by iteration"
    assert "Chosen for mood, best overall scores first" in said.out
    assert any(line.strip() in ("→ joy", "→ anger", "→ neutral") for line in said.out.splitlines())
    told = " ".join(said.out.split())
    assert "SST chose no pseudo-label of polarity." in told
    assert "SST chose no pseudo-label of mood" not in told


def test_a_task_without_steps_has_no_row_of_same_steps(own: Path, friend_train: FriendTrain) -> None:
    [row] = [line for line in friend_train("compare", own).out.splitlines() if "same steps" in line]
    cells = row.replace("Base, same steps", "").split()
    assert cells[:2] == ["–", "–"]  # mood, an estimator
    assert all(float(cell) >= 0 for cell in cells[2:])


def test_differences_and_choices_are_compared(own: Path, friend_train: FriendTrain) -> None:
    said = friend_train("compare", own, "--show", "differences")
    assert said.out.splitlines()[0] == (
        "| FDT minus | mood macro F1 | mood accuracy | polarity macro F1 | polarity accuracy |"
    )
    assert len(said.out.splitlines()) == 5
    assert "| FDT | polarity | 1 |" in friend_train("compare", own, "--show", "chosen").out
    assert friend_train("compare", own, "--show", "paper").code == 2


def test_a_task_is_evaluated_on_a_table(own: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "more.csv", 20, 9)
    said = friend_train("evaluate", own, file, "--task", "mood", "--json")
    scores = json.loads(said.out)["scores"]["all"]
    assert scores["examples"] == 20
    assert scores["accuracy"] > 50, "three moods, and their words tell them apart"
    said = friend_train("evaluate", own, file, "--task", "rewriting")
    assert (said.code, "its tasks are polarity, mood" in said.err) == (2, True)
    assert friend_train("evaluate", own, file, "--task", "mood", "--format", "csrl").code == 2


def test_texts_are_labelled(own: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    plain = tmp_path / "texts.txt"
    plain.write_text("lovely great happy sunny lovely\nawful rude loud broken\n", encoding="utf-8")
    lines = [json.loads(line) for line in friend_train("predict", own, plain, "--task", "mood").out.splitlines()]
    assert [(line["id"], line["label"]) for line in lines] == [("texts:1", "joy"), ("texts:2", "anger")]
    assert all(0 < line["confidence"] <= 1 for line in lines)
    said = friend_train("predict", own, plain, "--task", "mood", "--format", "csagn")
    assert (said.code, len(said.err.splitlines())) == (2, 1)


def test_models_from_python(own: Path) -> None:
    friends = load(own)
    assert isinstance(friends, TrainedTasks)
    assert sorted(friends.tasks) == ["mood", "polarity"]
    found = friends.predict("mood", ["lovely great happy sunny lovely", "awful rude loud broken"])
    assert [one.label for one in found if one is not None] == ["joy", "anger"]
    [both] = friends.agreement(["lovely great happy sunny lovely"])
    assert [one.task for one in both] == ["polarity", "mood"]
    agreed = both[0].label == "positive"
    assert all(one.match == float(agreed) and one.matches == {"mood-polarity": float(agreed)} for one in both)
    with pytest.raises(DataError, match="expected a text"):
        friends.predict("mood", [""])
    with pytest.raises(DataError, match="the tasks are polarity, mood"):
        friends.predict("csrl", ["x"])


def test_models_over_http(own: Path) -> None:
    friends = load(own)
    assert isinstance(friends, TrainedTasks)
    with TestClient(make_tasks_app(friends), base_url="http://127.0.0.1") as client:
        sent = {"task": "mood", "inputs": ["awful rude loud broken", {"text": "lovely happy", "id": "b"}]}
        labels = client.post("/v1/predict", json=sent).json()["labels"]
        assert [units[0]["label"] for units in labels] == ["anger", "joy"]
        compared = client.post("/v1/agreement", json={"inputs": ["awful rude loud broken"]}).json()["agreement"]
        assert [one["task"] for one in compared[0]] == ["polarity", "mood"]
        assert client.get("/health").json()["tasks"] == ["polarity", "mood"]
        assert client.get("/").status_code == 200
        wrong = client.post("/v1/predict", json={"task": "csrl", "inputs": ["x"]})
        assert (wrong.status_code, "the tasks are polarity, mood" in wrong.json()["error"]) == (422, True)
        assert client.post("/v1/predict", json={"task": "mood", "inputs": ["  "]}).status_code == 422


def test_a_classifier_leaves_as_a_folder_of_transformers(own: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    assert friend_train("export", own, "--task", "polarity", "--out", tmp_path / "polarity").code == 0
    [said] = pipeline("text-classification", str(tmp_path / "polarity"))(["lovely happy"])
    friends = load(own)
    assert isinstance(friends, TrainedTasks)
    [ours] = friends.predict("polarity", ["lovely happy"])
    assert ours is not None
    assert (said["label"], round(said["score"], 3)) == (ours.label, round(ours.confidence, 3))
    card = (tmp_path / "polarity" / "README.md").read_text(encoding="utf-8")
    assert "model-index:" in card
    assert "pipeline_tag: text-classification" in card


def test_an_estimator_leaves_as_a_file_of_skops(own: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    assert friend_train("export", own, "--task", "mood", "--out", tmp_path / "mood").code == 0
    assert skops.io.load(tmp_path / "mood" / "model.skops").predict(["awful rude loud broken"]) == ["anger"]
    said = friend_train("export", own, "--task", "mood", "--out", tmp_path / "onnx", "--onnx")
    assert (said.code, len(said.err.splitlines())) == (2, 1)


def test_pseudo_labels_as_files(own: Path, friend_train: FriendTrain, tmp_path: Path) -> None:
    assert friend_train("labels", own, "--out", tmp_path / "all.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 60
    assert {row["task"] for row in rows} == {"polarity", "mood"}
    assert all(row["text"] and isinstance(row["label"], str) for row in rows)
    chosen = [row for row in rows if row["chosen"] and row["task"] == "mood"]
    arguments = ("--task", "mood", "--chosen")
    assert friend_train("labels", own, "--out", tmp_path / "some.parquet", *arguments).code == 0
    assert pq.read_table(tmp_path / "some.parquet").to_pylist() == chosen
    assert friend_train("labels", own, "--out", tmp_path / "set").code == 0
    assert pq.read_table(tmp_path / "set" / "labels.parquet").num_rows == 60
    assert "data_files: labels.parquet" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert friend_train("labels", own, "--out", tmp_path / "x.csv").code == 2


def test_the_report_shows_texts_and_the_tasks_own_metric(own: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(own, tmp_path / "run"))
    remember_notes(run, ["3 of 20 texts in test of mood are gold of polarity"])
    page = write_report(run).read_text(encoding="utf-8")
    assert "macro F1 on test" in page
    assert "macro F1 on dev" in page
    assert "3 of 20 texts in test of mood are gold of polarity." in page
    text = json.loads(pq.read_table(run / "inputs.parquet")["input"][0].as_py())["text"]
    shown = [json.loads(one)["text"] in page for one in pq.read_table(run / "inputs.parquet")["input"].to_pylist()]
    assert text
    assert sum(shown) > 10


def test_the_inspector_shows_meanings_and_takes_classes(own: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(own, tmp_path / "run"))
    with TestClient(make_app(look_at(run)), base_url="http://127.0.0.1") as client:
        asked = {"task": "mood", "iteration": 1}
        unit = client.get("/api/units", params=asked).json()["units"][0]["unit"]
        found = client.get("/api/unit", params=asked | {"unit": unit}).json()
        assert found["choices"] == ["anger", "joy", "neutral"]
        [means] = found["means"]
        assert means["first_says"] == {"joy": "positive", "anger": "negative", "neutral": "neutral"}[found["label"]]
        assert means["second_says"] == found["friends"][0]["label"]
        said = asked | {"unit": unit, "verdict": "corrected"}
        assert client.post("/api/corrections", json=said | {"label": "anger"}).json()["label"] == "anger"
        wrong = client.post("/api/corrections", json=said | {"label": "rage"})
        assert wrong.status_code >= 400
        assert "none of anger, joy, neutral" in wrong.json()["error"]


def test_a_run_is_looked_into_on_dev(
    own: Path, friend_train: FriendTrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.parent)
    run = Path(shutil.copytree(own, tmp_path / "run"))
    said = friend_train("diagnose", run, "--examples", "2", "--data-dir", own.parent)
    assert said.code == 0, said.err
    assert "| mood | mood-polarity | 1 |" in said.out
    numbers = [json.loads(line) for line in (run / "diagnosis" / "fdt.jsonl").read_text("utf-8").splitlines()]
    assert [(one["task"], one["units"]) for one in numbers] == [("polarity", 18), ("mood", 18)]
    mood = numbers[1]
    by_match = next(rule for rule in mood["rules"].values())
    assert mood["accuracy"] > 0.5
    assert 0 < by_match["chosen"] <= 18
    assert mood["friendships"]["mood-polarity"]["agreed"] <= 1
    assert "## mood, iteration 1: Right labels that matching throws away" in said.out
    counts = [int(line.rpartition("(")[2][:-1]) for line in said.out.splitlines() if line.startswith("## ")]
    assert said.out.count("    gold   ") == sum(min(count, 2) for count in counts)


class Hub:
    """Stands for huggingface_hub.HfApi: what would be uploaded, and where."""

    pushed: ClassVar[list[tuple[str, str, set[str]]]] = []
    failure: ClassVar[Exception | None] = None

    def create_repo(self, name: str, *, repo_type: str, private: bool, exist_ok: bool) -> str:
        assert private
        if self.failure is not None:
            raise self.failure
        return f"https://hub/{name}"

    def upload_folder(self, *, repo_id: str, folder_path: Path, repo_type: str, commit_message: str) -> None:
        self.pushed.append((repo_type, repo_id, {path.name for path in folder_path.iterdir()}))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> type[Hub]:
    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a token")
    monkeypatch.setattr(Hub, "pushed", [])
    monkeypatch.setattr(Hub, "failure", None)
    return Hub


def test_models_and_labels_are_pushed_to_a_hub(
    own: Path, friend_train: FriendTrain, tmp_path: Path, hub: type[Hub]
) -> None:
    said = friend_train("export", own, "--task", "mood", "--out", tmp_path / "mood", "--push", "me/mood")
    assert (said.code, "uploaded: https://hub/me/mood" in said.err) == (0, True)
    assert friend_train("labels", own, "--out", tmp_path / "labels", "--push", "me/labels").code == 0
    [model, labels] = hub.pushed
    assert model[:2] == ("model", "me/mood")
    assert model[2] >= {"README.md", "model.skops"}
    assert labels == ("dataset", "me/labels", {"README.md", "labels.parquet"})
    said = friend_train("labels", own, "--out", tmp_path / "labels.jsonl", "--push", "me/labels")
    assert (said.code, "a dataset is a folder" in said.err) == (2, True)


def test_without_a_hub_or_a_token_that_is_told_in_a_line(
    own: Path, friend_train: FriendTrain, tmp_path: Path, hub: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "failure", OSError("no route to host"))
    said = friend_train("labels", own, "--out", tmp_path / "labels", "--push", "me/labels")
    assert said.code == 2
    assert "--push me/labels: the hub did not take it: no route to host; it is all in" in said.err
    assert (tmp_path / "labels" / "labels.parquet").is_file()
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    said = friend_train("export", own, "--task", "mood", "--out", tmp_path / "mood", "--push", "me/mood")
    assert (said.code, "there is no token of the hub here; set HF_TOKEN" in said.err) == (2, True)


def test_cards_have_the_licence_of_the_strictest_dataset(
    own: Path, friend_train: FriendTrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The friend's gold counts too: what it knows reaches the model by its labels."""
    files = files_of(own, None)
    assert files is not None
    digests = [hashlib.sha256((files / f"{name}.csv").read_bytes()).hexdigest() for name in ("mood", "pool")]
    made = [
        known_corpora()[0].model_copy(
            update={
                "name": f"corpus-{number}",
                "licence": licence,
                "parts": (Part(name="all", files=(CorpusFile(path=f"x/{number}", source="", sha256=digest),)),),
            }
        )
        for number, (licence, digest) in enumerate(zip(("CC BY-NC 4.0", "MIT"), digests, strict=True))
    ]
    monkeypatch.setattr("friend_training.data.catalogue.known_corpora", lambda: tuple(made))
    assert friend_train("export", own, "--task", "polarity", "--out", tmp_path / "polarity").code == 0
    card = (tmp_path / "polarity" / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---")[1])
    assert (front["license"], front["datasets"]) == ("cc-by-nc-4.0", ["corpus-0", "corpus-1"])
    assert "`corpus-0` (CC BY-NC 4.0)" in card
    assert friend_train("labels", own, "--out", tmp_path / "labels").code == 0
    front = yaml.safe_load((tmp_path / "labels" / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert (front["license"], front["datasets"]) == ("cc-by-nc-4.0", ["corpus-0", "corpus-1"])


def test_calls_leave_the_threads_of_a_program_alone(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each computes in as many as the run's config says, in whatever thread it is made."""
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        friends = load(own)
        assert isinstance(friends, TrainedTasks)
        assert torch.get_num_threads() == before + 1
        seen: list[int] = []
        task = friends.tasks["polarity"]
        predict = task.predict
        monkeypatch.setattr(task, "predict", lambda inputs: seen.append(torch.get_num_threads()) or predict(inputs))
        friends.predict("polarity", ["lovely happy"])
        friends.agreement(["lovely happy"])
        assert seen == [friends.config.threads] * 2
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)
