"""friend-train ask: questions from the store alone, and answers that come back as corrections."""

import json
from pathlib import Path

import pytest

from friend_training.runs.corrections import read_corrections
from helpers.command import FriendTrain
from helpers.small_run import small_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return small_study(tmp_path / "study")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_questions_are_written_with_their_texts(friend_train: FriendTrain, study: Path) -> None:
    said = friend_train("ask", study, "--n", 2, "--audit", 1)
    assert said.code == 0
    asked = lines(study / "questions.jsonl")
    assert [(one["task"], one["why"]) for one in asked] == [
        ("csrl", "random check"),
        ("csrl", "tells most"),
        ("csrl", "tells most"),
        ("rewriting", "random check"),
        ("rewriting", "tells most"),
        ("rewriting", "tells most"),
    ]
    assert all(one["text"]["id"] == one["input"] and one["verdict"] is None for one in asked)
    assert "chosen, how precisely is not known" in said.out
    assert "6 questions are in" in " ".join(said.out.split())
    assert '{"predicate"' not in said.out, "labels are told in words"
    assert "ARG" in said.out


def test_answers_come_back_as_corrections_and_are_not_asked_again(friend_train: FriendTrain, study: Path) -> None:
    friend_train("ask", study / "methods" / "fdt", "--task", "rewriting", "--out", study / "asked.jsonl")
    asked = lines(study / "asked.jsonl")
    verdicts = ["accepted", "rejected", "corrected", None]
    for one, verdict in zip(asked, verdicts, strict=False):
        one["verdict"] = verdict
    asked[2]["right"] = {**asked[2]["label"], "text": "不一样"}
    (study / "answered.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    said = friend_train("ask", study, "--answers", study / "answered.jsonl", "--task", "rewriting")
    assert said.code == 0
    assert "3 answers of" in said.out
    made = read_corrections(study / "methods" / "fdt")
    assert [one.verdict for one in made] == ["accepted", "rejected", "corrected"]
    assert [one.label for one in made] == [asked[0]["label"], None, asked[2]["right"]]
    assert not {one["unit"] for one in lines(study / "questions.jsonl")} & {one.unit for one in made}
    assert "of them right" in said.out
    assert "checked at random" in said.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "yes"}, "expected accepted, rejected, corrected or null"),
        ({"verdict": "corrected"}, "needs the right label"),
        ({"verdict": "corrected", "right": "text"}, "in the form of"),
        ({"verdict": "accepted", "right": {}}, "needs the right label"),
    ],
)
def test_answers_that_are_none_are_refused_and_none_is_kept(
    friend_train: FriendTrain, study: Path, change: dict, words: str
) -> None:
    friend_train("ask", study)
    asked = lines(study / "questions.jsonl")
    asked[0]["verdict"] = "rejected"
    asked[1] |= change
    (study / "answered.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    said = friend_train("ask", study, "--answers", study / "answered.jsonl")
    assert said.code == 2
    assert words in " ".join(said.err.split())
    assert "answered.jsonl" in said.err
    assert read_corrections(study / "methods" / "fdt") == []


def test_a_task_or_an_iteration_that_is_not_there_is_named(friend_train: FriendTrain, study: Path) -> None:
    said = friend_train("ask", study, "--task", "parsing")
    assert said.code == 2
    assert "csrl, rewriting" in said.err
    assert friend_train("ask", study, "--iteration", 7).code == 2
    assert friend_train("ask", study, "--answers", study / "nowhere.jsonl").code == 2


def test_diagnose_says_how_precise_the_choice_is_by_the_answers(friend_train: FriendTrain, study: Path) -> None:
    """The same sentence as after the answers were given back, without any model."""
    before = friend_train("diagnose", study, "--audited")
    assert before.code == 0
    assert "rewriting: 2 chosen, how precisely is not known" in before.out
    friend_train("ask", study, "--audit", 3, "--n", 0)
    asked = lines(study / "questions.jsonl")
    for number, one in enumerate(asked):
        one["verdict"] = "accepted" if number % 2 else "rejected"
    (study / "answered.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    answered = friend_train("ask", study, "--answers", study / "answered.jsonl", "--n", 0, "--audit", 0)
    said = friend_train("diagnose", study, "--audited")
    assert said.out.strip() in answered.out
    assert "50.0% of them right (50.0% to 50.0% at 95 %, 2 checked at random); known to ±0.05" in said.out
    assert not (study / "diagnosis").exists()


def test_a_run_without_pseudo_labels_is_told_apart(friend_train: FriendTrain, study: Path) -> None:
    said = friend_train("diagnose", study, "--audited", "--method", "sst")
    assert said.code == 2
    assert "no pseudo-labels have been selected" in said.err
