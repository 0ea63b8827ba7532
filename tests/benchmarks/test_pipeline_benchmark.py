"""Our labelling beside a pipeline: both see the same characters, and ratios are taken within a round."""

from dataclasses import replace
from pathlib import Path

import pipeline
import pipeline_records
import pytest
from pipeline_records import Record


def test_texts_fit_and_keep_all_turns() -> None:
    dialogues = pipeline.texts_as_dialogues(20)
    assert dialogues
    for one in dialogues:
        text = pipeline.text_of(one)
        assert len(text) == sum(1 + len(turn.text) for turn in one.turns) <= pipeline.MAX_LENGTH
        assert text.endswith("我" + one.utterance.text)
        assert len(one.predicates) == 1


def test_a_tiny_measurement(tmp_path: Path, tiny_encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "pipeline.jsonl"
    pipeline.main(["--encoder", str(tiny_encoder), "--texts", "6", "--rounds", "2", "--results", str(results)])
    records = pipeline_records.read(results)
    names = [(record.loop, record.batch_size) for record in records]
    one_round = [("tagging", None), ("csrl", None), *(("pipeline", size) for size in pipeline.BATCH_SIZES)]
    assert names == [*one_round, *reversed(one_round)]
    assert all(record.labels == 17 and record.cpu_seconds > 0 and record.pieces > record.texts for record in records)
    assert capsys.readouterr().out.count("pipeline, batch") == 3


def test_ratios_are_taken_within_a_round() -> None:
    first = Record("b", 0, "tagging", None, "e", 17, 10, 99, 2.0, 1.0, "2", "5", 2, 0.0)
    rows = [
        replace(first, run="a", loop="pipeline", batch_size=8, cpu_seconds=99.0),
        first,
        replace(first, loop="pipeline", batch_size=8, cpu_seconds=3.0),
        replace(first, round=1, loop="pipeline", batch_size=8, cpu_seconds=20.0, seconds=40.0),
        replace(first, round=1, cpu_seconds=4.0, seconds=8.0),
    ]
    ours, theirs = pipeline_records.rows(rows)
    assert (ours.name, ours.slower_cpu, ours.rounds) == ("ours, tagging", 1.0, 2)
    assert (theirs.name, theirs.slower_cpu, theirs.slower) == ("pipeline, batch 8", 4.0, 3.0)
