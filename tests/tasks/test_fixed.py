import json
from pathlib import Path

import pytest

from friend_training.core.friendship import Friendship, Match
from friend_training.core.selector import Selector, Threshold
from friend_training.core.task import FitPlan, Prediction, Task, is_trained, takes_steps
from friend_training.errors import ConfigError, DataError, FriendTrainingError, RunError
from friend_training.loop.algorithm import LoopSettings, TaskPlan, Training, fixed_friend, friend_train
from friend_training.runs.run import Run
from friend_training.tasks.estimators.task import Estimator
from friend_training.tasks.sources import Answer, AnswerFile, FixedTask, Rule
from friend_training.tasks.token_classification.metrics import token_scores
from friend_training.testing import check_task
from friend_training.types import Tags
from helpers.texts_and_models import inputs, pipeline, reviews


def by_words(given) -> str | None:
    return "good" if "lovely" in given.text else "bad" if "rude" in given.text else None


def rule(version: str = "1") -> Rule:
    return Rule("rule", by_words, version=version)


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def predictions_of(tmp_path: Path, texts) -> Path:
    said = [{"id": given.id, "label": by_words(given), "confidence": 0.5} for given in texts]
    return write(tmp_path / "said.jsonl", *said)


def test_a_rule_is_a_task():
    check_task(rule, gold=reviews(10, 1), dev=reviews(10, 2), inputs=inputs(12, 3))
    assert isinstance(rule(), Task)


def test_a_file_of_predictions_is_a_task(tmp_path):
    path = predictions_of(tmp_path, inputs(10, 2) + inputs(12, 3))
    check_task(lambda: AnswerFile("file", path), gold=reviews(10, 1), dev=reviews(10, 2), inputs=inputs(12, 3))


def test_a_service_answers_in_batches_and_may_be_in_doubt():
    asked = []

    def service(batch):
        asked.append(len(batch))
        return [Answer("good", 0.25)] * len(batch)

    found = FixedTask("service", service).predict(inputs(3, 1))
    assert [(units[0].label, units[0].confidence) for units in found] == [("good", 0.25)] * 3
    assert asked == [3]


def test_answers_and_inputs_must_be_as_many():
    with pytest.raises(FriendTrainingError, match="task service: 1 answers for 2 inputs"):
        FixedTask("service", lambda batch: [Answer("good")]).predict(inputs(2, 1))


def test_training_changes_nothing():
    task, texts = rule(), inputs(12, 3)
    before = task.predict(texts)
    summary = task.fit(reviews(30, 1), [], dev=[], plan=FitPlan(seed=1, steps=50))
    assert (summary.steps, task.predict(texts)) == (0, before)


def test_a_task_says_whether_it_is_trained_and_takes_steps():
    class Trained:
        """A task that says nothing of it."""

    estimator = Estimator("mood", pipeline())
    assert [is_trained(task) for task in (rule(), estimator, Trained())] == [False, True, True]
    assert [takes_steps(task) for task in (rule(), estimator, Trained())] == [False, False, True]


def test_silence_counts_as_wrong():
    gold = [(given, by_words(given) or "mixed") for given in inputs(40, 5)]
    silent = sum(by_words(given) is None for given, _ in gold)
    assert 0 < silent < 40
    assert rule().evaluate(gold)["accuracy"] == pytest.approx(100 * (40 - silent) / 40)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"said.jsonl:1: "),
        ([{"id": "a", "label": "good"}, {"id": "b"}], r"said.jsonl:2: label: is missing"),
        ([{"id": "a", "label": "good", "confidence": 1.5}], r"said.jsonl:1: confidence: expected at most 1"),
        ([{"id": "a", "label": "good", "sure": 1}], r"said.jsonl:1: sure: is not a field that is known here"),
        ([{"id": "a", "label": "x"}, {"id": "a", "label": "y"}], r"said.jsonl:2: a second answer for 'a'"),
        (['{"id": "a", "label": ' + "[" * 100_000], r"said.jsonl:1: broken JSON \(recursion limit"),
        (['{"id": "a", "label": "\\ud83d"}'], r"said.jsonl:1: broken JSON "),
        ([{"id": "a" * 2_000_000, "label": "x"}], r"said.jsonl:1: a line of more than 1,048,576 bytes; at most"),
    ],
)
def test_a_wrong_line_says_where(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        AnswerFile("file", write(tmp_path / "said.jsonl", *lines))


def test_an_input_the_file_does_not_have_has_no_answer(tmp_path):
    task = AnswerFile("file", write(tmp_path / "said.jsonl", {"id": "3-1", "label": "good"}))
    assert task.predict(inputs(2, 3)) == [[], [Prediction("3-1", "good", 1.0)]]
    with pytest.raises(DataError, match=r"none.jsonl: no such file"):
        AnswerFile("file", tmp_path / "none.jsonl")


def test_a_csv_file_has_the_same_names_as_columns(tmp_path):
    path = write(tmp_path / "said.csv", "id,label,confidence", '3-0,"good, or so",0.25', "3-1,,", "3-2,bad,")
    labels = [units[0].label if units else None for units in AnswerFile("file", path).predict(inputs(4, 3))]
    assert labels == ["good, or so", None, "bad", None]
    assert AnswerFile("file", path).predict(inputs(1, 3)) == [[Prediction("3-0", "good, or so", 0.25)]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["id,polarity", "a,good"], r"said.csv:1: columns are id, polarity; expected id, label and perhaps confidence"),
        (["id,label,confidence", "a,good,2"], r"said.csv:2: confidence: expected at most 1"),
        (["id,label", "a,good,really"], r"said.csv:2: too many cells"),
        (["id,label", "a,good", "a,bad"], r"said.csv:3: a second answer for 'a'"),
        (["id,label,label", "a,good,bad"], r"said.csv:1: columns are id, label, label; expected"),
        (["id,label,confidence", "a,good," + "[" * 100_000], r"said.csv:2: confidence: expected a number"),
        (["id,label", 'a,"' + "b\n" * 100_000], r"said.csv:2: broken CSV: field larger than field limit"),
    ],
)
def test_a_wrong_row_says_where(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        AnswerFile("file", write(tmp_path / "said.csv", *lines))


def test_answers_that_are_not_utf8_and_a_damaged_note(tmp_path):
    (tmp_path / "said.csv").write_bytes(b"id,label\na,\xff\n")
    with pytest.raises(DataError, match=r"said.csv:2: not UTF-8: byte 0xff"):
        AnswerFile("file", tmp_path / "said.csv")
    for task in (rule(), Estimator("model", pipeline())):
        (tmp_path / "task.json").write_text("{")
        with pytest.raises(RunError, match=r"task.json: expected JSON with .*; it is damaged"):
            task.load(tmp_path)


def test_labels_may_have_parts(tmp_path):
    """The same in JSON lines and in a CSV file; what has parts is right as a whole or by metrics of its own."""
    label = {"tags": ["B-who", "O"]}
    lines = write(tmp_path / "said.jsonl", {"id": "3-0", "label": label})
    rows = write(tmp_path / "said.csv", "id,label", "3-0," + '"' + json.dumps(label).replace('"', '""') + '"')
    gold = [(inputs(1, 3)[0], Tags(("B-who", "B-where")))]
    for path in (lines, rows):
        whole = AnswerFile("file", path, label_type=Tags)
        assert whole.predict(inputs(1, 3)) == [[Prediction("3-0", Tags(("B-who", "O")), 1.0)]]
        assert whole.evaluate(gold)["accuracy"] == 0.0
        by_word = AnswerFile("file", path, label_type=Tags, metric="span_f1", scores=token_scores)
        assert by_word.evaluate(gold)["accuracy"] == 50.0
    with pytest.raises(DataError, match=r"said.jsonl:1: label.*: expected"):
        AnswerFile("file", lines, label_type=int)


def test_a_rule_may_be_in_doubt_and_its_labels_may_have_parts():
    def tagged(given):
        return Tags(tuple("O" for _ in given.text.split())), 0.5

    (units,) = Rule("rule", tagged, label_type=Tags).predict(inputs(1, 3))
    assert (units[0].label, units[0].confidence) == (Tags(("O",) * 4), 0.5)
    pairs = Rule("rule", lambda given: Answer((1, 2), 0.25), label_type=tuple[int, int])
    assert pairs.predict(inputs(1, 3)) == [[Prediction("3-0", (1, 2), 0.25)]]


@pytest.mark.parametrize("said", [3, ("good", 1.5), ("good", float("nan")), ("good", "sure"), ["good"]])
def test_what_is_no_answer_of_a_rule_is_told(said):
    with pytest.raises(ConfigError, match=r"task rule: for input '3-0' the rule gave .*, expected a label \(str\)"):
        Rule("rule", lambda given: said).predict(inputs(1, 3))


def test_a_rule_that_fails_is_told():
    with pytest.raises(ConfigError, match=r"task rule: the rule failed for input '3-0', ZeroDivisionError"):
        Rule("rule", lambda given: 1 // 0).predict(inputs(1, 3))
    with pytest.raises(ConfigError, match="task rule: the rule is 'good', expected a function"):
        Rule("rule", "good")


def test_null_is_no_answer(tmp_path):
    task = AnswerFile("file", write(tmp_path / "said.jsonl", {"id": "3-0", "label": None}))
    assert task.predict(inputs(1, 3)) == [[]]


def test_a_run_refuses_another_friend(tmp_path):
    rule().save(tmp_path)
    rule().load(tmp_path)
    with pytest.raises(RunError, match="the fixed friend of this run was"):
        rule("2").load(tmp_path)


def test_another_file_is_another_friend(tmp_path):
    path = predictions_of(tmp_path, inputs(2, 1))
    task, kept = AnswerFile("file", path), tmp_path / "kept"
    kept.mkdir()
    task.save(kept)
    path.write_text(path.read_text().replace("0.5", "0.6"))
    with pytest.raises(RunError, match="the fixed friend of this run was"):
        AnswerFile("file", path).load(kept)


def friends() -> Friendship:
    def labels(_, predictions):
        return [units[0].label if units else None for units in predictions]

    def match(first, second):
        scores = [None if b is None else float(a == b) for a, b in zip(first, second, strict=True)]
        return [Match((score,), () if score is None else (score,)) for score in scores]

    return Friendship("mood-rule", "mood", "rule", labels, labels, match)


def train(folder: Path, friend: TaskPlan, iterations: int = 2):
    run = Run.create(folder, "", {})
    return run, go_on(run, friend, iterations)


def go_on(run: Run, friend: TaskPlan, iterations: int = 2):
    once = Training(steps=1)
    selectors = [Selector(Threshold(0.8))] * iterations
    mood = TaskPlan(Estimator("mood", pipeline()), reviews(20, 1), reviews(20, 2), once, once, selectors)
    settings = LoopSettings(seed=1, iterations=iterations, shard_size=25)
    plans = {"mood": mood, "rule": friend}
    return friend_train(run, plans, [friends()], inputs(60, 3), settings=settings)


def test_the_loop_works_with_a_friend_that_has_no_gold_and_no_dev(tmp_path):
    run, outcomes = train(tmp_path / "run", fixed_friend(rule()))
    assert outcomes["rule"].dev == ()
    assert outcomes["rule"].best_iteration == 0
    assert len(outcomes["mood"].dev) == 3
    rows = run.store.read(2).to_pylist()
    assert {row["reason"] for row in rows if row["task"] == "rule"} == {"not selecting"}
    assert any(row["chosen"] for row in rows if row["task"] == "mood")
    assert not (run.folder / "checkpoints" / "rule" / "iteration-001").exists()


def test_a_fixed_friend_with_dev_and_test_is_scored_once(tmp_path):
    gold = reviews(20, 2)
    _, outcomes = train(tmp_path / "run", fixed_friend(rule(), dev=gold, test={"test": gold}))
    assert len(outcomes["rule"].dev) == 1
    assert outcomes["rule"].test["test"] == outcomes["rule"].dev[0]


def test_a_run_that_is_resumed_with_another_friend_is_refused(tmp_path):
    run, _ = train(tmp_path / "run", fixed_friend(rule()))
    for name in ("label-2-00000", "select-2", "tidy-2"):
        (run.folder / "phases" / f"{name}.json").unlink()
    with pytest.raises(RunError, match="the fixed friend of this run was"):
        go_on(Run.open(run.folder), fixed_friend(rule("2")))


def test_a_trained_task_needs_dev(tmp_path):
    once = Training(steps=1)
    plan = TaskPlan(Estimator("mood", pipeline()), reviews(20, 1), (), once, once, [Selector(Threshold(0.8), 1.0)])
    with pytest.raises(ConfigError, match="task 'mood' has no dev examples"):
        friend_train(
            Run.create(tmp_path / "run", "", {}), {"mood": plan}, (), inputs(9, 3), settings=LoopSettings(1, 1)
        )
