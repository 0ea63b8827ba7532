"""Benchmarks of the first answer, of memory and beside setfit: what they count, and their tables."""

import os
import sys
from pathlib import Path

import first_answer
import memory
import pytest
import setfit_beside

from friend_training.types import Text


def test_seconds_of_the_processor_are_those_of_the_command() -> None:
    assert 0 < first_answer.processor_seconds([sys.executable, "-c", "sum(range(10**6))"]) < 60


def test_the_table_of_first_answers_is_of_the_last_run() -> None:
    records = [
        {"run": "a", "what": "show", "cpu_seconds": [9.0]},
        {"run": "b", "what": "show", "cpu_seconds": [1.0, 3.0, 2.0]},
    ]
    assert first_answer.table(records).splitlines()[2:] == ["| show | 2.0 | 1.0 |"]


def test_a_step_has_its_highest_peak_and_what_is_held_last() -> None:
    def record(run: str, step: str, peak: int, after: int) -> dict[str, object]:
        return {"run": run, "method": "fdt", "step": step, "peak_mb": peak, "after_mb": after}

    records = [
        record("a", "select-1", 9000, 9000),
        record("b", "label-1-00000", 1200, 900),
        record("b", "label-1-00001", 1100, 950),
        record("b", "tidy-1", 5000, 5000),
        record("b", "train-csrl-2", 1500, 1000),
    ]
    assert memory.table(records).splitlines()[2:] == [
        "| labelling a shard, iteration 1 | 1,200 | 950 |",
        "| training csrl, iteration 2 | 1,500 | 1,000 |",
    ]


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="Linux only")
def test_what_is_held_is_no_more_than_the_peak() -> None:
    assert 0 < memory.held("VmRSS") <= memory.held("VmHWM")


@pytest.mark.realdata
def test_texts_beside_setfit_are_as_many_of_each_label_and_none_is_in_dev() -> None:
    gold, dev = setfit_beside.texts(Path(os.environ["FRIEND_TRAINING_DATA"]), 10, 30, seed=1)
    assert [label for _, label in gold] == ["0", "1"] * 5
    assert len(dev) == 30
    assert not {text.id for text, _ in gold} & {text.id for text, _ in dev}


def test_ours_beside_setfit_learns_and_is_scored(tiny_encoder: Path) -> None:
    examples = [(Text(str(number), "好" if number % 2 else "坏"), str(number % 2)) for number in range(8)]
    seconds, right = setfit_beside.ours(tiny_encoder, examples, examples, steps=2, batch=4, seed=1)
    assert seconds > 0
    assert 0 <= right <= 1
