"""evaluate and predict: a finished run on somebody's files."""

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from friend_training.data.jsonl import csagn_object, rast_plus_line
from friend_training.data.read import read_examples
from friend_training.study.open import open_task
from helpers.command import FriendTrain

ONE = '{"id": "1", "turns": [{"speaker": "A", "text": "你喜欢北京吗"}, {"speaker": "B", "text": "喜欢"}]}\n'


@pytest.mark.parametrize("task", ["csrl", "rewriting"])
def test_evaluate_scores_what_the_task_scores(
    friend_train: FriendTrain, finished: Path, labelled: dict[str, Path], task: str
) -> None:
    said = friend_train("evaluate", finished, labelled[task], "--task", task, "--json")
    assert said.code == 0, said.err
    record = json.loads(said.out)
    examples = read_examples(labelled[task], task).examples
    expected = open_task(finished, task, "fdt").task.evaluate(examples)
    found = record["scores"]["all"]
    assert {name: found.pop(name) for name in ("examples", *expected)} == {"examples": len(examples), **expected}
    published = {"wer_joined", "rouge_l_distinct", "restoration_1", "restoration_2", "restoration_3"}
    assert set(found) == (published if task == "rewriting" else set())
    assert (record["method"], record["skipped"]) == ("fdt", 0)


def test_rewriting_is_scored_on_buildable_cases_too(
    friend_train: FriendTrain, finished: Path, labelled: dict[str, Path], tmp_path: Path
) -> None:
    lines = labelled["rewriting"].read_text(encoding="utf-8").splitlines()
    unbuildable = json.loads(lines[0]) | {"id": "no", "rewrite": "天地玄黄宇宙洪荒"}
    file = tmp_path / "more.gz"
    file.write_bytes(gzip.compress("\n".join([*lines, json.dumps(unbuildable)]).encode()))
    scores = json.loads(friend_train("evaluate", finished, file, "--task", "rewriting", "--json").out)["scores"]
    whole = json.loads(friend_train("evaluate", finished, labelled["rewriting"], "--task", "rewriting", "--json").out)
    assert scores["all"]["examples"] == len(lines) + 1
    assert scores["buildable"] == whole["scores"]["all"]
    assert scores["all"]["wer"] > scores["buildable"]["wer"]
    table = friend_train("evaluate", finished, file, "--task", "rewriting").out
    assert f"buildable {len(lines)}" in table
    assert f"{scores['all']['wer']:.1f}" in table


def test_public_formats_are_read_and_bad_lines_counted(
    friend_train: FriendTrain, finished: Path, tmp_path: Path
) -> None:
    file = tmp_path / "test.csrl"
    good = "1|||4|||agent human 北京 我 去 过|||1 0 0 0 0 0|||O O O B-ARG0 B-V O"
    file.write_text(f"{good}\n{good.replace('1|||', '2|||', 1).replace('B-V', 'O')}\n", encoding="utf-8")
    said = friend_train("evaluate", finished, file, "--task", "csrl", "--method", "base")
    assert said.code == 0, said.err
    assert "csrl of base, on test.csrl" in said.out
    assert "1 bad lines are left out" in said.err
    assert "line 2: " in said.err
    said = friend_train("evaluate", finished, file, "--task", "csrl", "--strict")
    assert (said.code, f"{file}:2: " in said.err) == (2, True)


def test_predictions_are_labels_with_confidence(
    friend_train: FriendTrain, finished: Path, labelled: dict[str, Path], tmp_path: Path
) -> None:
    for task in ("csrl", "rewriting"):
        out = tmp_path / f"{task}.jsonl"
        assert friend_train("predict", finished, labelled[task], "--task", task, "--out", out).code == 0
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        inputs = read_examples(labelled[task], "dialogue").examples
        predictions = open_task(finished, task).task.predict(inputs)
        if task == "csrl":
            given = [[predicate.pop("confidence") for predicate in line["predicates"]] for line in lines]
        else:
            given = [[line.pop("confidence")] for line in lines]
        expected = [[pytest.approx(unit.confidence, rel=1e-5) for unit in units] for units in predictions]
        assert given == expected
        # The file is labelled data of our own format: it can be read, checked and scored as it is.
        labels = [
            label for e in read_examples(out, task).examples for label in (e.roles if task == "csrl" else [e.rewrite])
        ]
        assert labels == [u.label if task == "csrl" else u.label.text for units in predictions for u in units]
        assert friend_train("data", "check", out).code == 0
    scored = json.loads(friend_train("evaluate", finished, out, "--task", "rewriting", "--json").out)
    assert scored["scores"]["all"]["em"] == 100, "a model agrees with itself"


def test_standard_input_and_output(friend_train: FriendTrain, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(ONE.encode())))
    said = friend_train("predict", finished, "--task", "rewriting")
    assert said.code == 0, said.err
    assert json.loads(said.out)["id"] == "1"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{\n")))
    said = friend_train("predict", finished, "-", "--task", "rewriting")
    assert said.code == 2
    assert said.out == ""
    assert "standard input:1: broken JSON" in said.err


def test_what_public_scripts_read(
    friend_train: FriendTrain, finished: Path, labelled: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ("predict", finished, labelled["rewriting"], "--task", "rewriting", "--format", "rast-plus")
    assert friend_train(*arguments, "--out", out).code == 0
    inputs = read_examples(labelled["rewriting"], "dialogue").examples
    predictions = open_task(finished, "rewriting").task.predict(inputs)
    expected = [rast_plus_line(units[0].label.text) for units in predictions]
    assert out.read_text(encoding="utf-8").splitlines() == expected

    arguments = ("predict", finished, labelled["csrl"], "--task", "csrl", "--format")
    said = friend_train(*arguments, "csagn")
    first = json.loads(said.out.splitlines()[0])
    assert set(first) == {"sentid", "sent", "srl"}
    gold = csagn_object(read_examples(labelled["csrl"], "csrl").examples[0])
    assert (first["sent"], [s["pred"] for s in first["srl"]]) == (gold["sent"], [s["pred"] for s in gold["srl"]])
    said = friend_train(*arguments, "rast-plus")
    assert (said.code, "--format rast-plus is for --task rewriting" in said.err) == (2, True)


def test_csrl_needs_predicates(friend_train: FriendTrain, finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "plain.jsonl"
    file.write_text(ONE, encoding="utf-8")
    said = friend_train("predict", finished, file, "--task", "csrl")
    assert said.code == 2
    assert '"predicates": [{"start": 2, "end": 3}]' in said.err
    asking = json.loads(ONE) | {"id": "2", "predicates": [{"start": 0, "end": 2}]}
    file.write_text(ONE + json.dumps(asking), encoding="utf-8")
    said = friend_train("predict", finished, file, "--task", "csrl")
    assert said.code == 0
    assert "1 of 2 dialogues name no predicate" in said.err
    assert [len(json.loads(line)["predicates"]) for line in said.out.splitlines()] == [0, 1]


def test_predicates_can_be_found(friend_train: FriendTrain, finished: Path, tmp_path: Path) -> None:
    from helpers.tiny_ltp import save_tiny_ltp

    save_tiny_ltp(tmp_path / "ltp")
    file = tmp_path / "plain.jsonl"
    file.write_text(ONE, encoding="utf-8")
    said = friend_train("predict", finished, file, "--task", "csrl", "--ltp", tmp_path / "ltp")
    assert said.code == 0, said.err
    assert "predicates" in json.loads(said.out)


def test_a_method_that_is_not_there(friend_train: FriendTrain, finished: Path, labelled: dict[str, Path]) -> None:
    said = friend_train("evaluate", finished, labelled["csrl"], "--task", "csrl", "--method", "sst")
    assert said.code == 2
    assert "no models of method 'sst', only of base, fdt" in " ".join(said.err.split())


def test_a_checkpoint_that_was_changed_is_refused(
    friend_train: FriendTrain, copy: Path, labelled: dict[str, Path]
) -> None:
    for path in copy.glob("methods/fdt/checkpoints/csrl/*/task.json"):
        path.write_text("{}")
    said = friend_train("evaluate", copy, labelled["csrl"], "--task", "csrl")
    assert (said.code, "the run is damaged" in said.err) == (2, True)
