"""What a person is asked, and the precision that the answers give: coverage by simulation, order and balance."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from friend_training.analysis.audit import (
    audit_so_far,
    audited_precision,
    checks_needed,
    checks_needed_at_first,
    precision_interval,
    questions,
    worth_asking,
)
from friend_training.errors import ConfigError
from friend_training.runs.store import SELECTED


def chosen_units(rng, units=400, *, informative=True, precision=None):
    p = rng.beta(4, 1, units)
    right = rng.random(units) < (p if precision is None else precision)
    return (p if informative else rng.random(units)), right


def interval(rng, predicted, right, checks):
    places = rng.choice(len(right), checks, replace=False)
    return precision_interval(predicted, {int(place): bool(right[place]) for place in places})


@pytest.mark.parametrize(("informative", "precision"), [(True, None), (False, None), (True, 0.97), (False, 0.5)])
@pytest.mark.parametrize("checks", [20, 80])
def test_the_interval_holds_the_precision_as_often_as_it_says(informative, precision, checks):
    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        predicted, right = chosen_units(rng, informative=informative, precision=precision)
        found = interval(rng, predicted, right, checks)
        held += found.low <= right.mean() <= found.high
    assert held / 300 >= 0.92


def test_predictions_that_tell_something_make_it_narrower():
    rng = np.random.default_rng(1)
    widths = {True: [], False: []}
    for informative, found in widths.items():
        for _ in range(60):
            p = rng.choice([0.05, 0.98], 400, p=[0.3, 0.7])
            right = rng.random(400) < p
            found.append(interval(rng, p if informative else rng.random(400), right, 60).half_width)
    assert np.mean(widths[True]) < 0.7 * np.mean(widths[False])


def test_where_all_are_checked_nothing_is_left_to_doubt():
    right = [True, True, False, True]
    found = precision_interval([0.9, 0.8, 0.3, 0.6], dict(enumerate(right)))
    assert found.precision == pytest.approx(0.75, abs=1e-9)
    assert found.half_width == 0.0
    assert checks_needed(found, 0.01) == 0


def test_so_many_checks_as_it_says_do():
    rng = np.random.default_rng(2)
    predicted, right = chosen_units(rng, 3000)
    first = interval(rng, predicted, right, 60)
    more = checks_needed(first, 0.04)
    assert 100 < more < 600
    assert interval(rng, predicted, right, 60 + more).half_width == pytest.approx(0.04, rel=0.2)
    assert checks_needed_at_first(predicted, 0.04) == pytest.approx(60 + more, rel=0.3)
    assert checks_needed_at_first([], 0.04) == 0
    assert checks_needed(first, 0.01) > more


@pytest.mark.parametrize("audited", [{}, {0: True}, {0: True, 9: False}])
def test_too_few_checks_or_foreign_ones_are_refused(audited):
    with pytest.raises(ConfigError, match="at least 2"):
        precision_interval([0.5, 0.5], audited)


def test_a_width_that_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="half_width"):
        checks_needed(precision_interval([0.5, 0.5], {0: True, 1: False}), 0.0)


# Which units are asked.


def rows(units=60, seed=0):
    rng = np.random.default_rng(seed)
    match = rng.random(units)
    return pa.Table.from_pylist(
        [
            {
                "unit": f"u{n}",
                "input": f"i{n}",
                "task": "t",
                "label": json.dumps("yes" if n % 3 else "no"),
                "confidence": float(rng.uniform(0.4, 1)),
                "content": True,
                "kind": None if n % 2 else "often",
                "match": None if n % 10 == 0 else float(match[n]),
                "matches": [("f", float(match[n]))],
                "overall": float(match[n]),
                "threshold": 0.5,
                "chosen": bool(match[n] > 0.5),
                "reason": "chosen",
                "weight": 1.0,
            }
            for n in range(units)
        ],
        schema=SELECTED,
    )


def test_what_tells_most_is_disputed_and_unsure():
    table = rows(4)
    for name, values in {"confidence": [0.5, 0.5, 0.99, 0.5], "match": [0.0, 1.0, 0.0, None]}.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, pa.float64()))
    assert worth_asking(table) == pytest.approx([1.0, 0.0, 4 * 0.99 * 0.01, 0.5])


def test_the_best_of_each_kind_are_asked_in_turn():
    asked = [one for one in questions(rows(), 9, audit=0, seed=0) if one.why == "tells most"]
    kinds = [one.kind for one in asked]
    assert [sorted(kinds[place : place + 3]) for place in (0, 3, 6)] == [['"no"', '"yes"', "often"]] * 3
    for kind in set(kinds):
        worth = [one.worth for one in asked if one.kind == kind]
        assert worth == sorted(worth, reverse=True)
        best = max(one.worth for one in questions(rows(), 60, audit=0, seed=0) if one.kind == kind)
        assert worth[0] == best


def test_random_checks_are_of_what_was_chosen_and_the_same_order_in_every_round():
    first = questions(rows(), 5, audit=6, seed=3)
    random = [one.unit for one in first if one.why == "random check"]
    assert len(random) == 6
    assert all(one.chosen for one in first if one.why == "random check")
    assert len({one.unit for one in first}) == 11, "nobody is asked twice"
    answered = {one.unit for one in first}
    second = questions(rows(), 5, audit=6, seed=3, answered=answered)
    assert not answered & {one.unit for one in second}
    at_once = [one.unit for one in questions(rows(), 0, audit=60, seed=3)]
    later = [one.unit for one in second if one.why == "random check"]
    assert [unit for unit in at_once if unit in random or unit in later] == random + later
    assert [one.unit for one in questions(rows(), 0, audit=6, seed=4)] != random


def test_only_answers_without_a_gap_in_the_random_order_are_a_sample():
    """Doubtful units that a person looked at besides would make the choice look worse than it is."""
    table = rows()
    order = questions(table, 0, audit=60, seed=3)
    answers = {one.unit: one.label for one in order[:8]}
    found = audited_precision(table, answers, seed=3)
    assert (found.audited, found.chosen) == (8, len(order))
    more = answers | {one.unit: None for one in order[10:]}
    assert audited_precision(table, more, seed=3) == found
    assert audited_precision(table, answers | {order[8].unit: None}, seed=3).precision < found.precision
    wrong = answers | {order[0].unit: json.dumps("maybe")}
    assert audited_precision(table, wrong, seed=3).precision < found.precision
    assert audited_precision(table, {order[0].unit: None}, seed=3) is None


def selected_after_answers(rng, units=600):
    """An iteration whose selection went by the answers to an earlier sample: right labels chosen, wrong ones not."""
    right = rng.random(units) < 0.7
    asked = rng.random(units) < 0.3
    by_hand = asked & right
    chosen = by_hand | (~asked & (rng.random(units) < np.where(right, 0.9, 0.6)))
    label = json.dumps("yes")
    table = pa.Table.from_pylist(
        [
            {
                **dict.fromkeys(SELECTED.names, None),
                "unit": f"u{n}",
                "input": f"i{n}",
                "task": "t",
                "label": label,
                "content": True,
                "weight": 1.0,
                "confidence": 0.6 + 0.3 * bool(right[n]),
                "chosen": bool(chosen[n]),
                "reason": "accepted by hand" if by_hand[n] else "rejected by hand" if asked[n] else "chosen",
            }
            for n in range(units)
        ],
        schema=SELECTED,
    )
    truth = {f"u{n}": label if right[n] else None for n in range(units)}
    before = {f"u{n}": truth[f"u{n}"] for n in np.flatnonzero(asked)}
    return table, truth, before, float(right[chosen & ~asked].mean())


def test_what_was_answered_before_the_selection_is_no_sample_of_it():
    """Held by the answers to a new sample as often as it says; with the old answers in it it would be far too high."""
    rng, held = np.random.default_rng(5), 0
    for number in range(200):
        table, truth, before, precision = selected_after_answers(rng)
        assert audit_so_far("t", table, before, seed=number).interval is None, "no new unit has been checked"
        new = [one.unit for one in questions(table, 0, audit=50, seed=number, answered=before)]
        found = audit_so_far("t", table, before | {unit: truth[unit] for unit in new}, seed=number)
        assert found.interval.audited == 50
        assert found.by_hand == sum(reason == "accepted by hand" for reason in table["reason"].to_pylist())
        held += found.interval.low <= precision <= found.interval.high
    assert held / 200 >= 0.92


def test_what_is_said_of_the_answers_so_far():
    table = rows()
    order = questions(table, 0, audit=60, seed=3)
    nothing = audit_so_far("t", table, {}, seed=3)
    assert nothing.in_words(0.1) == (
        f"t: {len(order)} chosen, how precisely is not known; some {nothing.checks_left(0.1)} checks tell to ±0.1."
    )
    whole = audit_so_far("t", table, {one.unit: one.label for one in order}, seed=3)
    assert whole.checks_left(0.1) == 0
    assert "100.0% of them right (100.0% to 100.0% at 95 %" in whole.in_words(0.1)
    assert whole.in_words(0.1).endswith("known to ±0.1.")


def test_of_nothing_nothing_is_asked():
    assert audited_precision(rows().slice(0, 0), {}, seed=0) is None
    assert questions(rows().slice(0, 0), 5, audit=5, seed=0) == []


def test_labels_are_compared_as_labels_not_as_text():
    table = rows()
    one = questions(table, 0, audit=1, seed=3)[0]
    two = replace(questions(table, 0, audit=2, seed=3)[1])
    spaced = audited_precision(table, {one.unit: f" {one.label} ", two.unit: two.label}, seed=3)
    assert spaced.precision > 0.5
