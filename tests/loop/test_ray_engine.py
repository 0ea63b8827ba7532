"""Ray on two local nodes: the same bytes as this process makes alone, also when a worker or a node is killed half-way.

`make test-ray` runs them. When all is done no process of the cluster may be left.
"""

import os
import sys
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from friend_training.errors import MissingPackageError, RunError
from friend_training.loop.engines.ray import RayEngine
from friend_training.runs.progress import Silence
from friend_training.runs.steps import Label
from helpers.engine_runs import Failing, Fragile, Held, Located, engine_run
from helpers.patience import wait_until
from helpers.toy_runs import POLARITY, contents, start

LABELS = list(POLARITY["mood"])
MARK = "FRIEND_TRAINING_TEST_CLUSTER"


def started_under(mark):
    """The processes whose environment has had the mark since they began: not this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:  # it ended meanwhile, or is somebody else's
            continue
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    run = start(tmp_path_factory.mktemp("here") / "run")
    engine_run(run, None, shard_size=3)
    return contents(run)


@pytest.fixture(scope="module")
def cluster():
    """A head without processors for tasks, and two nodes of one processor and one graphics card, or so they say."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'friend-training[ray]'")
    from ray.cluster_utils import Cluster

    # Workers import the helpers by name.
    mark = uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, mark)
        tests = str(Path(__file__).parents[1])
        patch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100_000_000})
        for _ in range(2):
            made.add_node(num_cpus=1, num_gpus=1, object_store_memory=100_000_000)
        assert started_under(mark)
        yield made
        ray.shutdown()
        made.shutdown()
    wait_until(lambda: not started_under(mark), "the end of every process of the cluster")


@pytest.mark.slow
def test_two_nodes_give_the_same_bytes_as_this_process(here, cluster, tmp_path):
    run = start(tmp_path / "run")
    engine_run(run, RayEngine(address=cluster.address), shard_size=3)
    assert contents(run) == here


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_its_shard(here, cluster, tmp_path):
    run, mark = start(tmp_path / "run"), tmp_path / "met"
    mood = Fragile("mood", LABELS, last_words="pool30", mark=mark)
    engine_run(run, RayEngine(address=cluster.address), shard_size=3, mood=mood)
    assert mark.exists()
    assert contents(run) == here


@pytest.mark.slow
def test_a_bug_in_a_model_is_told(cluster, tmp_path):
    with pytest.raises(RunError, match="a model with a bug"):
        engine_run(start(tmp_path / "run"), RayEngine(address=cluster.address), mood=Failing("mood", LABELS))


@pytest.mark.slow
def test_on_cards_there_is_one_worker_per_card(here, cluster, tmp_path):
    cards = tmp_path / "cards"
    cards.mkdir()
    run, mood = start(tmp_path / "run"), Located("mood", LABELS, folder=cards)
    engine_run(run, RayEngine(address=cluster.address, cards=True), shard_size=3, mood=mood)
    assert mood.workers() == {"0": 2}, "each node calls its only card 0"
    assert contents(run) == here


@pytest.mark.slow
def test_on_cards_the_shards_of_a_dead_worker_go_to_the_others(here, cluster, tmp_path):
    cards = tmp_path / "cards"
    cards.mkdir()
    run, mood = start(tmp_path / "run"), Located("mood", LABELS, folder=cards, last_words="pool30")
    engine_run(run, RayEngine(address=cluster.address, cards=True), shard_size=3, mood=mood)
    assert (cards / "met").exists()
    assert mood.workers() == {"0": 2}
    assert contents(run) == here


@pytest.mark.slow
def test_on_cards_a_shard_that_ends_every_worker_ends_the_run_and_a_bug_is_told(cluster, tmp_path):
    engine = RayEngine(address=cluster.address, cards=True)
    with pytest.raises(RunError, match="the worker of every graphics card has died"):
        engine_run(start(tmp_path / "a"), engine, mood=Fragile("mood", LABELS, last_words="pool30"))
    with pytest.raises(RunError, match="a model with a bug"):
        engine_run(start(tmp_path / "b"), engine, mood=Failing("mood", LABELS))


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_node_killed_half_way_loses_nothing_and_doubles_nothing(here, cluster, tmp_path):
    """Both nodes are in the middle of a shard when one of them is killed: that shard, and no other, is begun again."""

    def begun(first):
        found = [path.name.split("-")[1:] for path in tmp_path.glob("begun-*")]
        return [(int(number), pid) for number, pid in found if int(number) >= first]

    class PullThePlug(Silence):
        def finished(self, step):
            if step != Label(1, 8):
                return
            while len({pid for _, pid in begun(first=27)}) < 2:
                time.sleep(0.05)
            workers = {pid for _, pid in begun(first=27)}
            victim = next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)
            cluster.remove_node(victim, allow_graceful=False)
            while all(is_alive(pid) for pid in workers):  # a node's workers die a moment after it
                time.sleep(0.05)
            (tmp_path / "go").write_text("")

    run = start(tmp_path / "run")
    mood = Held("mood", LABELS, folder=tmp_path, held_from=27)
    engine_run(run, RayEngine(address=cluster.address), shard_size=3, mood=mood, listener=PullThePlug())
    assert contents(run) == here
    units = [(row["task"], row["unit"]) for row in run.store.read(1).to_pylist()]
    assert len(set(units)) == len(units) == 2 * 60
    times = Counter(number for number, _ in begun(first=0))
    assert set(times) == set(range(0, 60, 3))
    assert sorted(times.values()) == [1] * 19 + [2]


def test_without_ray_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'friend-training\[ray\]'"):
        engine_run(start(tmp_path / "run"), RayEngine())
