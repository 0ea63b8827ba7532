import numpy as np
import pytest

from friend_training.errors import RunError
from friend_training.runs.checkpoints import checkpoint_digest, copy_checkpoint, load_checkpoint, save_checkpoint
from helpers.toy_task import ToyTask


def task(value):
    made = ToyTask("stars", ["one", "two"])
    made.weights = np.full((2, 2), value)
    return made


def test_a_task_comes_back(tmp_path):
    digest = save_checkpoint(task(3.0), tmp_path / "a")
    other = task(0.0)
    load_checkpoint(other, tmp_path / "a", digest=digest)
    assert (other.weights == 3.0).all()


def test_the_digest_is_of_the_contents(tmp_path):
    assert save_checkpoint(task(1.0), tmp_path / "a") == save_checkpoint(task(1.0), tmp_path / "b")
    assert save_checkpoint(task(2.0), tmp_path / "b") != checkpoint_digest(tmp_path / "a")
    assert copy_checkpoint(tmp_path / "a", tmp_path / "c") == checkpoint_digest(tmp_path / "a")
    (tmp_path / "c" / "weights.npy").rename(tmp_path / "c" / "other.npy")
    assert checkpoint_digest(tmp_path / "c") != checkpoint_digest(tmp_path / "a")


def test_damage_and_absence_are_named(tmp_path):
    digest = save_checkpoint(task(1.0), tmp_path / "a")
    save_checkpoint(task(2.0), tmp_path / "a")
    with pytest.raises(RunError, match="damaged"):
        load_checkpoint(task(0.0), tmp_path / "a", digest=digest)
    with pytest.raises(RunError, match="no checkpoint"):
        load_checkpoint(task(0.0), tmp_path / "b")
    with pytest.raises(RunError, match="no checkpoint"):
        copy_checkpoint(tmp_path / "b", tmp_path / "c")


def test_a_save_that_fails_leaves_the_old_checkpoint(tmp_path):
    class Broken(ToyTask):
        def save(self, folder):
            super().save(folder)
            raise OSError("broken")

    digest = save_checkpoint(task(1.0), tmp_path / "a")
    with pytest.raises(OSError, match="broken"):
        save_checkpoint(Broken("stars", ["one"]), tmp_path / "a")
    assert checkpoint_digest(tmp_path / "a") == digest
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
