"""Kill a run (SIGKILL) in every phase, resume it, and compare every byte with the run that was never killed."""

import multiprocessing
import shutil
import signal

import pytest

from friend_training.runs.run import Run
from helpers.toy_runs import Killer, contents, run_and_be_killed, start, two_friends


class _Events(Killer):
    def __init__(self):
        super().__init__(event="")
        self.met = []

    def _meet(self, event):
        self.met.append(event)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run that was never killed, and all moments at which the others will be."""
    run, events = start(tmp_path_factory.mktemp("whole") / "run"), _Events()
    two_friends(run, events)
    return contents(run), events.met


def _be_killed(folder, event):
    # The fork server has imported everything once; its children start in milliseconds and share no threads with us.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["friend_training.loop.algorithm"])
    process = context.Process(target=run_and_be_killed, args=(str(folder), event))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL, event


def test_killed_anywhere_a_run_ends_in_the_same_bits(whole, tmp_path):
    expected, events = whole
    new = start(tmp_path / "new")
    for kind in ("train-", "evaluate-", "label-", "select-", "tidy-", "test-"):
        assert any(event.startswith(f"start {kind}") for event in events)
    for kind in ("train-", "label-", "select-"):
        assert any(event.startswith(f"within {kind}") for event in events)
    for number, event in enumerate(events):
        if event.startswith("end "):
            continue  # the same moment as the start of the next phase
        folder = tmp_path / str(number)
        shutil.copytree(new.folder, folder)
        _be_killed(folder, event)
        assert contents(Run.open(folder)) != expected
        two_friends(Run.open(folder))
        assert contents(Run.open(folder)) == expected, event
        assert not list(folder.rglob("*.tmp")), event


@pytest.mark.parametrize("phase", ["train-stars-1", "label-2-00001", "select-2"])
def test_interrupted_by_hand_a_run_ends_in_the_same_bits(whole, tmp_path, phase):
    class Interrupt(Killer):
        def _meet(self, event):
            if event.startswith(self.event):
                raise KeyboardInterrupt

    run = start(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        two_friends(run, Interrupt(f"within {phase}"))
    assert not list(run.folder.rglob("*.tmp"))
    two_friends(run)
    assert contents(run) == whole[0]


def test_loading_a_checkpoint_or_keeping_it_in_memory_is_the_same(whole, tmp_path):
    """A process per phase: every task is loaded anew each time."""
    events = [event for event in whole[1] if event.startswith("end ")]

    class Interrupt(Killer):
        def _meet(self, event):
            if event == self.event:
                raise KeyboardInterrupt

    run = start(tmp_path / "run")
    for event in events:
        with pytest.raises(KeyboardInterrupt):
            two_friends(run, Interrupt(event))
    two_friends(run)
    assert contents(run) == whole[0]
