"""Bits flipped anywhere in a finished run, and runs killed at any time: refused, or nothing has changed."""

import shutil
import signal
from pathlib import Path

import pytest

from friend_training.errors import FriendTrainingError
from friend_training.report.verification import verify
from friend_training.runs.run import Run
from friend_training.runs.steps import Select
from helpers.toy_faults import everything, files_of, flip, killed_after, make_whole, seeded
from helpers.toy_runs import contents, start, two_friends

SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_whole(tmp_path_factory.mktemp("whole") / "run")


@pytest.mark.parametrize("flips", [40, pytest.param(2000, marks=SLOW)])
def test_a_flipped_bit_is_refused_or_changes_nothing(whole: Path, flips: int) -> None:
    random, before, refused = seeded(), everything(whole), 0
    assert not verify(whole).damages
    files = [path for path in files_of(whole) if path.stat().st_size]
    for number in range(flips):
        path = files[number % len(files)] if number < len(files) else random.choice(files)
        bit = random.randrange(8 * path.stat().st_size)
        flip(path, bit)
        try:
            assert everything(whole) == before, f"bit {bit} of {path}"
            assert not verify(whole).damages or path.suffix in (".json", ".jsonl"), f"bit {bit} of {path}"
        except FriendTrainingError:
            refused += 1
            assert verify(whole).damages, f"bit {bit} of {path}"
        finally:
            flip(path, bit)
    assert everything(whole) == before
    print(f"{flips} bits flipped: {refused} refused, {flips - refused} changed nothing")
    assert refused > 0.9 * flips


@pytest.mark.parametrize("runs", [3, pytest.param(40, marks=SLOW)])
def test_a_flipped_bit_in_a_run_that_goes_on(whole: Path, tmp_path: Path, runs: int) -> None:
    """Half a run is refused when a bit of it is flipped, or ends in the bits of the one that nobody touched."""
    random, expected = seeded(), contents(Run.open(whole))
    for number in range(runs):
        folder = shutil.copytree(whole, tmp_path / str(number))
        for name in ("select-2", "tidy-2", "label-2-00001", "train-mood-2", "train-stars-2", "test-mood", "test-stars"):
            (folder / "phases" / f"{name}.json").unlink()
        path = random.choice([path for path in files_of(folder) if path.stat().st_size])
        flip(path, random.randrange(8 * path.stat().st_size))
        try:
            two_friends(Run.open(folder))
            ended = contents(Run.open(folder))
            everything(folder)
        except FriendTrainingError:
            assert verify(folder).damages, path
            continue
        assert ended == expected, path


@pytest.mark.parametrize("runs", [2, pytest.param(40, marks=SLOW)])
def test_killed_at_any_time_a_run_ends_in_the_same_bits(tmp_path: Path, runs: int) -> None:
    random = seeded()
    whole = start(tmp_path / "whole")
    two_friends(whole)
    chosen = [whole.require(Select(iteration))["tasks"] for iteration in (1, 2)]
    assert all(task["chosen"] for tasks in chosen for task in tasks.values()), "labels of both tasks are trained on"
    kills = 0
    for number in range(runs):
        folder = start(tmp_path / str(number)).folder
        ended = None
        for _ in range(random.randint(1, 5)):
            ended = killed_after(folder, random.uniform(0, 0.8))
            kills += ended == -signal.SIGKILL
            assert ended in (0, -signal.SIGKILL)
        two_friends(Run.open(folder))
        assert contents(Run.open(folder)) == contents(whole), f"run {number}"
        assert not list(folder.rglob("*.tmp"))
        assert not verify(folder).damages
        assert (folder / "manifest.json").read_bytes() == (whole.folder / "manifest.json").read_bytes()
    print(f"{runs} runs killed {kills} times")


def test_what_can_be_made_again_is_made_again(whole: Path, tmp_path: Path) -> None:
    """What verify says to remove is removed, the run resumed: every byte is there again."""
    expected = contents(Run.open(whole))
    for number, name in enumerate(sorted(expected)):
        if name == "metrics.jsonl":
            continue
        folder = shutil.copytree(whole, tmp_path / str(number))
        flip(folder / name, 8 * ((folder / name).stat().st_size // 2))
        [damage] = verify(folder).damages
        assert name.removesuffix("/weights.npy") in damage.problem
        for path in damage.remove:
            path.unlink()
        two_friends(Run.open(folder))
        assert contents(Run.open(folder)) == expected, name
        assert not verify(folder).damages
