"""`friend-train init`: the config that it writes for files of a user's own runs."""

import json
import shutil
from pathlib import Path

import pytest

from friend_training.study.config import FriendsConfig, load_config
from helpers.command import FriendTrain

FILES = ("--dev", "dev.csv", "--test", "test.csv", "--pool", "pool.csv")
TWO = ("--task", "estimator:mood", "--gold", "mood.csv", "--task", "estimator:sentiment", "--gold", "polarity.csv")


@pytest.fixture
def here(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a user's own."""
    for file in own.parent.glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_config_that_runs(here: Path, friend_train: FriendTrain) -> None:
    said = friend_train("init", "reviews.yaml", *TWO, *FILES)
    assert said.code == 0, said.err
    config = load_config("reviews.yaml")
    assert isinstance(config, FriendsConfig)
    mood, sentiment = config.tasks["mood"], config.tasks["sentiment"]
    assert (mood.model_dump()["text"], mood.model_dump()["label"]) == ("Utterance", "Mood")
    assert sentiment.model_dump()["label"] == "Sentiment"
    [friendship] = config.friendships
    means = {"joy": "positive", "anger": "negative", "neutral": "neutral"}
    assert friendship.model_dump()["means"] == means, "as the texts with both labels say"
    settings = ("--set", "iterations=1", "--set", "methods=[base, fdt]")
    assert friend_train("run", "reviews.yaml", "--out", "run", *settings).code == 0
    records = [json.loads(line) for line in (here / "run" / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["method"] for record in records] == ["base", "fdt"]


def test_what_cannot_be_told_is_asked_for(here: Path, friend_train: FriendTrain) -> None:
    said = friend_train("init", "reviews.yaml", "--task", "estimator:mood")
    assert (said.code, "two tasks or more" in said.err) == (2, True)
    said = friend_train("init", "reviews.yaml", *TWO)
    assert (said.code, "--dev is needed" in said.err) == (2, True)
    said = friend_train("init", "reviews.yaml", *TWO, *FILES, "--means", "joy=positive")
    assert (said.code, "--means says nothing of anger, neutral" in said.err) == (2, True)
    named = [one.replace("estimator:mood", "estimator:x") for one in TWO]
    said = friend_train("init", "reviews.yaml", *named, *FILES)
    assert (said.code, "--label is needed: the column of labels for x (Mood, Sentiment)" in said.err) == (2, True)
    assert not (here / "reviews.yaml").exists()


def test_meanings_as_they_are_given(here: Path, friend_train: FriendTrain) -> None:
    given = "joy=positive,anger=negative,neutral=neutral|positive"
    assert friend_train("init", "reviews.yaml", *TWO, *FILES, "--means", given).code == 0
    config = load_config("reviews.yaml")
    assert isinstance(config, FriendsConfig)
    assert config.friendships[0].model_dump()["means"]["neutral"] == ("neutral", "positive")
    assert friend_train("init", "reviews.yaml", *TWO, *FILES).code == 2, "it is there already"
