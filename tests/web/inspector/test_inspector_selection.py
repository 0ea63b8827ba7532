"""The sliders: the core's own selector over whole columns, at once; and the run's own setting read off its scores."""

import numpy as np
import pyarrow as pa
import pytest

from friend_training.core.selector import Random, Reason, Selector, Share, Threshold, TopN
from friend_training.runs.corrections import Ruling
from friend_training.runs.store import LABELLED, nullable, scores_of, with_decisions
from friend_training.web.inspector.selection import BINS, Setting, decide, recorded_setting, summary
from friend_training.web.inspector.unit_view import SCORES, Units
from helpers.work_done import calls


def units(selector, count=400, seed=0, *, matched=True):
    """Units with scores drawn at random that this selector has decided on."""
    random = np.random.default_rng(seed)
    missing = random.random(count) < (0.1 if matched else 2.0)
    match = np.where(missing, np.nan, random.random(count).round(2))
    names = [f"u{n}" for n in range(count)]
    columns = {
        "unit": names,
        "input": names,
        "task": ["t"] * count,
        "label": ["{}"] * count,
        "confidence": random.random(count).round(3),
        "content": random.random(count) < 0.8,
        "kind": [None] * count,
        "match": nullable(match),
        "matches": [[]] * count,
        "correct": pa.array(random.random(count) < 0.5, mask=random.random(count) < 0.3),
    }
    rows = pa.table(columns, schema=LABELLED)
    scores = scores_of(rows)
    rows = with_decisions(rows, selector.decide(scores, selector.cutoff([scores])))
    return Units("t", 1, rows.select(SCORES), rows.select(["label", "matches"]))


@pytest.mark.parametrize(
    "selector",
    [
        Selector(Threshold(0.75), 0.2),
        Selector(Threshold(0.6), 0.0, content="only"),
        Selector(Threshold(0.3), 0.55, unmatched="confidence"),
        Selector(Threshold(0.5), 1.0, content="only"),
    ],
)
def test_the_runs_setting_is_read_off_its_scores_and_gives_its_decisions_again(selector):
    given = units(selector)
    setting = recorded_setting(given)
    assert setting is not None
    assert setting.selector == selector
    again = decide(given, setting, {})
    assert np.array_equal(again.chosen, given.recorded.chosen)
    assert np.array_equal(again.reason, given.recorded.reason)
    assert np.allclose(again.overall, given.recorded.overall, equal_nan=True)


def test_self_training_has_no_match_to_read_a_weight_off():
    given = units(Selector(Threshold(0.5), 1.0), matched=False)
    setting = recorded_setting(given)
    assert setting == Setting(confidence_weight=1.0, threshold=0.5)
    assert np.array_equal(decide(given, setting, {}).chosen, given.recorded.chosen)


def test_the_last_of_so_many_is_a_threshold_and_a_draw_is_none():
    assert recorded_setting(units(Selector(TopN(20), 0.2))) is not None
    assert recorded_setting(units(Selector(Share(0.1), 0.2))) is not None
    assert recorded_setting(units(Selector(Random(20, seed=1), 1.0))) is None


def test_a_persons_word_goes_over_the_sliders_and_over_the_run():
    given = units(Selector(Threshold(0.75), 0.2))
    taken, left = int(np.flatnonzero(given.recorded.chosen)[0]), int(np.flatnonzero(~given.recorded.chosen)[0])
    places = {taken: Ruling(Reason.REJECTED_BY_HAND, None), left: Ruling(Reason.ACCEPTED_BY_HAND, "{}")}
    for setting in (None, recorded_setting(given)):
        decided = decide(given, setting, places)
        assert (bool(decided.chosen[taken]), bool(decided.chosen[left])) == (False, True)
        assert decided.reason[left] == "accepted by hand"
        assert decided.chosen.sum() == given.recorded.chosen.sum()
    assert given.recorded.chosen[taken], "the record itself stays as it is"


def test_the_figures_add_up():
    given = units(Selector(Threshold(0.75), 0.2))
    decisions = decide(given, Setting(confidence_weight=0.5, threshold=0.4), {})
    found = summary(given, decisions)
    right, known = given.correct == 1, ~np.isnan(given.correct)
    assert found["chosen"] == decisions.chosen.sum() == found["reasons"]["chosen"]
    assert found["precision"] == (decisions.chosen & right).sum() / (decisions.chosen & known).sum()
    assert found["accuracy"] == right.sum() / known.sum()
    bars = found["histogram"]
    assert sum(map(sum, bars.chosen.values())) == found["chosen"]
    assert sum(map(sum, bars.rejected.values())) + bars.without_score == found["units"] - found["chosen"]
    assert sum(bars.chosen["right"]) == (decisions.chosen & right).sum()
    lowest = next(bin for bin in range(BINS) if any(row[bin] for row in bars.chosen.values()))
    assert lowest == int(0.4 * BINS), "no bar of chosen units stands left of the threshold"


def test_nothing_chosen_and_nothing_known_has_no_precision():
    given = units(Selector(Threshold(0.75), 0.2), count=0)
    found = summary(given, decide(given, Setting(confidence_weight=0.5, threshold=0.4), {}))
    assert (found["chosen"], found["precision"], found["accuracy"]) == (0, None, None)


def test_units_are_selected_anew_by_columns_not_one_by_one():
    def work(count):
        given = units(Selector(Threshold(0.5), 0.2), count)
        moved = Setting(confidence_weight=0.3, threshold=0.6, content="only")
        found = []
        counted = calls(lambda: found.append(summary(given, decide(given, moved, {}))))
        assert 0 < found[0]["chosen"] < count
        return counted

    work(400)  # what is imported at first use
    assert work(40_000) == work(400)
