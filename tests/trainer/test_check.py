"""What FriendTrainer.check knows before training, with models and without."""

from pathlib import Path

import pytest

from friend_training import FriendTrainer, label_friendship, tag_friendship
from friend_training.errors import ConfigError, DataError
from friend_training.runs.run import Run
from friend_training.study.folders import method_folder
from friend_training.study.run_data import TaskData
from friend_training.trainer.check import Check, check_gold
from friend_training.types import Text
from helpers.friend_trainers import GOLD, POOL, STARS, estimator, finished_steps, trainer


def test_without_texts_gold_is_compared_with_gold(tmp_path: Path) -> None:
    """Gold of both tasks is of the same texts, and the table is right for all of them."""
    found = trainer(tmp_path).check()
    [friends] = found.friendships
    assert (friends.missing, friends.unreached) == ((), ())
    assert friends.gold is not None
    assert friends.gold.texts > len(GOLD)
    assert friends.gold.match == 1.0
    assert "not known: agreement" in str(found)
    assert not list(tmp_path.iterdir()), "nothing was written"


def test_what_the_table_leaves_out_is_told(tmp_path: Path) -> None:
    few = label_friendship("stars", "mood", {"1": "bad", "5": ["good"], "7": None})
    data = {name: TaskData([(Text("1", row["review"]), row[name]) for row in GOLD]) for name in ("stars", "mood")}
    found = check_gold(few, data)
    assert found.missing == ("3",)
    assert found.unreached == ("mixed",)
    assert "says nothing of 3" in str(Check((found,)))


def test_with_texts_a_quick_base_answers_and_fit_goes_on_with_it(tmp_path: Path) -> None:
    friends = trainer(tmp_path, seeds=(1,))
    found = friends.check(POOL)
    [one] = found.friendships
    assert one.measured is not None
    assert one.measured.unshuffled.mean_match > one.measured.shuffled.mean_match
    assert {task.name for task in found.tasks} == {"mood", "stars"}
    assert "fit will take about" in found.cost
    before = finished_steps(tmp_path)
    assert before
    friends.fit(POOL, compare=("base", "fdt"))
    assert finished_steps(tmp_path).items() >= before.items()


def test_hidden_labels_are_named_to_check_as_to_fit(tmp_path: Path) -> None:
    """Fit goes on in a folder only with what check got, and nobody says that these texts have no labels."""
    rows = [{"review": text, "really": "good"} for text in POOL]
    friends = trainer(tmp_path, seeds=(1,))
    assert "the texts have no labels" not in str(friends.check(rows, hidden={"mood": "really"}))
    result = friends.fit(rows, hidden={"mood": "really"}, compare=("base", "fdt"))
    chosen = Run.open(method_folder(result.runs[1], "fdt")).store.read(1).to_pylist()
    assert {row["correct"] is None for row in chosen if row["task"] == "mood"} == {False}


def test_labels_that_somebody_has_already_need_no_training(tmp_path: Path) -> None:
    moods = ["good", "bad", "mixed", "good", None, "bad"] * 5
    stars = ["5", "1", "3", "5", "1", "1"] * 5
    found = trainer(tmp_path).check([f"text {number}" for number in range(30)], first=stars, second=moods)
    [one] = found.friendships
    assert one.measured.unshuffled.mean_match == 1.0
    assert one.measured.unshuffled.unmatched == 5
    assert one.measured.shuffled.mean_match < 0.7
    assert not list(tmp_path.iterdir())


def test_labels_of_one_kind_are_told_of(tmp_path: Path) -> None:
    found = trainer(tmp_path).check(["a", "b", "c", "d"], first=["5"] * 4, second=["good"] * 4)
    assert any("nearly everything has one label" in warning for warning in found.warnings)
    assert any("hardly more than by chance" in warning for warning in found.warnings)


def test_tags_that_somebody_has(tmp_path: Path) -> None:
    friends = tag_friendship("stars", "mood", {"B-X": "B-Y"})
    tags = [["O", "B-X"], ["B-X", "O"]]
    others = [["O", "B-Y"], ["O", "O"]]
    found = trainer(tmp_path).check(["a b", "c d"], first=tags, second=others, friendship=friends)
    assert found.friendships[0].measured.unshuffled.mean_match == 0.5


def test_labels_must_be_as_many_as_texts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="labels of mood: 1 for 2 texts"):
        trainer(tmp_path).check(["a", "b"], first=["5", "5"], second=["good"])
    with pytest.raises(ConfigError, match="expected together"):
        trainer(tmp_path).check(["a", "b"], first=["5", "5"])
    several = FriendTrainer(
        tasks=[estimator("mood"), estimator("stars")],
        friendships=[label_friendship("stars", "mood", STARS), label_friendship("stars", "mood", STARS, name="again")],
        folder=tmp_path,
    )
    with pytest.raises(ConfigError, match="name the friendship"):
        several.check(["a"], first=["5"], second=["good"])
