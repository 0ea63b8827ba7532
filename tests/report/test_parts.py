"""The parts of the report by themselves: labels, drawings, examples, thresholds, plots, words."""

import colorsys
import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import friend_training
from friend_training.analysis.significance import Comparison
from friend_training.core.selector import Threshold
from friend_training.data import synthetic
from friend_training.data.synthetic import Domain
from friend_training.errors import RunError
from friend_training.report.answer import Answer, answers_of, friends_on_dev, headline_of, verdict
from friend_training.report.label_text import Confusion, beside_gold, confusion, draw, readable, shares
from friend_training.report.names import duration
from friend_training.report.page import promised, write_comparison, write_report
from friend_training.report.plots import Cloud, Group, Standing, histogram, round_ticks, scatter
from friend_training.report.pseudo_labels import (
    Effect,
    Units,
    effects,
    errors_together,
    kinds_of,
    labels_by_input,
    units_of,
)
from friend_training.report.run_reader import read_study
from friend_training.report.scores import costs_of, drifts
from friend_training.runs.files import write_text
from friend_training.runs.inputs import (
    all_inputs,
    first_inputs,
    has_gold,
    has_inputs,
    hidden_labels,
    save_counts,
    save_gold,
    save_inputs,
    saved_gold,
    saved_inputs,
)
from friend_training.runs.run import Run
from friend_training.runs.steps import KINDS_OF_WORK
from friend_training.tasks.label_text import kinds, kinds_by_place, label_text
from friend_training.tasks.rewriting.edits import build_script
from friend_training.types import Dialogue, Rewrite, Text
from helpers.made_runs import Page, made_classifiers, made_study, roles
from helpers.old_run import without_digests

TREE = {"brackets": [{"start": 0, "end": 2, "label": "S"}, {"start": 0, "end": 1, "label": "NP"}], "tags": ["N", "V"]}
SENTENCE = {"id": "s", "words": ["cats", "sleep"]}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("happy", ["happy"]),
        ({"predicate": {"start": 0, "end": 1}, "arguments": []}, ["no argument"]),
        (
            {"predicate": {}, "arguments": [{"role": "ARG1", "turn": 2}, {"role": "ARG0", "turn": -1}]},
            ["ARG1", "ARG0", "arguments in several turns"],
        ),
        ({"predicate": {}, "arguments": [{"role": "TMP", "turn": 1}, {"role": "TMP", "turn": 1}]}, ["TMP"]),
        ({"text": "a", "deleted": [], "insertions": []}, ["unchanged"]),
        ({"text": "a", "deleted": [3], "insertions": [{}]}, ["one insertion", "deletion"]),
        ({"text": "a", "deleted": [], "insertions": [{}, {}]}, ["more insertions"]),
        (TREE, ["S", "NP"]),
        ({"heads": [2, 0], "relations": ["nsubj", "root"]}, ["nsubj", "root"]),
        ({"tags": ["N", "N"]}, ["N"]),
        (7, ["7"]),
    ],
)
def test_kinds_of_labels(label: object, expected: list[str]) -> None:
    assert kinds(label) == expected


def test_labels_in_one_line() -> None:
    words = SENTENCE["words"]
    assert label_text(TREE, words) == "[S [NP cats] sleep]"
    assert label_text({"heads": [2, 0]}, words) == "cats→sleep  sleep→ROOT"
    assert label_text({"tags": ["N", "V"]}, words) == "cats/N  sleep/V"
    assert label_text({"x": 1}) == '{"x": 1}'
    assert label_text("a" * 400) == "a" * 300 + "…"


def test_shares_are_of_labels() -> None:
    gold, predicted = ['"a"', '"a"', '"b"', '"c"'], ['"a"', '"b"']
    found = {share.kind: share for share in shares(gold, predicted, [])}
    assert (found["a"].gold, found["a"].predicted, found["a"].chosen) == (0.5, 0.5, None)
    assert found["c"].predicted == 0
    assert next(iter(found)) == "a", "the most frequent first"


def test_a_drawn_rewrite_reads_as_before_and_after() -> None:
    edited = 0
    for made in synthetic.generate(60, seed=2, domain=Domain.FILM):
        script = build_script(made.dialogue, made.rewrite.text, span_source="dialogue")
        assert script is not None
        given_json = json.loads(TypeAdapter(Dialogue).dump_json(made.dialogue))
        answer = draw(json.loads(TypeAdapter(Rewrite).dump_json(script)), given_json).answer
        assert "".join(p.text for p in answer if p.looks != "deleted") == made.rewrite.text
        assert "".join(p.text for p in answer if p.looks != "inserted") == made.dialogue.utterance.text
        edited += any(piece.looks for piece in answer)
    assert edited > 20


def test_drawn_roles_mark_the_dialogue() -> None:
    turns = [{"speaker": "A", "text": "你喜欢北京吗"}, {"speaker": "B", "text": "喜欢"}]
    arguments = [
        {"role": "ARG1", "turn": 0, "start": 3, "end": 5},
        {"role": "LOC", "turn": 0, "start": 2, "end": 6},
        {"role": "ARG0", "turn": 1, "start": -1, "end": 0},
        {"role": "TMP", "turn": -1, "start": -1, "end": 0},
    ]
    drawing = draw({"predicate": {"start": 0, "end": 2}, "arguments": arguments}, {"id": "x", "turns": turns})
    opening, first, last = drawing.lines
    assert (opening.speaker.text, opening.speaker.note) == ("the other speaker", "TMP")
    assert "".join(piece.text for piece in first.pieces) == "你喜欢北京吗"
    assert [(piece.text, piece.note) for piece in first.pieces if piece.looks] == [
        ("欢", "LOC"),
        ("北京", "ARG1+LOC"),
        ("吗", "LOC"),
    ]
    assert (last.speaker.text, last.speaker.note, last.current) == ("B", "ARG0", True)
    assert [(piece.text, piece.note) for piece in drawing.answer] == [
        ("喜欢", ""),
        ("北京", "ARG1"),
        ("欢北京吗", "LOC"),
        ("[B]", "ARG0"),
        ("[the other speaker]", "TMP"),
    ]


def test_drawn_roles_show_what_is_unsure() -> None:
    turns = [{"speaker": "A", "text": "你喜欢北京吗"}, {"speaker": "B", "text": "喜欢"}]
    unsure = [{"role": "ARG1", "turn": 0, "start": 3, "end": 5}]
    label = {"predicate": {"start": 0, "end": 2}, "arguments": [], "unsure": unsure}
    drawing = draw(label, {"id": "x", "turns": turns})
    assert [(piece.text, piece.looks, piece.note) for piece in drawing.answer[1:]] == [
        ("no argument", "none", ""),
        ("北京", "role unsure", "ARG1?"),
    ]
    assert [(piece.text, piece.note) for piece in drawing.lines[0].pieces if piece.looks] == [("北京", "ARG1?")]


@pytest.mark.parametrize(
    ("label", "given_input", "line", "answer"),
    [
        ("good", {"id": "1", "text": "well made"}, "well made", "good"),
        (TREE, SENTENCE, "cats sleep", "[S [NP cats] sleep]"),
        ("up", {"id": "1", "x": [1]}, '{"id": "1", "x": [1]}', "up"),
        ({"predicate": {"start": 0, "end": 1}, "arguments": []}, None, None, '{"predicate": {"start": 0, "end": 1}'),
    ],
)
def test_other_inputs_are_drawn_as_they_are(label: object, given_input: object, line: str, answer: str) -> None:
    drawing = draw(label, given_input)
    assert [piece.text for one in drawing.lines for piece in one.pieces] == ([line] if line else [])
    assert drawing.answer[0].text.startswith(answer)


def _units(folder: Path) -> Units:
    made_classifiers(folder, pick=Threshold(0.5), audited=True)
    return units_of(Run.open(folder).store, 1, whole=True)["mood"]


def test_examples_are_of_the_kind_they_say(tmp_path: Path) -> None:
    wrong, missed_right, chosen, by_match, by_confidence = kinds_of(_units(tmp_path / "run"), count=4)
    assert all(row["chosen"] and not row["correct"] for row in wrong.rows)
    assert all(row["correct"] and not row["chosen"] for row in missed_right.rows)
    assert all(row["chosen"] for row in chosen.rows)
    assert all(row["overall"] < row["threshold"] and row["match"] < row["confidence"] for row in by_match.rows)
    assert all(row["overall"] < row["threshold"] and row["match"] >= row["confidence"] for row in by_confidence.rows)
    rows = Run.open(tmp_path / "run").store.read(1).to_pylist()
    missed = [row for row in rows if row["reason"] == "score below threshold"]
    assert by_match.total + by_confidence.total == len(missed) > 4
    assert by_match.total == sum(row["match"] < row["confidence"] for row in missed)


def test_the_weight_of_confidence_is_read_off_the_scores(tmp_path: Path) -> None:
    assert _units(tmp_path / "run").confidence_weight == pytest.approx(0.3)


def test_no_threshold_overrules_a_person() -> None:
    units = Units(
        task="t",
        rows=None,
        confidence=np.zeros(4),
        match=np.zeros(4),
        overall=np.array([0.1, 0.9, 0.9, np.nan]),
        correct=np.array([1.0, 0.0, np.nan, 1.0]),
        chosen=np.array([True, False, True, False]),
        candidate=np.array([False, False, True, True]),  # accepted by hand, rejected by hand, chosen, no match
    )
    assert effects(units, [0.0, 0.9, 1.0]) == [Effect(0.0, 2, 1.0), Effect(0.9, 2, 1.0), Effect(1.0, 1, 1.0)]


def test_errors_of_friends_are_paired_by_input(tmp_path: Path) -> None:
    made_study(tmp_path / "study")
    store = Run.open(tmp_path / "study" / "methods" / "fdt").store
    tasks = units_of(store, 1, whole=True)
    rows = store.read(1).to_pylist()
    right = {task: {r["input"]: r["correct"] for r in rows if r["task"] == task} for task in tasks}
    both = np.array([[right[task][name] for name in right["csrl"]] for task in ("csrl", "rewriting")], dtype=float)
    assert errors_together(tasks["csrl"], tasks["rewriting"]) == pytest.approx(np.corrcoef(both)[0, 1])
    method = read_study(tmp_path / "study").focus
    assert method is not None
    [drift] = drifts(method, "csrl", {1: tasks})
    assert [friend for friend, _ in drift.together] == ["rewriting"]
    matches = [row["match"] for row in rows if row["task"] == "csrl" and row["match"] is not None]
    assert drift.total_agreement == pytest.approx(sum(match == 1 for match in matches) / len(matches))


def test_seconds_stand_under_what_they_were_spent_on(tmp_path: Path) -> None:
    folder = made_study(tmp_path / "study")
    spent = {"train-csrl-1": 40, "label-1-00000": 30, "label-1-00001": 5, "select-1": 2, "evaluate-csrl-0": 1}
    shutil.rmtree(folder / "methods" / "fdt" / "phases")
    without_digests(folder)
    for name, seconds in spent.items():
        record = {"phase": name, "result": {}, "seconds": seconds, "peak_memory_mb": 100 + seconds}
        write_text(folder / "methods" / "fdt" / "phases" / f"{name}.json", json.dumps(record))
    [cost] = [cost for cost in costs_of(read_study(folder)) if cost.words == "FDT"]
    assert dict(zip(KINDS_OF_WORK, cost.seconds, strict=True)) == {
        "training": 40,
        "labelling": 35,
        "selecting": 2,
        "scoring": 1,
    }
    assert (cost.total, cost.peak_memory_mb) == (78, 140)
    shards = [step for step in cost.steps if step.words.startswith("labelling")]
    assert [(step.words, step.seconds) for step in shards] == [("labelling the pool, iteration 1, 2 shards", 35)]


def test_a_run_whose_memory_is_not_known_has_a_report_without_it(tmp_path: Path) -> None:
    folder = made_study(tmp_path / "study")
    without_digests(folder)
    for path in folder.rglob("phases/*.json"):
        write_text(path, json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"peak_memory_mb": None}))
    page = write_report(folder).read_text(encoding="utf-8")
    assert 'id="costs"' in page
    assert " MB" not in page
    assert "of memory." not in page


def test_bars_of_a_histogram_hold_every_unit() -> None:
    values = np.array([0.0, 0.04, 0.05, 0.5, 0.99, 1.0])
    plot = str(histogram([Group("a", "x", values[:4]), Group("b", "y", values[4:])], x_label="score", threshold=0.5))
    assert sum(int(count) for count in re.findall(r": (\d+) [ab]</title>", plot)) == 6
    assert 'class="threshold" x1="198.0"' in plot, "half-way between the ends of the axis"


def test_a_scatter_shows_every_point_it_is_given() -> None:
    cloud = Cloud("<a>", "x", np.linspace(0, 1, 50), np.linspace(0, 1, 50))
    plot = str(scatter([cloud], border=(0.2, 0.8)))
    assert plot.count("h0") == 50
    assert "&lt;a&gt;" in plot
    assert "<a>" not in plot


@given(st.floats(0, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_ticks_are_few_and_round(low: float, span: float, whole: bool) -> None:
    high = low + (max(1.0, span) if whole else span)
    ticks = round_ticks(low, high, whole=whole)
    assert len(ticks) <= 7
    for value, text in ticks:
        assert low - 1e-6 * high <= value <= high * (1 + 1e-6)
        assert float(text.replace(",", "")) == pytest.approx(value, abs=1e-9)
        assert not whole or value == round(value)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    inputs = [Text(f"t{number}", f"text {number}") for number in range(5)]
    assert not has_inputs(tmp_path)
    assert not has_gold(tmp_path)
    save_inputs(tmp_path, inputs)
    save_gold(tmp_path, {"a": ["x", "y"], "b": [Rewrite("z")]})
    assert has_inputs(tmp_path)
    assert has_gold(tmp_path)
    assert all_inputs(tmp_path)["id"].to_pylist() == [given.id for given in inputs]
    assert [json.loads(text)["id"] for text in first_inputs(tmp_path, 2)] == ["t0", "t1"]
    found = saved_inputs(tmp_path, ["t3", "t1", "elsewhere"])
    assert {name: json.loads(text) for name, text in found.items()} == {
        "t1": asdict(inputs[1]),
        "t3": asdict(inputs[3]),
    }
    assert saved_gold(tmp_path, "a") == ['"x"', '"y"']
    assert json.loads(saved_gold(tmp_path, "b")[0]) == {"text": "z", "deleted": [], "insertions": []}
    before = (tmp_path / "inputs.parquet").read_bytes()
    save_inputs(tmp_path, inputs)
    assert (tmp_path / "inputs.parquet").read_bytes() == before
    assert saved_inputs(tmp_path / "nowhere", ["t1"]) == {}


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.44, "0.4 s"), (59.6, "1 min 0 s"), (250, "4 min 10 s"), (7500, "2 h 5 min"), (12, "12 s")]
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_hidden_gold_lies_beside_the_gold_of_training_and_is_not_taken_for_it(tmp_path: Path) -> None:
    save_gold(tmp_path, {"mood": ["joy"]}, {"mood": {"p1": "anger", "p2": "joy"}, "rewriting": {"p1": "他来了"}})
    assert saved_gold(tmp_path, "mood") == ['"joy"']
    assert saved_gold(tmp_path, "rewriting") == []
    assert hidden_labels(tmp_path, "mood") == {"p1": '"anger"', "p2": '"joy"'}
    assert hidden_labels(tmp_path, "rewriting") == {"p1": '"他来了"'}


def test_gold_of_an_earlier_version_has_no_units(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": ["mood"], "label": ['"joy"']}), tmp_path / "gold.parquet")
    assert saved_gold(tmp_path, "mood") == ['"joy"']
    assert hidden_labels(tmp_path, "mood") == {}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (
            {"predicate": {}, "arguments": [{"role": "ARG1", "turn": 2, "start": 0, "end": 3}]},
            {(2, 0, 3): "ARG1"},
        ),
        (TREE, {(0, 2): "S", (0, 1): "NP"}),
        ({"heads": [2, 0], "relations": ["nsubj", "root"]}, {(0, 2): "nsubj", (1, 0): "root"}),
        ({"heads": [2, 0], "relations": None}, {(0, 2): "head", (1, 0): "head"}),
        ({"tags": ["N", "V"]}, {0: "N", 1: "V"}),
        ({"text": "a", "deleted": [3], "insertions": [{}]}, {None: "one insertion and deletion"}),
        ("happy", {None: "happy"}),
    ],
)
def test_what_a_label_says_by_place(label: object, expected: object) -> None:
    assert kinds_by_place(label) == expected


def test_confusion_counts_places_of_gold_and_prediction() -> None:
    gold, said = {"tags": ["N", "V", "N"]}, {"tags": ["N", "N", "V"]}
    found = confusion([(json.dumps(gold), json.dumps(said))] * 2)
    assert found == Confusion(("N", "V"), (("N", (2, 2)), ("V", (2, 0))))
    roles = {"predicate": {}, "arguments": [{"role": "ARG0", "turn": 0, "start": 0, "end": 1}]}
    none = {"predicate": {}, "arguments": [{"role": "ARG1", "turn": 0, "start": 5, "end": 6}]}
    assert confusion([(json.dumps(roles), json.dumps(none))]) == Confusion(
        ("ARG0", "ARG1", "nothing"), (("ARG0", (0, 0, 1)), ("ARG1", (0, 0, 0)), ("nothing", (0, 1, 0)))
    )
    assert confusion([('"happy"', '"happy"')]) is None, "one kind cannot be taken for another"


def test_gold_of_a_rewrite_tells_whether_there_is_something_to_rewrite() -> None:
    given = json.dumps({"turns": [{"speaker": "A", "text": "茶"}, {"speaker": "B", "text": "不喝"}]})
    kept = json.dumps({"text": "不喝", "deleted": [], "insertions": []})
    made = json.dumps({"text": "不喝茶", "deleted": [], "insertions": [{"before": 2, "turn": 0, "start": 0, "end": 1}]})
    for gold, said, counted in (
        ("不喝", kept, ("unchanged", "unchanged")),
        ("不喝", made, ("unchanged", "rewritten")),
        ("不喝茶", kept, ("rewritten", "unchanged")),
        ("不喝茶", made, ("rewritten", "rewritten")),
    ):
        pair = beside_gold(json.dumps(gold), said, given)
        assert pair is not None
        assert tuple(json.loads(label) for label in pair) == counted
    assert beside_gold('"不喝茶"', made, None) is None, "without the utterance nobody knows"
    assert beside_gold('"happy"', '"sad"', None) == ('"happy"', '"sad"'), "classes stay what they are"


def test_the_answer_is_of_the_friends_that_are_best_on_dev(tmp_path: Path) -> None:
    study = read_study(made_study(tmp_path / "study"))
    assert friends_on_dev([study]) == "fdt"
    csrl, rewriting = answers_of([study])
    assert [one.words for one in csrl.standings] == ["Base", "SST", "FDT", "bridge alone"]
    assert csrl.text("friends") == "44.2"
    assert csrl.of("friends").low is None, "no counts of single examples: no interval"
    assert rewriting.of("control") is None
    assert headline_of([csrl, rewriting]).startswith("FDT takes csrl from 41.5 to 44.2 F1, and takes rewriting")


def test_whether_it_was_the_friend_is_said_with_its_interval() -> None:
    standings = tuple(Standing(part, part, 50.0, None, None, (50.0,)) for part in ("before", "friends", "control"))
    for low, high, said in (
        (0.5, 3.0, "beyond chance"),
        (-1.0, 3.0, "the difference can be chance"),
        (-3.0, -0.5, "it is ahead of friends, beyond chance"),
    ):
        over = {"control": Comparison(50, 49, (low + high) / 2, low, high, 0.01, 5)}
        assert said in verdict(Answer("t", "t.f1", standings, over, 5))
    assert "other seeds are not known" in verdict(Answer("t", "t.f1", standings, over, 1))
    less = {"control": Comparison(50, 52, -2.0, -3.0, -1.0, 0.01, 5)}
    assert "friends are ahead of it" in verdict(Answer("t", "t.wer", standings, less, 5)), "of errors fewer are better"


def test_intervals_stand_at_bases_score_and_several_runs_on_one_page(tmp_path: Path) -> None:
    for seed in (7, 8):
        folder = made_study(tmp_path / f"seed{seed}")
        _seeded(folder, seed)
        draw = np.random.default_rng(seed)
        for method, right in (("base", 0.4), ("sst", 0.5), ("fdt", 0.9)):
            said = np.stack([draw.random(200) < right, np.ones(200), np.ones(200)], axis=1)
            counts = np.concatenate([said, said], axis=1).astype(float)
            save_counts(folder / "methods" / method / "counts.npz", {"csrl": counts})
    studies = [read_study(tmp_path / f"seed{seed}") for seed in (7, 8)]
    [csrl, _] = answers_of(studies)
    friends = csrl.of("friends")
    assert (csrl.seeds, len(friends.each)) == (2, 2)
    assert csrl.of("before").value + 20 < friends.low < friends.high
    page = write_comparison([study.folder for study in studies], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Means over 2 seeds" in page
    assert "whisker friends" in page
    assert page.count('<circle class="dot friends"') == 2
    assert {"seed7", "seed8"} <= set(re.findall(r"<td>(seed\d)</td>", page))
    assert "<script" not in page
    with pytest.raises(RunError, match="the same config and the same seed"):
        write_comparison([studies[0].folder, studies[0].folder], tmp_path / "same.html")


def _seeded(folder: Path, seed: int) -> None:
    for run in (folder, *(folder / "methods").iterdir()):
        path = run / "config.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("seed: 7", f"seed: {seed}"), encoding="utf-8")
        without_digests(run)


def _hue(colour: str) -> tuple[float, float]:
    """Its place on the circle of colours, in degrees, and how much of a colour it is."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, saturation, _ = colorsys.rgb_to_hsv(red, green, blue)
    return 360 * hue, saturation


@pytest.mark.parametrize("style", ["report/templates/style.html", "web/inspector/static/inspector.css"])
def test_no_role_looks_right_or_wrong(style: str) -> None:
    """In light and dark: no role has the hue of what says that a label is right or wrong."""
    text = (Path(friend_training.__file__).parent / style).read_text(encoding="utf-8")
    for scheme in re.split(r"color-scheme: dark\)|theme=\"dark", text)[:2]:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", scheme))
        roles = [value for name, value in colours.items() if re.fullmatch(r"r\d|arg\d|tmp|loc|prp", name)]
        assert len(roles) == 8
        for role in roles:
            hue, saturation = _hue(role)
            for name in ("right", "wrong"):
                apart = abs(hue - _hue(colours[name])[0])
                assert saturation < 0.2 or min(apart, 360 - apart) > 20, (name, role)


def test_a_wrong_label_stands_beside_gold_and_the_friends_answer(tmp_path: Path) -> None:
    folder = made_study(tmp_path / "study")
    labels = {f"d{number}|csrl": roles(3) for number in range(60)}
    save_gold(folder, {"csrl": [roles(1)], "rewriting": []}, {"csrl": labels})
    without_digests(folder)
    page = Page(write_report(folder).read_text(encoding="utf-8"))
    assert re.search(r"Chosen, but wrong: \d+ of", page.text)
    assert re.search(r"gold买\s*", page.text), "the hidden answer"
    assert "rewriting他买了书" in page.text, "what the friend says of the same dialogue"
    assert "What is taken for what" in page.text


def test_what_a_threshold_promises_is_told_with_the_units_it_rests_on() -> None:
    aimed = {"units": 1200, "precision": 0.82, "target": 0.8, "confidence": 0.9, "reached": True}
    assert promised({}) == ""
    assert promised({**aimed, "rests_on": "bound"}) == (
        "Promised: at least 80.0 % of them are right, with confidence 90.0 %, by 1,200 units of dev."
    )
    assert "at most 20.0 % of them are wrong on average" in promised(
        {**aimed, "target": 0.2, "rests_on": "false discovery"}
    )
    assert promised({**aimed, "rests_on": "estimate"}).startswith("Nothing is promised: by 1,200 units of dev 82.0 %")
    nothing = {**aimed, "rests_on": "bound", "reached": False, "precision": None}
    assert "could not be promised by 1,200 units of dev, so nothing is chosen" in promised(nothing)


def test_a_report_without_examples_asks_for_no_labels_of_friends() -> None:
    """Where no pseudo-label is shown, nothing is asked of the friend's rows either."""
    column = np.zeros(1)
    rows = pa.table({"input": ["a"], "label": ['"x"']})
    units = Units("kind", rows, column, column, column, column, column > 0, column > 0)
    assert labels_by_input(units, set()) == {}
    assert labels_by_input(units, {"a"}) == {"a": ['"x"']}


def test_a_threshold_that_everything_reaches_is_not_held_against_a_score() -> None:
    row = {"label": '"good"', "match": 0.5, "confidence": 0.9, "overall": 0.9, "chosen": True, "reason": "chosen"}
    told = readable(row | {"threshold": 0.0, "correct": None}, {"text": "a"}).plain
    assert "overall 0.90: chosen" in told
    assert "overall 0.90 ≥ 0.60: chosen" in readable(row | {"threshold": 0.6, "correct": None}, {"text": "a"}).plain
