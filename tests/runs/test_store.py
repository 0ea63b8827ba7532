import numpy as np
import pyarrow as pa
import pytest

from friend_training.core.selector import Selector, Threshold
from friend_training.errors import RunError
from friend_training.loop.selection import select_iteration
from friend_training.runs.store import LABELLED, SELECTED, Store
from helpers.work_done import calls


def labelled(units, task="stars", label='"one"', first=0):
    numbers = range(first, first + units)
    return pa.table(
        {
            "unit": [f"u{number}" for number in numbers],
            "input": [f"i{number}" for number in numbers],
            "task": [task] * units,
            "label": [label] * units,
            "confidence": [number % 10 / 10 for number in numbers],
            "content": [number % 3 > 0 for number in numbers],
            "kind": [None] * units,
            "match": [None if number % 5 == 0 else number % 7 / 7 for number in numbers],
            "matches": [[("a-b", None if number % 5 == 0 else number % 7 / 7)] for number in numbers],
            "correct": [[True, False, None][number % 3] for number in numbers],
        },
        schema=LABELLED,
    )


SELECTORS = {"stars": Selector(Threshold(0.5)), "mood": Selector(Threshold(0.2), confidence_weight=1.0)}


def filled(folder, shards=2, iteration=1, label='"one"'):
    store = Store(folder)
    for shard in range(shards):
        rows = [labelled(20, name, label, first=20 * shard) for name in SELECTORS]
        store.write_labelled(iteration, shard, pa.concat_tables(rows))
    return store


def test_rows_come_back_as_written(tmp_path):
    store = filled(tmp_path)
    assert store.labelled(1, 1).equals(pa.concat_tables([labelled(20, name, first=20) for name in SELECTORS]))


def test_selection_adds_decisions_and_changes_nothing_else(tmp_path):
    store = filled(tmp_path)
    before = pa.concat_tables([store.labelled(1, 0), store.labelled(1, 1)])
    assert store.iterations() == []
    select_iteration(store, 1, 2, SELECTORS)
    store.discard_labelled(1)
    after = store.read(1)
    assert after.schema.equals(SELECTED)
    assert after.select(LABELLED.names).equals(before)
    assert store.iterations() == [1]
    assert [path.name for path in sorted(tmp_path.rglob("*.parquet"))] == ["shard-00000.parquet", "shard-00001.parquet"]
    row = after.slice(6, 1).to_pylist()[0]
    assert (row["overall"], row["threshold"], row["chosen"], row["reason"], row["weight"]) == (
        pytest.approx(0.2 * 0.6 + 0.8 * 6 / 7),
        0.5,
        True,
        "chosen",
        1.0,
    )
    rejected = after.slice(5, 1).to_pylist()[0]
    assert (rejected["match"], rejected["overall"], rejected["reason"]) == (None, None, "nothing to match")


def test_equal_rows_give_equal_bytes(tmp_path):
    files = []
    for name in ("one", "two"):
        store = filled(tmp_path / name)
        select_iteration(store, 1, 2, SELECTORS)
        files.append([path.read_bytes() for path in sorted((tmp_path / name).rglob("*.parquet"))])
    assert files[0] == files[1]
    assert len(files[0]) == 4


def test_chosen_rows_are_read_by_task_and_shard(tmp_path):
    store = filled(tmp_path)
    select_iteration(store, 1, 2, SELECTORS)
    found = [
        row["unit"]
        for shard in store.shards(1)
        for batch in store.chosen(1, shard, "mood", ["unit", "label"])
        for row in batch.to_pylist()
    ]
    assert found == [f"u{number}" for number in range(40) if number % 10 >= 2]


def test_the_summary_agrees_with_the_rows(tmp_path):
    store = filled(tmp_path)
    summary = select_iteration(store, 1, 2, SELECTORS)
    assert {name: found["reasons"] for name, found in summary.items()} == store.counts(1)
    rows = [row for row in store.read(1).to_pylist() if row["task"] == "stars"]
    chosen = [row for row in rows if row["chosen"]]
    audited = [row["correct"] for row in chosen if row["correct"] is not None]
    matches = [row["match"] for row in rows if row["match"] is not None]
    found = summary["stars"]
    assert (found["units"], found["chosen"]) == (40, len(chosen))
    assert found["chosen_with_content"] == sum(row["content"] for row in chosen)
    assert found["precision"] == pytest.approx(np.mean(audited))
    assert found["accuracy"] == pytest.approx(14 / 27)
    assert found["mean_match"] == pytest.approx(np.mean(matches))
    assert found["mean_confidence"] == pytest.approx(0.45)
    assert found["changed"] is None


def test_drift_is_the_share_of_changed_labels(tmp_path):
    store = filled(tmp_path)
    select_iteration(store, 1, 2, SELECTORS)
    filled(tmp_path, iteration=2)
    store.write_labelled(2, 0, pa.concat_tables([labelled(20, "stars", '"two"'), labelled(20, "mood")]))
    summary = select_iteration(store, 2, 2, SELECTORS)
    assert (summary["stars"]["changed"], summary["mood"]["changed"]) == (0.5, 0.0)


def test_a_missing_shard_or_iteration_is_named(tmp_path):
    store = filled(tmp_path)
    with pytest.raises(RunError, match="labelled-00007"):
        store.labelled(1, 7)
    with pytest.raises(RunError, match="no iteration 3"):
        store.read(3)


def test_units_are_written_and_selected_by_columns_not_one_by_one(tmp_path):
    def work(units):
        store, rows = Store(tmp_path / str(units)), labelled(units)

        def write_and_select():
            store.write_labelled(1, 0, rows)
            select_iteration(store, 1, 1, {"stars": SELECTORS["stars"]})

        return calls(write_and_select)

    work(10)  # what is imported at first use
    assert work(10_000) <= work(1_000) + 100
