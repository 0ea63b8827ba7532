"""Files of a run or an encoder that somebody damaged: one line that names the file."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from friend_training.cli.results import _seconds
from friend_training.errors import ConfigError, DataError, RunError
from friend_training.experiments.experiment import seconds_of
from friend_training.experiments.results import read_results
from friend_training.nn.encoder import load_encoder
from friend_training.nn.tokenizer import Tokenizer
from friend_training.report.page import machine, write_report
from friend_training.report.run_reader import read_study
from friend_training.runs.inputs import GOLD, INPUTS, load_counts, save_counts, saved_gold, saved_inputs
from friend_training.runs.run import Run
from friend_training.study.folders import read_records
from helpers.small_run import small_study

DAMAGE = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"1" * 5000, b"[" * 100_000, b'{"a": 1}', b"\x00" * 50]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", "name: a\n", {})


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_json_of_a_run(run: Run, damage: bytes) -> None:
    step = run.folder / "phases" / "test-a.json"
    step.write_bytes(damage)
    for read in (Run.finished, lambda run: _seconds(run, ["training"]), Run.write_metrics):
        with pytest.raises(RunError, match=r"test-a\.json: expected .*; it is damaged"):
            read(run)
    method = run.folder / "methods" / "fdt" / "phases"
    shutil.copytree(run.folder / "phases", method)
    with pytest.raises(RunError, match=r"test-a\.json"):
        seconds_of(run.folder, "fdt")
    step.unlink()
    for name, read in (("results.jsonl", read_study), ("results.jsonl", read_records), ("metrics.jsonl", read_study)):
        if damage:  # an empty file is one without records
            (run.folder / name).write_bytes(damage)
            with pytest.raises(RunError, match=f"{name}:1: expected .*; it is damaged"):
                read(run.folder)
            (run.folder / name).unlink()
    if damage:
        (run.folder / "results.jsonl").write_bytes(damage)
        with pytest.raises(DataError, match=r"results\.jsonl"):
            read_results(run.folder)
    if damage != b'{"a": 1}':  # it says other things about the machine, and that is all
        (run.folder / "environment.json").write_bytes(damage)
        with pytest.raises(RunError, match=r"environment\.json: .* it is damaged"):
            machine(run.folder)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_tables_of_a_run(run: Run, damage: bytes) -> None:
    for name in (INPUTS, GOLD):
        (run.folder / name).write_bytes(damage)
    with pytest.raises(RunError, match=f"{INPUTS}: expected the columns id and input; it is damaged"):
        saved_inputs(run.folder, ["a"])
    with pytest.raises(RunError, match=f"{GOLD}: expected the columns task and label; it is damaged"):
        saved_gold(run.folder, "csrl")
    (run.folder / "counts.npz").write_bytes(damage)
    with pytest.raises(RunError, match=r"counts\.npz: expected the counts of a result; it is damaged"):
        load_counts(run.folder / "counts.npz")


def test_a_report_while_a_selection_is_to_be_made_again(tmp_path: Path) -> None:
    """As `verify` advises: the record of the step is removed, what it wrote is still there."""
    study = small_study(tmp_path / "small")
    with_labels = write_report(study).read_text(encoding="utf-8")
    (study / "methods" / "fdt" / "phases" / "select-1.json").unlink()
    without = write_report(study).read_text(encoding="utf-8")
    assert "below threshold" in with_labels
    assert "below threshold" not in without


def test_counts_with_a_flipped_byte(tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    save_counts(path, {"csrl": np.arange(24.0).reshape(2, 12)})
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x11]) + whole[place + 1 :])
        try:
            found = load_counts(path)
        except RunError:
            continue
        assert all(isinstance(values, np.ndarray) for values in found.values())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "config.json"])
def test_a_damaged_encoder(tiny_encoder: Path, tmp_path: Path, name: str, damage: bytes) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    (folder / name).write_bytes(damage)
    with pytest.raises((ConfigError, OSError)):
        _load(folder)


def _load(folder: Path) -> None:
    load_encoder(folder)
    Tokenizer.load(folder)
