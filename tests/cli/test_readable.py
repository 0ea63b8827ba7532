"""Pseudo-labels as people and programs read them."""

import json

from friend_training.cli.predict import prediction_line
from friend_training.core.task import Prediction
from friend_training.data.jsonl import rast_plus_line
from friend_training.report.label_text import readable
from friend_training.tasks.label_text import as_stored, label_line
from friend_training.types import Argument, Dialogue, Predicate, Rewrite, Roles, Turn

DIALOGUE = Dialogue("1", (Turn("甲", "你喜欢北京吗"), Turn("乙", "喜欢[那里]")), (Predicate(0, 2),))
GIVEN = as_stored(DIALOGUE)
ARGUMENTS = [
    {"role": "ARG1", "turn": 0, "start": 3, "end": 5},
    {"role": "ARG0", "turn": 1, "start": -1, "end": 0},
    {"role": "TMP", "turn": -1, "start": -1, "end": 0},
]
ROW = {"match": 0.951, "confidence": 0.6, "overall": 0.88, "threshold": 0.6, "chosen": True, "reason": "chosen"}


def test_roles() -> None:
    label = json.dumps({"predicate": {"start": 0, "end": 2}, "arguments": ARGUMENTS})
    text = readable(ROW | {"task": "csrl", "label": label, "correct": True}, GIVEN).plain
    assert text.splitlines() == [
        "  甲: 你喜欢北京吗",
        "  乙: 喜欢[那里]",
        "  → 喜欢  ARG0 [乙]  ARG1 北京  TMP [the other speaker]",
        "  match 0.95, confidence 0.60, overall 0.88 ≥ 0.60: chosen; it is right",
    ]


def test_roles_in_one_line() -> None:
    label = {"predicate": {"start": 0, "end": 2}, "arguments": ARGUMENTS}
    assert label_line(label, GIVEN) == "喜欢: ARG0 [乙] · ARG1 北京 (turn 0) · TMP [the other speaker]"
    assert label_line(label | {"arguments": []}, GIVEN) == "喜欢: nothing"


def test_a_class_of_a_text() -> None:
    row = ROW | {"task": "polarity", "correct": None, "label": '"positive"', "chosen": False, "reason": "not drawn"}
    lines = readable(row, {"id": "1", "text": "a lovely day"}).plain.splitlines()
    assert lines[:2] == ["  a lovely day", "  → positive"]


def test_tags_of_words() -> None:
    label = json.dumps({"tags": ["O", "B-LOC"]})
    lines = readable(ROW | {"task": "ner", "correct": None, "label": label}, {"words": ["to", "Ghent"]}).plain
    assert lines.splitlines()[:2] == ["  to Ghent", "  → to/O  Ghent/B-LOC"]


def test_unsure_spans_are_told_apart() -> None:
    unsure = [{"role": "ARG1", "turn": 1, "start": 3, "end": 5}]
    label = json.dumps({"predicate": {"start": 0, "end": 2}, "arguments": ARGUMENTS[1:2], "unsure": unsure})
    lines = readable(ROW | {"task": "csrl", "label": label, "correct": None}, GIVEN).plain.splitlines()
    assert lines[2] == "  → 喜欢  ARG0 [乙]  ARG1? 那里"


def test_rewrites() -> None:
    row = ROW | {"task": "rewriting", "correct": None, "label": json.dumps({"text": "喜欢北京"})}
    row |= {"overall": 0.5, "chosen": False, "reason": "score below threshold"}
    lines = readable(row, GIVEN).plain.splitlines()
    assert lines[2] == "  → 喜欢北京"
    assert lines[3].endswith("overall 0.50 < 0.60: rejected (score below threshold)")
    row |= {"match": None, "overall": None, "label": json.dumps({"text": "喜欢[那里]"}), "reason": "nothing to match"}
    lines = readable(row, GIVEN).plain.splitlines()
    assert lines[2].endswith("(unchanged)")
    assert lines[3] == "  nothing to match, confidence 0.60: rejected (nothing to match)"


def test_a_span_from_a_speaker_token_into_words_is_written_as_words() -> None:
    roles = Roles(Predicate(0, 2), (Argument("ARG0", 0, -1, 1), Argument("ARG1", 1, -1, 0)))
    line = json.loads(prediction_line(DIALOGUE, [Prediction("u", roles, 0.25)], "jsonl"))
    [predicate] = line["predicates"]
    assert predicate["confidence"] == 0.25
    assert [(a["start"], a["end"]) for a in predicate["arguments"]] == [(0, 1), (-1, 0)]


def test_a_rewrite_that_deletes_everything_leaves_the_utterance() -> None:
    units = [Prediction("1", Rewrite(""), 0.1)]
    assert json.loads(prediction_line(DIALOGUE, units, "jsonl"))["rewrite"] == "喜欢[那里]"
    assert prediction_line(DIALOGUE, units, "rast-plus") == rast_plus_line("喜欢[那里]")
