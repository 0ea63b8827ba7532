import errno
import shutil
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import patience
from friend_training.core.files import atomic_file, atomic_folder, explain_full_disk, one_at_a_time, write_text
from friend_training.errors import RunError


def _write_and_stop(path):
    path.write_text("half")
    raise KeyboardInterrupt


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_text(path, "before")
    with pytest.raises(KeyboardInterrupt), atomic_file(path) as temporary:
        _write_and_stop(temporary)
    assert path.read_text() == "before"
    assert [found.name for found in path.parent.iterdir()] == ["file.txt"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "deep" / "folder"
    with atomic_folder(folder) as temporary:
        (temporary / "a").write_text("1")
    with pytest.raises(KeyboardInterrupt), atomic_folder(folder) as temporary:
        _write_and_stop(temporary / "b")
    assert [found.name for found in folder.parent.rglob("*")] == ["folder", "a"]
    with atomic_folder(folder) as temporary:
        (temporary / "c").write_text("3")
    assert [found.name for found in folder.iterdir()] == ["c"]


def test_what_a_killed_process_left_is_overwritten(tmp_path):
    (tmp_path / "folder.tmp").mkdir()
    (tmp_path / "folder.tmp" / "old").write_text("left over")
    with atomic_folder(tmp_path / "folder") as temporary:
        (temporary / "new").write_text("1")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "new"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), RuntimeError("io: No space left on device (os error 28)")]
)
def test_a_full_disk_is_explained(tmp_path, error):
    message = r"no space left on .*my-run; free some and `friend-train resume .*my-run`"
    with pytest.raises(RunError, match=message), explain_full_disk(tmp_path / "my-run"):
        raise error


def test_other_errors_pass(tmp_path):
    with pytest.raises(PermissionError), explain_full_disk(tmp_path):
        raise PermissionError(errno.EACCES, "no")


def test_a_write_that_came_out_short_on_a_full_disk_is_understood(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    with pytest.raises(ValueError), atomic_file(tmp_path / "a") as temporary:
        _write_short(temporary)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=0))
    for atomic in (atomic_file, atomic_folder):
        with pytest.raises(OSError, match="No space left"), atomic(tmp_path / "b") as temporary:
            _write_short(temporary)
    assert list(tmp_path.iterdir()) == []


def _write_short(path):
    raise ValueError(f"{path}: 500 bytes requested and 131 written")


def test_a_folder_that_several_want_at_once_is_made_once(tmp_path):
    folder, come, made = tmp_path / "new" / "shared", [], []

    def make(number):
        come.append(number)
        with one_at_a_time(folder):
            if not folder.exists():
                patience.wait_until(lambda: len(come) == 6, "the others, who want it too")
                with atomic_folder(folder) as new:
                    (new / "by").write_text(str(number))
                made.append(number)
        return (folder / "by").read_text()

    with ThreadPoolExecutor(6) as workers:
        assert set(workers.map(make, range(6))) == {str(made[0])}
    assert len(made) == 1
    assert list(folder.parent.iterdir()) == [folder], "no lock is left behind"


def _add_one(count, times):
    for _ in range(times):
        with one_at_a_time(count):
            count.write_text(str(int(count.read_text()) + 1))


def test_processes_that_come_while_a_lock_is_given_back_wait_too(tmp_path):
    """The file of the lock is removed at its end: those who had it open already must not go by it."""
    count = tmp_path / "count"
    count.write_text("0")
    processes = [get_context("spawn").Process(target=_add_one, args=(count, 40)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert count.read_text() == "120"
    assert list(tmp_path.iterdir()) == [count]
