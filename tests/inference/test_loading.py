"""`load(run)`: the models of a run from Python."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import friend_training
from friend_training import load
from friend_training.errors import DataError, RunError
from friend_training.inference import answers
from friend_training.inference.answers import Agreement, Question, RewriteMade
from friend_training.inference.model import Friends
from friend_training.nn import tokenizer
from friend_training.study.open import open_task
from friend_training.tasks.rewriting.edits import apply_script
from friend_training.types import Dialogue, Predicate, Turn
from helpers.untrained_run import make_run

TURNS = ["你喜欢喝茶吗？", "他来看你。"]
DIALOGUE = Dialogue("asked", (Turn("A", TURNS[0]), Turn("B", TURNS[1])), (Predicate(1, 2), Predicate(2, 3)))
THRESHOLD = 0.3
"""So strict that some labels are chosen and some are not."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    stricter = [f"tasks.{name}.pick_threshold={THRESHOLD}" for name in ("csrl", "rewriting")]
    return make_run(tmp_path_factory.mktemp("runs") / "untrained", tiny_encoder, *stricter)


@pytest.fixture(scope="module")
def friends(run: Path) -> Friends:
    return load(run)


def test_the_front_door_waits_for_nobody() -> None:
    program = "import sys, friend_training; print('torch' in sys.modules, friend_training.__version__)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", friend_training.__version__]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        friend_training.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_rewrite_is_what_the_task_predicts(run: Path, friends: Friends) -> None:
    [[prediction]] = open_task(run, "rewriting").task.predict([DIALOGUE])
    rewrite = friends.rewrite(TURNS)
    assert (rewrite.text, rewrite.deleted) == (prediction.label.text, prediction.label.deleted)
    assert rewrite.confidence == pytest.approx(prediction.confidence)
    assert str(rewrite) == apply_script(DIALOGUE, prediction.label)
    for insertion, expected in zip(rewrite.insertions, prediction.label.insertions, strict=True):
        assert insertion.text == TURNS[expected.turn][expected.start : expected.end]


def test_roles_are_what_the_task_predicts(run: Path, friends: Friends) -> None:
    [units] = open_task(run, "csrl").task.predict([DIALOGUE])
    found = friends.roles(TURNS, predicates=["看", (1, 2)])
    assert [(one.predicate, one.start, one.end) for one in found] == [("来", 1, 2), ("看", 2, 3)]
    for one, unit in zip(found, units, strict=True):
        places = {(a.role, a.turn, a.start, a.end) for a in one.arguments}
        assert places == {(a.role, a.turn, a.start, a.end) for a in unit.label.arguments}
        assert one.confidence == pytest.approx(unit.confidence)
        for argument in one.arguments:
            if argument.start >= 0:
                assert argument.text == TURNS[argument.turn][argument.start : argument.end]


def test_predicates_are_found_by_the_words_of_the_pool(friends: Friends) -> None:
    assert [one.predicate for one in friends.roles(TURNS)] == ["来", "看"]
    assert friends.roles(["他喝茶。"]) == ()
    assert [one.predicate for one in friends.roles(replace(DIALOGUE, predicates=(Predicate(0, 1),)))] == ["他"]
    assert friends.roles(TURNS, predicates=[]) == ()


def test_a_run_that_cannot_find_predicates_asks_for_them(friends: Friends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(friends.__dict__, "finder", None)
    with pytest.raises(DataError, match="no way to find them"):
        friends.roles(TURNS)
    assert friends.rewrite(TURNS).text
    assert len(friends.roles(TURNS, ["来"])) == 1


def test_agreement_takes_the_scores_apart(friends: Friends) -> None:
    agreement = friends.agreement(TURNS, ["来", "看"])
    assert agreement.rewrite == friends.rewrite(TURNS)
    assert [one.predicate for one in agreement.roles] == ["来", "看"]
    weight = 0.2
    for one in agreement.predicates:
        judged = one.judged
        assert judged.match == pytest.approx(1 - one.distance / max(one.longest, 1))
        assert judged.overall == pytest.approx(weight * judged.confidence + (1 - weight) * (judged.match or 0))
        assert judged.chosen == ((judged.overall or 0) >= THRESHOLD) == (judged.reason == "chosen")
    matches = [one.judged.match or 0.0 for one in agreement.predicates]
    assert agreement.utterance.match == pytest.approx((matches[0] * matches[1]) ** 0.5)


def test_nothing_to_match_is_said(friends: Friends) -> None:
    agreement = friends.agreement(TURNS, [])
    assert agreement.predicates == ()
    assert (agreement.utterance.match, agreement.utterance.overall) == (None, None)
    assert (agreement.utterance.chosen, agreement.utterance.reason) == (False, "nothing to match")


def test_many_questions_are_answered_as_one_would_be(friends: Friends, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Dialogue("2", (Turn("A", "我来了。"),), (Predicate(1, 2),))
    asked = [Question(kind, one) for one in (DIALOGUE, other) for kind in ("roles", "rewrite", "agreement")]
    together = friends.answer(asked)
    monkeypatch.setattr(answers, "TOKENS", 1)  # every dialogue is a part of its own
    for question, answer in zip(asked, together, strict=True):
        [alone] = friends.answer([question])
        assert type(alone) is type(answer)
        if isinstance(alone, RewriteMade) and isinstance(answer, RewriteMade):
            assert alone.text == answer.text
        elif isinstance(alone, Agreement) and isinstance(answer, Agreement):
            assert [one.compared for one in alone.predicates] == [one.compared for one in answer.predicates]
        else:
            assert [one.arguments for one in alone] == [one.arguments for one in answer]  # type: ignore[union-attr]


def test_texts_are_forgotten_in_time(friends: Friends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "MOST_TEXTS", 3)
    for number in range(9):
        friends.agreement([f"{number}", "我来了"], ["来"])
    assert len(friends.tasks["csrl"].definition.tokenizer.memory) <= 3 + 2  # type: ignore[attr-defined]


def test_methods_and_method_folders(run: Path) -> None:
    assert load(str(run), "base").method == "base"
    assert load(run / "methods" / "base").method == "base"
    assert load(run).method == "fdt"
    with pytest.raises(RunError, match="no models of method 'sst', only of base, fdt"):
        load(run, "sst")
    with pytest.raises(RunError, match="not a run folder"):
        load(run / "methods")


def test_without_its_bridge_a_run_still_labels(tmp_path: Path, tiny_encoder: Path) -> None:
    run = make_run(tmp_path / "run", tiny_encoder)
    (run / "bridge").rename(tmp_path / "gone")
    friends = load(run)
    assert friends.rewrite(TURNS).text
    with pytest.raises(RunError, match="its bridge is not at"):
        friends.agreement(TURNS, ["来"])
