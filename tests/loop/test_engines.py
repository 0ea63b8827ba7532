"""Engines: whoever labels, the store has the same bytes; dead workers cost their shards and nothing else."""

import json
import multiprocessing
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from friend_training.core.pool import InMemory
from friend_training.core.selector import Selector, TopN
from friend_training.data.sharded_pool import open_pool
from friend_training.errors import ConfigError, DeviceMemoryError, RunError
from friend_training.loop.algorithm import LoopSettings, friend_train
from friend_training.loop.engines.local import AHEAD, MOST_DEATHS, LocalEngine, in_order, packed
from friend_training.loop.labelling import Labelled, LabelWork
from friend_training.runs.progress import Pace, Silence, Teller
from friend_training.runs.steps import Label, Select, Train
from helpers.engine_runs import FRIENDS, Failing, Fragile, Full, Located, engine_run, parse_point, point_line
from helpers.toy_runs import POLARITY, contents, plan, pool, start
from helpers.toy_task import Point, ToyTask

LABELS = list(POLARITY["mood"])


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What this process makes of it alone."""
    run = start(tmp_path_factory.mktemp("here") / "run")
    engine_run(run, None)
    return contents(run)


def test_two_processes_give_the_same_bytes_as_one_in_every_iteration(tmp_path):
    one, two = start(tmp_path / "one"), start(tmp_path / "two")
    engine_run(one, None, iterations=2)
    engine_run(two, LocalEngine(workers=2), iterations=2)
    assert two.store.iterations() == [1, 2]
    assert contents(one) == contents(two)


def test_a_killed_worker_costs_its_shards_and_nothing_else(here, tmp_path):
    run, mark = start(tmp_path / "run"), tmp_path / "met"
    engine_run(run, LocalEngine(workers=2), mood=Fragile("mood", LABELS, last_words="pool30", mark=mark))
    assert mark.exists()
    assert contents(run) == here


def test_every_worker_has_a_card_of_its_own_and_keeps_it(here, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-b")
    cards = tmp_path / "cards"
    cards.mkdir()
    run, mood = start(tmp_path / "run"), Located("mood", LABELS, folder=cards, last_words="pool30")
    engine_run(run, LocalEngine(2, ("3", "GPU-b")), mood=mood)
    seen = mood.workers()
    assert seen.keys() == {"3", "GPU-b"}
    assert sorted(seen.values()) == [1, 2], "the one that took a dead one's place has its card"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "3,GPU-b"
    assert contents(run) == here


def test_without_cards_workers_see_what_this_process_sees(here, tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    cards = tmp_path / "cards"
    cards.mkdir()
    run, mood = start(tmp_path / "run"), Located("mood", LABELS, folder=cards)
    engine_run(run, LocalEngine(2), mood=mood)
    assert mood.workers().keys() == {"all"}
    assert contents(run) == here


def test_each_card_has_one_worker():
    with pytest.raises(ConfigError, match=r"3 worker\(s\) for 2 card\(s\)"):
        LocalEngine(3, ("0", "1"))


def test_a_full_device_is_told_as_it_is_by_a_worker(tmp_path):
    """The error has come through a pipe: pickled, and whole."""
    with pytest.raises(DeviceMemoryError, match=r"cuda:0 has not enough memory; lower labelling_pieces \(now 600\)"):
        engine_run(start(tmp_path / "run"), LocalEngine(2), mood=Full("mood", LABELS))


def test_a_shard_that_ends_every_worker_is_named(here, tmp_path):
    run = start(tmp_path / "run")
    with pytest.raises(RunError, match=f"ended {MOST_DEATHS} workers, the last with code -9"):
        engine_run(run, LocalEngine(workers=1), mood=Fragile("mood", LABELS, last_words="pool10"))
    assert run.result(Label(1, 0)) is not None
    assert run.result(Label(1, 1)) is None
    engine_run(run, None)
    assert contents(run) == here


def test_a_stopped_run_goes_on_where_it_stood_with_any_engine(here, tmp_path):
    class Stop(Silence):
        def started(self, step):
            begun.append(step)
            if step == Label(1, 3):
                raise KeyboardInterrupt

    begun = []
    run = start(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        engine_run(run, None, listener=Stop())
    assert run.result(Label(1, 2)) is not None
    before = (run.folder / "phases" / "label-1-00002.json").read_bytes()
    engine_run(run, LocalEngine(workers=2))
    assert (run.folder / "phases" / "label-1-00002.json").read_bytes() == before
    assert contents(run) == here


def test_a_bug_in_a_model_is_told_and_not_tried_again(tmp_path):
    run = start(tmp_path / "run")
    with pytest.raises(RunError, match="a model with a bug"):
        engine_run(run, LocalEngine(workers=1), mood=Failing("mood", LABELS))


def test_what_cannot_be_sent_is_said_before_anything_starts():
    with pytest.raises(ConfigError, match="cannot be sent to other processes"):
        packed(LabelWork({}, {}, [FRIENDS], "mean", audit=lambda task, prediction: None))


class Backwards:
    """Finishes the last shard it was given first."""

    def __init__(self, slots):
        self.slots, self.with_them, self.most_held, self.given = slots, [], 0, 0

    def begin(self, number, source):
        self.with_them.append((number, Labelled(source, 0)))
        self.most_held = max(self.most_held, number + 1 - self.given)
        assert len(self.with_them) <= self.slots

    def finished(self):
        return [self.with_them.pop()]


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_results_come_in_order_and_few_are_held(slots):
    crew, found = Backwards(slots), []
    for labelled in in_order(crew, iter(range(40))):
        found.append(labelled.rows)
        crew.given += 1
    assert found == list(range(40))
    assert crew.most_held <= (1 + AHEAD) * slots + 1


def test_pace_counts_what_this_process_has_seen():
    class Ear(Silence):
        def paced(self, step, pace):
            heard.append((step, pace))

    heard, now = [], [100.0]
    steps = [Train("a", 0), *(Label(1, n) for n in range(5)), Select(1)]
    keeper = Teller(Ear(), steps, steps[:2], clock=lambda: now[0])
    for number, step in enumerate(steps):
        keeper.started(step)
        now[0] += 2.0
        keeper.finished(step, {"units": 30} if isinstance(step, Label) else {})
        assert number > 1 or not heard
    assert [step for step, _ in heard] == steps[2:6]
    assert heard[1][1] == Pace(shards=5, shards_done=3, shards_before=1, units=60, seconds=4.0)
    assert heard[1][1].units_per_second == 15.0
    assert heard[1][1].seconds_left == 4.0
    assert heard[-1][1].seconds_left == 0.0


def test_the_loop_tells_the_pace(tmp_path):
    class Ear(Silence):
        def paced(self, step, pace):
            heard.append((step, pace.shards_done, pace.units))

    heard = []
    engine_run(start(tmp_path / "run"), None, shard_size=25, listener=Ear(), iterations=1)
    assert heard == [(Label(1, 0), 1, 50), (Label(1, 1), 2, 100), (Label(1, 2), 3, 120)]


def test_workers_end_when_nobody_listens_any_more():
    task = ToyTask("mood", LABELS)
    task.weights = np.ones((4, 2))
    results = LocalEngine(workers=1).labelled(LabelWork({"mood": task}, {}, [], "mean"), iter([InMemory(pool())] * 50))
    assert next(results).inputs == len(pool())
    assert len(multiprocessing.active_children()) == 1
    results.close()
    assert multiprocessing.active_children() == []


def sharded(folder, lines):
    folder.mkdir()
    (folder / "points.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return open_pool(str(folder), shard_size=7, parse=parse_point)


@pytest.mark.parametrize("engine", [None, LocalEngine(workers=2)], ids=["here", "two"])
def test_a_pool_in_files_gives_the_same_bytes_as_one_in_memory(here, tmp_path, engine):
    run = start(tmp_path / "run")
    engine_run(run, engine, inputs=sharded(tmp_path / "pool", [point_line(point) for point in pool()]))
    assert contents(run) == here


def test_broken_inputs_are_set_aside_and_counted(tmp_path):
    lines = [point_line(point) for point in pool()[:30]]
    lines[3], lines[17] = "{", '{"id": "pool17", "x": [1]}'
    inputs, run = sharded(tmp_path / "pool", lines), start(tmp_path / "run")
    engine_run(run, None, inputs=inputs)
    assert run.require(Label(1, 0)) == {"inputs": 6, "units": 12, "set_aside": 1}
    assert run.require(Label(1, 1)) == {"inputs": 7, "units": 14}
    assert {row["input"] for row in run.store.read(1).to_pylist()} == {p.id for p in pool()[:30]} - {"pool3", "pool17"}
    found = [json.loads(line) for path in sorted(run.folder.glob("set-aside/*")) for line in path.open()]
    place = str(tmp_path / "pool" / "points.jsonl")
    assert found == [
        {"path": place, "line": 4, "reason": "broken JSON"},
        {"path": place, "line": 18, "reason": "x: three numbers were expected, got [1]"},
    ]


def test_memory_does_not_grow_with_the_pool(tmp_path):
    """Peak of what Python holds while it labels and selects, ten times as many inputs apart; opened beforehand.

    A pool held whole would cost hundreds of bytes for each further input. What may grow is a few lists with an entry
    per shard of a thousand, and the peak depends on when garbage is collected: hence twenty bytes, and not zero.
    """
    few, many = 2_000, 20_000
    _peak_of_labelling(tmp_path, 100)  # what the first run imports is not counted
    grown = _peak_of_labelling(tmp_path, many) - _peak_of_labelling(tmp_path, few)
    assert grown < 20 * (many - few)


def _peak_of_labelling(folder: Path, count: int) -> int:
    run = start(folder / str(count))
    (folder / f"pool{count}").mkdir()
    with (folder / f"pool{count}" / "a.jsonl").open("w") as file:
        for number in range(count):
            file.write(point_line(Point(f"pool{number}", (number % 7 - 3.0, number % 5 - 2.0, 0.5))) + "\n")
    inputs = open_pool(str(folder / f"pool{count}"), shard_size=1000, parse=parse_point)
    plans = {"mood": plan("mood", iterations=1, selectors=[Selector(TopN(20), confidence_weight=1.0)])}
    tracemalloc.start()
    friend_train(run, plans, [], inputs, settings=LoopSettings(seed=5, iterations=1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.require(Select(1))["tasks"]["mood"]["units"] == count
    return peak
