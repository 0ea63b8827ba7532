import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from friend_training.core.selector import Selector, Threshold, TotalAgreement
from friend_training.errors import FriendTrainingError, RunError
from friend_training.loop.algorithm import friend_train
from friend_training.runs import store
from friend_training.runs.checkpoints import checkpoint_digest
from friend_training.runs.progress import Silence
from friend_training.runs.run import Run
from friend_training.runs.steps import Evaluate, Label, Select, Test, Train
from helpers.toy_runs import SETTINGS, audit, contents, friends, plan, pool, start, truth, two_friends
from helpers.toy_task import ToyTask


def metrics(run):
    return [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]


def test_a_run_leaves_everything_behind(tmp_path):
    run = start(tmp_path / "run")
    outcome = two_friends(run)
    assert run.store.iterations() == [1, 2]
    assert len(run.store.read(1)) == 2 * len(pool())
    assert [(row["task"], row["iteration"]) for row in metrics(run) if row["split"] == "dev"] == [
        (task, iteration) for iteration in range(3) for task in ("mood", "stars")
    ]
    for name, found in outcome.items():
        scores = [row["accuracy"] for row in found.dev]
        assert found.best_iteration == scores.index(max(scores))
        assert set(found.test) == {"near", "far"}
        again = ToyTask(name, plan(name).task.labels)
        again.load(run.checkpoint(name, found.best_iteration))
        assert again.evaluate(plan(name).test["far"]) == found.test["far"]
    assert not list(run.folder.rglob("*.tmp"))


def test_agreement_chooses_better_labels_than_there_are(tmp_path):
    run = start(tmp_path / "run")
    plans = {name: plan(name, TotalAgreement()) for name in ("stars", "mood")}
    friend_train(run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit)
    found = run.require(Select(1))["tasks"]["mood"]
    rows = [row for row in run.store.read(1).to_pylist() if row["task"] == "mood"]
    right = {point.id: truth("mood", point) for point in pool()}
    assert all((row["correct"] is None) == (int(row["unit"][4:]) % 2 == 1) for row in rows)
    assert all(row["correct"] == (json.loads(row["label"]) == right[row["unit"]]) for row in rows if row["correct"])
    assert found["precision"] > found["accuracy"]
    assert 0 < found["chosen"] < found["units"] == len(pool())


def test_what_was_chosen_is_what_is_trained_on(tmp_path):
    class Recorder(ToyTask):
        def fit(self, gold, pseudo, *, dev, plan):
            fits.append((len(gold), [(p.input.id, p.unit, p.label, p.weight) for p in pseudo], plan))
            return super().fit(gold, pseudo, dev=dev, plan=plan)

    fits = []
    run = start(tmp_path / "run")
    plans = {"stars": plan("stars", task=Recorder("stars", plan("stars").task.labels)), "mood": plan("mood")}
    friend_train(run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS)
    assert [len(pseudo) for _, pseudo, _ in fits] == [0, *(run.require(Train("stars", k))["pseudo"] for k in (1, 2))]
    for iteration in (1, 2):
        rows = [r for r in run.store.read(iteration).to_pylist() if r["task"] == "stars" and r["chosen"]]
        assert rows
        assert fits[iteration][1] == [(r["input"], r["unit"], json.loads(r["label"]), 0.5) for r in rows]
    assert [(plan.restart, plan.steps, plan.pseudo_weight) for _, _, plan in fits] == [
        (True, 20, 1.0),
        (False, 15, 0.5),
        (False, 15, 0.5),
    ]
    assert len({plan.seed for _, _, plan in fits}) == 3


def test_equal_runs_have_equal_bytes_and_other_seeds_do_not(tmp_path):
    runs = [start(tmp_path / name) for name in ("one", "two", "three")]
    two_friends(runs[0])
    two_friends(runs[1])
    plans = {"stars": plan("stars"), "mood": plan("mood")}
    friend_train(runs[2], plans, [friends("stars", "mood")], pool(), settings=replace(SETTINGS, seed=6), audit=audit)
    assert contents(runs[0]) == contents(runs[1])
    assert contents(runs[0]) != contents(runs[2])


def test_selection_and_training_do_not_depend_on_the_audit_or_the_shards(tmp_path):
    runs = []
    for number, (watcher, size) in enumerate([(audit, 25), (None, 60), (lambda task, prediction: False, 7)]):
        runs.append(start(tmp_path / str(number)))
        plans = {"stars": plan("stars"), "mood": plan("mood")}
        settings = replace(SETTINGS, shard_size=size)
        friend_train(runs[-1], plans, [friends("stars", "mood")], pool(), settings=settings, audit=watcher)
    assert len({(run.folder / "metrics.jsonl").read_bytes() for run in runs}) == 1


@pytest.mark.parametrize(
    "edges",
    [
        [("stars", "mood"), ("mood", "thumb"), ("thumb", "stars")],  # a triangle
        [("stars", "mood"), ("mood", "thumb")],  # a chain
    ],
)
def test_any_friendship_graph(tmp_path, edges):
    run = start(tmp_path / "run")
    plans = {name: plan(name) for name in ("stars", "mood", "thumb")}
    outcome = friend_train(run, plans, [friends(*edge) for edge in edges], pool(), settings=SETTINGS)
    assert set(outcome) == set(plans)
    for row in run.store.read(2).to_pylist():
        names = {f"{first}-{second}" for first, second in edges if row["task"] in (first, second)}
        assert {name for name, _ in row["matches"]} == names
        assert row["match"] == pytest.approx(np.mean([score for _, score in row["matches"]]))


def test_without_friends_it_is_self_training(tmp_path):
    run = start(tmp_path / "run")
    alone = replace(plan("mood"), selectors=[Selector(Threshold(0.8), confidence_weight=1.0)] * 2)
    friend_train(run, {"mood": alone}, [], pool(), settings=SETTINGS)
    rows = run.store.read(1).to_pylist()
    assert {row["chosen"] for row in rows} == {True, False}
    assert all(row["chosen"] == (row["confidence"] >= 0.8) and row["match"] is None for row in rows)


def test_a_fixed_friend_is_never_changed(tmp_path):
    run = start(tmp_path / "run")
    plans = {"stars": plan("stars"), "mood": plan("mood", update=None, selectors=())}
    outcome = friend_train(run, plans, [friends("stars", "mood")], pool(), settings=SETTINGS)
    assert [path.name for path in (run.folder / "checkpoints" / "mood").iterdir()] == ["iteration-000"]
    assert len(outcome["mood"].dev) == 1
    labels = [
        [row["label"] for row in run.store.read(iteration).to_pylist() if row["task"] == "mood"] for iteration in (1, 2)
    ]
    assert labels[0] == labels[1]
    assert run.store.counts(2)["mood"] == {"not selecting": len(pool())}
    assert run.require(Train("stars", 2))["digest"] != run.require(Train("stars", 0))["digest"]


def test_a_base_trained_elsewhere_is_taken_over(tmp_path):
    first, second = start(tmp_path / "first"), start(tmp_path / "second")
    two_friends(first)
    source = first.checkpoint("mood", 0)
    plans = {"stars": plan("stars"), "mood": plan("mood", base=source)}
    friend_train(second, plans, [friends("stars", "mood")], pool(), settings=SETTINGS, audit=audit)
    assert checkpoint_digest(second.checkpoint("mood", 0)) == checkpoint_digest(source)
    assert contents(first) == contents(second)


def test_progress_is_told_in_order(tmp_path):
    class Notes(Silence):
        def planned(self, steps, finished):
            told.append(("planned", list(steps), list(finished)))

        def started(self, step):
            told.append(("started", step))

        def finished(self, step):
            told.append(("finished", step))

    told = []
    run = start(tmp_path / "run")
    two_friends(run, Notes())
    (_, planned, done), *events = told
    assert done == []
    assert events == [event for step in planned for event in (("started", step), ("finished", step))]
    assert planned[:6] == [
        Train("stars", 0),
        Evaluate("stars", 0),
        Train("mood", 0),
        Evaluate("mood", 0),
        Label(1, 0),
        Label(1, 1),
    ]
    assert planned[-2:] == [Test("stars"), Test("mood")]
    told.clear()
    two_friends(run, Notes())
    assert told[0][2] == planned


def test_no_space_in_the_middle_damages_nothing(tmp_path, monkeypatch):
    whole, run = start(tmp_path / "whole"), start(tmp_path / "run")
    two_friends(whole)
    write = store.pq.write_table

    def write_until_full(rows, path, **options):
        write(rows, path, **options)
        if "chosen" in rows.column_names and (run.folder / "store" / "iteration-001" / "shard-00000.parquet").exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(store.pq, "write_table", write_until_full)
        with pytest.raises(RunError, match=r"no space left on .*run; free some"):
            two_friends(run)
    assert run.result(Label(1, 2)) is not None
    assert run.result(Select(1)) is None
    assert not list(run.folder.rglob("*.tmp"))
    two_friends(Run.open(run.folder))
    assert contents(run) == contents(whole)


def test_a_task_without_its_main_metric_is_named(tmp_path):
    task = ToyTask("mood", ["sad", "happy"])
    task.main_metric = "f1"
    with pytest.raises(FriendTrainingError, match="task 'mood': evaluate gave no 'f1'"):
        friend_train(
            start(tmp_path / "run"),
            {"mood": plan("mood", task=task, selectors=())},
            [],
            [],
            settings=replace(SETTINGS, iterations=0),
        )
