"""friend-train friends: a ranking from files of predictions, and what is wrong with a file."""

import json
from pathlib import Path

import numpy as np

from helpers.command import FriendTrain

MEANS = {"joy": "good", "love": "good", "anger": "bad", "fear": "bad"}


def write(folder: Path, name: str, gold: list[str], labels: list[str]) -> Path:
    path = folder / f"{name}.jsonl"
    records = [
        {"id": f"t{n}", "label": said, "gold": true} for n, (true, said) in enumerate(zip(gold, labels, strict=True))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def files(folder: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    emotion = rng.choice(list(MEANS), 400).tolist()
    polarity = [MEANS[one] for one in emotion]
    said = [one if rng.random() < 0.6 else str(rng.choice(list(MEANS))) for one in emotion]
    checked = [one if rng.random() < 0.9 else str(rng.choice(["good", "bad"])) for one in polarity]
    guessed = rng.choice(["good", "bad"], 400).tolist()
    return [
        write(folder, "emotion", emotion, said),
        write(folder, "guess", polarity, guessed),
        write(folder, "polarity", polarity, checked),
    ]


def test_the_best_friend_comes_first(friend_train: FriendTrain, tmp_path: Path) -> None:
    made = files(tmp_path)
    (tmp_path / "means.yaml").write_text(json.dumps({"emotion-polarity": MEANS}), encoding="utf-8")
    for more in ((), ("--means", tmp_path / "means.yaml")):
        said = friend_train("friends", *made, *more)
        assert said.code == 0
        rows = [line.split()[:2] for line in said.out.splitlines() if line.split()[:1] == ["emotion"]]
        assert rows[0] == ["emotion", "polarity"]
        assert "?: these agree no more often than by chance" in said.out
        assert all(len(line) <= 80 for line in said.out.splitlines())


def test_what_is_wrong_is_named_by_file_and_line(friend_train: FriendTrain, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for text, words in [
        ('{"id": "1", "label": "x"}\n{"id": "1", "label": "y"}\n', "second prediction for '1'"),
        ('{"id": "1"}\n', "label"),
        ('{"id": "1", "label": ["x"]}\n', "label"),
        ('{"id": "1", "label": "x", "confidence": 2}\n', "confidence"),
        ("no json\n", "JSON"),
    ]:
        path.write_text(text, encoding="utf-8")
        said = friend_train("friends", path, path)
        assert said.code == 2
        assert words in said.err
        assert "a.jsonl" in said.err
    assert friend_train("friends", tmp_path / "nowhere.jsonl").code == 2


def test_means_of_other_tasks_are_refused(friend_train: FriendTrain, tmp_path: Path) -> None:
    made = files(tmp_path)
    (tmp_path / "means.yaml").write_text(json.dumps({"stars-polarity": MEANS}), encoding="utf-8")
    said = friend_train("friends", *made, "--means", tmp_path / "means.yaml")
    assert said.code == 2
    assert "stars-polarity" in said.err
