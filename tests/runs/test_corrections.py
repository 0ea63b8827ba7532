"""What people say of pseudo-labels: kept whole, the last word wins, gold in the next iteration and the same bits."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from friend_training.core.selector import Reason, Scores, Selector, TotalAgreement
from friend_training.errors import DataError
from friend_training.loop.algorithm import Training, friend_train
from friend_training.runs.corrections import (
    CORRECTIONS,
    Correction,
    Ruling,
    overruled,
    places_of,
    read_corrections,
    rulings,
    save_correction,
    standing,
)
from friend_training.runs.steps import Select
from helpers.toy_runs import SETTINGS, Killer, audit, contents, friends, plan, pool, start, two_friends
from helpers.toy_task import ToyTask


class _Interrupt(Killer):
    def _meet(self, event):
        if event == self.event:
            raise KeyboardInterrupt


def _until(run, event):
    with pytest.raises(KeyboardInterrupt):
        two_friends(run, _Interrupt(event))


def _rows(run, iteration, task="mood"):
    return {row["unit"]: row for row in run.store.read(iteration).to_pylist() if row["task"] == task}


def _said(run):
    """Three corrections about mood, from what iteration 1 says: one accepted, one corrected, one rejected."""
    rows = _rows(run, 1)
    rejected = next(row for row in rows.values() if row["chosen"])
    accepted, wrong = [row for row in rows.values() if not row["chosen"]][:2]
    other = {"sad": "happy", "happy": "sad"}[json.loads(wrong["label"])]
    return [
        Correction("mood", accepted["unit"], "accepted", json.loads(accepted["label"])),
        Correction("mood", wrong["unit"], "corrected", other),
        Correction("mood", rejected["unit"], "rejected"),
    ]


@pytest.fixture(scope="module")
def corrected(tmp_path_factory):
    """A run that was corrected between its two iterations and then went on without a break."""
    run = start(tmp_path_factory.mktemp("corrected") / "run")
    _until(run, "start label-2-00000")
    said = _said(run)
    for correction in said:
        save_correction(run.folder, correction)
    two_friends(run)
    return run, said


def test_a_correction_between_iterations_changes_the_next_selection(corrected, tmp_path):
    run, (accepted, wrong, rejected) = corrected
    untouched = start(tmp_path / "run")
    two_friends(untouched)
    assert _rows(run, 1) == _rows(untouched, 1), "what was selected before stays as it is"
    rows, before = _rows(run, 2), _rows(untouched, 2)
    assert {unit for unit in rows if rows[unit] != before[unit]} == {accepted.unit, wrong.unit, rejected.unit}

    for correction, reason in [(accepted, "accepted by hand"), (wrong, "corrected by hand")]:
        row = rows[correction.unit]
        assert (row["chosen"], row["reason"], row["weight"]) == (True, reason, 1.0)
        assert json.loads(row["label"]) == correction.label
    assert rows[wrong.unit]["label"] != before[wrong.unit]["label"]
    assert rows[wrong.unit]["correct"] is None, "nobody has held the new label against hidden gold"
    assert (rows[rejected.unit]["chosen"], rows[rejected.unit]["reason"]) == (False, "rejected by hand")
    scores = ("confidence", "match", "overall")
    assert all(rows[wrong.unit][name] == before[wrong.unit][name] for name in scores)


def test_the_phase_says_what_it_went_by_and_counts_what_is_chosen(corrected):
    run, _ = corrected
    selected = run.require(Select(2))
    assert len(selected["corrections"]) == 64
    assert "corrections" not in run.require(Select(1))
    rows = _rows(run, 2)
    assert selected["tasks"]["mood"]["chosen"] == sum(row["chosen"] for row in rows.values())
    assert selected["tasks"]["mood"]["reasons"]["corrected by hand"] == 1


@pytest.mark.parametrize("event", ["within select-2 1", "start tidy-2", "within train-mood-2 1"])
def test_a_corrected_run_that_is_interrupted_ends_in_the_same_bits(corrected, tmp_path, event):
    expected, said = corrected
    run = start(tmp_path / "run")
    _until(run, "start label-2-00000")
    for correction in said:
        save_correction(run.folder, correction)
    _until(run, event)
    two_friends(run)
    assert contents(run) == contents(expected)


def test_a_correction_after_the_last_selection_changes_nothing_any_more(corrected, tmp_path):
    """Training reads the store, so what is said meanwhile cannot make a resumed run another one."""
    run, untouched = start(tmp_path / "run"), start(tmp_path / "untouched")
    two_friends(untouched)
    _until(run, "start train-stars-2")
    save_correction(run.folder, Correction("mood", next(iter(_rows(run, 2))), "rejected"))
    two_friends(run)
    assert contents(run) == contents(untouched)


class _Remembering(ToyTask):
    def __init__(self, name, labels):
        super().__init__(name, labels)
        self.seen = []

    def fit(self, gold, pseudo, *, dev, plan):
        self.seen.append({one.unit: (one.label, one.weight) for one in pseudo})
        return super().fit(gold, pseudo, dev=dev, plan=plan)


def _train(run, pseudo_weight):
    task = _Remembering("mood", ["sad", "happy"])
    mood = replace(plan("mood"), task=task, update=Training(steps=15, pseudo_weight=pseudo_weight))
    plans = {"stars": plan("stars"), "mood": mood}
    friend_train(run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit)
    return task.seen[-1]


def test_what_is_right_by_hand_counts_as_gold_and_lambda_does_not_apply(tmp_path):
    run = start(tmp_path / "run")
    _until(run, "start label-2-00000")
    accepted, wrong, rejected = said = _said(run)
    for correction in said:
        save_correction(run.folder, correction)
    seen = _train(run, 0.25)
    assert seen.pop(accepted.unit) == (accepted.label, 1.0)
    assert seen.pop(wrong.unit) == (wrong.label, 1.0)
    assert rejected.unit not in seen
    assert {weight for _, weight in seen.values()} == {0.25}


def test_it_counts_as_gold_even_with_a_lambda_of_zero(tmp_path):
    run = start(tmp_path / "run")
    _until(run, "start label-2-00000")
    accepted = _said(run)[0]
    save_correction(run.folder, accepted)
    seen = _train(run, 0.0)
    assert seen.pop(accepted.unit) == (accepted.label, 1.0)
    assert {weight for _, weight in seen.values()} == {0.0}


def test_the_last_word_wins_and_can_be_taken_back(tmp_path):
    for verdict, label in [("accepted", "sad"), ("corrected", "happy"), ("rejected", None)]:
        save_correction(tmp_path, Correction("mood", "a", verdict, label))
    save_correction(tmp_path, Correction("mood", "b", "corrected", "sad"))
    save_correction(tmp_path, Correction("stars", "a", "accepted", "five"))
    save_correction(tmp_path, Correction("stars", "a", "withdrawn"))
    assert len(read_corrections(tmp_path)) == 6
    assert {key: c.verdict for key, c in standing(read_corrections(tmp_path)).items()} == {
        ("mood", "a"): "rejected",
        ("mood", "b"): "corrected",
    }
    found = rulings(tmp_path, {"mood": str, "stars": str})
    assert found["mood"]["a"] == Ruling(Reason.REJECTED_BY_HAND, None)
    assert found["mood"]["b"] == Ruling(Reason.CORRECTED_BY_HAND, '"sad"')
    assert found["stars"] == {}


def test_none_is_lost_when_several_write_at_once(tmp_path):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: save_correction(tmp_path, Correction("mood", f"u{n}", "rejected")), range(24)))
    assert {correction.unit for correction in read_corrections(tmp_path)} == {f"u{n}" for n in range(24)}
    assert [path.name for path in tmp_path.iterdir()] == ["corrections.jsonl"]


GOOD = '{"task": "mood", "unit": "a", "verdict": "rejected"}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "JSON"),
        ('{"task": "mood", "unit": "a", "verdict": "perhaps"}', "verdict"),
        ('{"task": "mood", "verdict": "rejected"}', "unit"),
        ('{"task": "mood", "unit": "a", "verdict": "accepted"}', "have a label"),
        ('{"task": "mood", "unit": "a", "verdict": "rejected", "label": "sad"}', "have a label"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    (tmp_path / CORRECTIONS).write_text(f"{GOOD}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{CORRECTIONS}:2: .*{message}"):
        read_corrections(tmp_path)


@pytest.mark.parametrize(
    ("correction", "message"),
    [
        (Correction("mood", "a", "corrected", 7), "not a label of this task"),
        (Correction("weather", "a", "rejected"), "no such task; there are mood"),
    ],
)
def test_what_does_not_fit_the_run_is_refused(tmp_path, correction, message):
    save_correction(tmp_path, correction)
    with pytest.raises(DataError, match=message):
        rulings(tmp_path, {"mood": str})


def test_reasons_are_never_cut_short():
    """The selector's column is only as wide as its own longest reason."""
    selector = Selector(TotalAgreement())
    scores = Scores(["a", "b"], np.array([0.5, 0.5]), np.array([1.0, 0.5]), np.array([True, True]))
    by_hand = {"b": Ruling(Reason.CORRECTED_BY_HAND, '"x"'), "a": Ruling(Reason.REJECTED_BY_HAND, None)}
    decided = overruled(selector.decide(scores, selector.cutoff([])), places_of(scores.unit, by_hand))
    assert decided.reason.tolist() == ["rejected by hand", "corrected by hand"]
    assert decided.chosen.tolist() == [False, True]
    assert decided.weight.tolist() == [0.0, 1.0]
