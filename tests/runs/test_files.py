import errno
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from friend_training.errors import ConfigError, RunError
from friend_training.runs import files
from friend_training.runs.files import (
    atomic_file,
    atomic_folder,
    check_output,
    explain_full_disk,
    one_at_a_time,
    write_text,
)
from helpers import patience


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
    with pytest.raises(KeyboardInterrupt), atomic_folder(folder, replace=True) as temporary:
        _write_and_stop(temporary / "b")
    assert [found.name for found in folder.parent.rglob("*")] == ["folder", "a"]
    with atomic_folder(folder, replace=True) as temporary:
        (temporary / "c").write_text("3")
    assert [found.name for found in folder.iterdir()] == ["c"]


def _unfinished_by(process):
    return f".friend-training-{files._HOST}-{process}-{'0' * 16}.tmp"


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    left, living = _unfinished_by(killed.pid), _unfinished_by(os.getppid())
    (tmp_path / left).mkdir()
    (tmp_path / left / "old").write_text("left over")
    (tmp_path / living).write_text("being written")
    with atomic_folder(tmp_path / "folder") as temporary:
        (temporary / "new").write_text("1")
    assert sorted(path.name for path in tmp_path.rglob("*")) == [living, "folder", "new"]


def test_what_is_not_ours_is_never_touched(tmp_path):
    """A user's own `out.jsonl.tmp` and `folder.tmp` were deleted once: so our own were called."""
    (tmp_path / "out.jsonl.tmp").write_text("mine")
    (tmp_path / "folder.tmp").mkdir()
    (tmp_path / "folder.tmp" / "thesis.txt").write_text("mine")
    write_text(tmp_path / "out.jsonl", "new")
    with atomic_folder(tmp_path / "folder") as temporary:
        (temporary / "new").write_text("1")
    assert (tmp_path / "out.jsonl.tmp").read_text() == "mine"
    assert (tmp_path / "folder.tmp" / "thesis.txt").read_text() == "mine"


def test_only_regular_files_are_replaced(tmp_path):
    (tmp_path / "target").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path, kind in (("link", "a link"), ("folder", "a folder"), ("pipe", "a pipe")):
        with pytest.raises(ConfigError, match=f"is {kind}, and only a regular file"):
            write_text(tmp_path / path, "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "target").read_text() == "before"


def test_a_device_is_never_replaced(device):
    for write in (lambda: write_text(device, "new"), lambda: check_output(device, force=True)):
        with pytest.raises(ConfigError, match="is a device, and only a regular file"):
            write()
    assert device.is_char_device()


def test_only_folders_of_our_own_are_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name, message in (("folder", "holds something"), ("link", "is a link")):
        with pytest.raises(ConfigError, match=message), atomic_folder(tmp_path / name):
            raise AssertionError("begun")
    assert (tmp_path / "folder" / "thesis.txt").read_text() == "mine"
    with atomic_folder(tmp_path / "folder", replace=True) as temporary:
        (temporary / "new").write_text("1")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "link", "new"]


def test_new_files_have_the_mode_that_the_umask_gives(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "1")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_an_output_that_is_there_is_replaced_only_if_asked(tmp_path):
    check_output(tmp_path / "new", force=False)
    (tmp_path / "old").write_text("")
    check_output(tmp_path / "old", force=True)
    with pytest.raises(ConfigError, match="old is already there; --force replaces it"):
        check_output(tmp_path / "old", force=False)


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
