"""What was tried for speed: other ways through the network say what the network says, and int8 nearly so."""

from pathlib import Path

import pytest
import torch
import tried
import workloads
from record_lines import append_line

from friend_training.nn.encoder import load_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings


@pytest.fixture(params=(0, 1), ids=("csrl", "rewriting"))
def task_and_pool(request: pytest.FixtureRequest, tiny_encoder: Path) -> tuple[TorchTask, list[object]]:
    workload = workloads.synthetic_workloads(6)[request.param]
    task = workload.make_task(tiny_encoder, TrainingSettings())
    torch.manual_seed(0)
    task.network = task.definition.network(load_encoder(tiny_encoder))
    return task, list(task.definition.inputs_of(workload.examples))


def test_onnx_says_the_same(task_and_pool: tuple[TorchTask, list[object]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SURE", 0.0)
    found = tried.forward(*task_and_pool, "onnx")
    assert (found["what"], found["same_labels"], found["jaccard"]) == ("onnx", 1.0, 1.0)
    assert found["times_as_fast"] > 0


def test_bf16_says_nearly_the_same(
    task_and_pool: tuple[TorchTask, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    task, pool = task_and_pool
    monkeypatch.setattr(tried, "SURE", 0.0)
    before = task.predict(pool)
    assert tried.forward(task, pool, "bf16")["same_labels"] > 0.7
    assert task.predict(pool) == before, "the task itself is left as it was"


def test_other_logits_are_other_labels(
    task_and_pool: tuple[TorchTask, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared is what the other way says, not ours twice."""
    task, pool = task_and_pool
    monkeypatch.setattr(tried, "SURE", 0.0)
    monkeypatch.setitem(
        tried.WAYS, "wrong", lambda task, scratch: lambda batch: [-head.logits for head in task.network(batch)]
    )
    assert tried.forward(task, pool, "wrong")["same_labels"] < 0.7


def test_batches_of_any_size_label_the_same_units(task_and_pool: tuple[TorchTask, list[object]]) -> None:
    task, pool = task_and_pool
    found = tried.batches(task, pool)
    assert found["dialogues"] == len(pool) <= found["units"] + sum(not units for units in task.predict(pool))
    assert all(found[f"seconds_{pieces}"] >= 0 for pieces in tried.PIECES)


def test_dropout_is_timed_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tried.main(["dropout", "--results", str(tmp_path / "tried.jsonl")])
    assert " ms by bytes, " in capsys.readouterr().out


def test_the_table_has_the_last_of_each(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    for speed in (1.0, 1.5):
        measured = {"times_as_fast": speed, "same_labels": 0.61, "jaccard": 0.453}
        append_line(path, {"what": "int8", "task": "csrl", "dialogues": 100, **measured})
    rows = tried.table(path).splitlines()
    assert rows[2:] == ["| int8 | csrl | 100 | 1.5 times as fast, 61% of labels, overlap 0.45 |"]
