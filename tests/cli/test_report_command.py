"""friend-train report, and that every run leaves one."""

from pathlib import Path

from helpers.command import FriendTrain
from helpers.old_run import without_digests


def test_a_run_leaves_its_report(friend_train: FriendTrain, finished: Path) -> None:
    text = (finished / "report.html").read_text(encoding="utf-8")
    assert "tiny" in text
    assert "not finished" not in text
    assert 'class="predicate"' in text, "labels stand in their dialogues"
    assert str(finished) not in text, "nothing tells whose machine it was"
    assert f"Look at it in a browser: {finished / 'report.html'}" in friend_train("resume", finished).out


def test_report_writes_it_again_or_elsewhere(friend_train: FriendTrain, copy: Path, tmp_path: Path) -> None:
    written = (copy / "report.html").read_bytes()
    (copy / "report.html").unlink()
    assert f"friend-train report {copy}" in friend_train("resume", copy).out
    said = friend_train("report", copy)
    assert (said.code, said.out) == (0, f"The report is {copy / 'report.html'}\n")
    assert (copy / "report.html").read_bytes() == written
    assert friend_train("report", copy / "methods" / "fdt", "--out", tmp_path / "fdt.html").code == 0
    assert "tiny: FDT" in (tmp_path / "fdt.html").read_text(encoding="utf-8")


def test_a_run_that_kept_no_texts_reads_its_data_again(friend_train: FriendTrain, copy: Path) -> None:
    written = (copy / "report.html").read_bytes()
    for name in ("inputs.parquet", "gold.parquet"):
        (copy / name).unlink()
    assert friend_train("report", copy).code == 0
    assert (copy / "report.html").read_bytes() == written


def test_where_the_data_are_other_ones_there_are_no_texts(friend_train: FriendTrain, copy: Path) -> None:
    (copy / "inputs.parquet").unlink()
    without_digests(copy)
    prints = copy / "fingerprints.json"
    prints.write_text(prints.read_text(encoding="utf-8").replace('"pool": "', '"pool": "0'), encoding="utf-8")
    said = friend_train("report", copy)
    assert said.code == 0
    assert "labels without their texts" in said.err
    assert "made from other data: pool" in said.err
    assert 'class="predicate"' not in (copy / "report.html").read_text(encoding="utf-8")


def test_a_folder_that_is_no_run(friend_train: FriendTrain, tmp_path: Path) -> None:
    said = friend_train("report", tmp_path)
    assert said.code == 2
    assert "not a run folder" in said.err
