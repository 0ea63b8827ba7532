"""The speed benchmark: both loops do the same work and say the same, and every measurement leaves a record."""

import json
from copy import deepcopy
from dataclasses import fields
from pathlib import Path

import loops
import pytest
import speed
import speed_records
import straightforward_loop
import torch
import workloads
from torch import Tensor

from friend_training.nn.encoder import load_encoder
from friend_training.nn.heads import unit_losses
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings

DIALOGUES = 24


@pytest.fixture(scope="module", params=(0, 1), ids=("csrl", "rewriting"))
def at_work(request: pytest.FixtureRequest, tiny_encoder: Path) -> tuple[TorchTask, workloads.Workload]:
    """An untrained network: it says something about every unit, and impossible tag sequences among it."""
    workload = workloads.synthetic_workloads(DIALOGUES)[request.param]
    task = workload.make_task(tiny_encoder, TrainingSettings())
    torch.manual_seed(0)
    task.network = task.definition.network(load_encoder(tiny_encoder))
    return task, workload


def test_both_loops_say_the_same(at_work: tuple[TorchTask, workloads.Workload]) -> None:
    made = loops.labelling_loops(*at_work)
    ours, theirs = (made[name]().predictions for name in ("ours", "straightforward"))
    assert ours is not None
    assert theirs is not None
    assert [(one.unit, one.label, one.content) for one in ours] == [
        (one.unit, one.label, one.content) for one in theirs
    ]
    assert [one.confidence for one in ours] == pytest.approx([one.confidence for one in theirs], rel=1e-4)
    assert speed.same_labels(ours, theirs) == 1.0
    assert speed.same_labels(ours, [*theirs[1:], theirs[0]]) < 1.0  # type: ignore[operator]
    assert any(one.content for one in ours)


def test_both_loops_lose_the_same(at_work: tuple[TorchTask, workloads.Workload], tokenizer: Tokenizer) -> None:
    """Without dropout, the loss of a unit does not depend on its neighbours, its own pass or the padding."""
    task, workload = at_work
    task.network.eval()

    def losses(batch: object) -> Tensor:
        with torch.no_grad():
            return unit_losses(task.network(batch), batch.targets)  # type: ignore[attr-defined]

    together = task.definition.collate(task.definition.gold_items(workload.examples))
    apart = task.definition.collate(
        task.definition.gold_items([one for example in workload.examples for one in workload.one_by_one(example)])
    )
    padded = straightforward_loop.padded(apart, tokenizer.pad_id)
    assert padded.ids.shape == (len(padded.weights), straightforward_loop.LENGTH)
    torch.testing.assert_close(losses(padded), losses(together), rtol=1e-4, atol=1e-5)


def test_both_loops_train_the_same_units_and_learn(at_work: tuple[TorchTask, workloads.Workload]) -> None:
    task, workload = at_work
    before = {name: weight.clone() for name, weight in task.network.state_dict().items()}
    done = [loop() for loop in loops.training_loops(task, workload).values()]
    assert done[0].examples == done[1].examples >= done[0].dialogues
    assert all(one.watch.seconds > 0 and one.watch.cpu_seconds > 0 for one in done)
    assert all(torch.equal(task.network.state_dict()[name], weight) for name, weight in before.items())


def test_the_straightforward_optimizer_moves_all_weights(at_work: tuple[TorchTask, workloads.Workload]) -> None:
    """Rows of the embeddings that no batch touches too: weight decay reaches them, and that is what it costs."""
    task, workload = at_work
    network = deepcopy(task.network)
    items = task.definition.gold_items([one for example in workload.examples for one in workload.one_by_one(example)])
    assert straightforward_loop.train_one_by_one(task.definition, network, items, task.settings, seed=1) == len(items)
    for (name, moved), weight in zip(network.named_parameters(), task.network.parameters(), strict=True):
        assert moved.grad is None or not moved.grad.is_sparse, name
        if name.endswith("word_embeddings.weight"):
            touched = (moved != weight).any(dim=1)
            assert touched.sum() > 0.9 * len(touched)


def test_the_whole_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "speed.jsonl"
    monkeypatch.setattr(speed, "TAUGHT_STEPS", 3)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)  # two that wait for each other take minutes
    speed.main(["--synthetic", "--rounds", "2", "--dialogues", "8", "--results", str(results)])
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert all(set(line) == {field.name for field in fields(speed_records.Record)} for line in lines)
    measured = [(line["task"], line["what"], line["round"], line["loop"], line["threads"]) for line in lines]
    assert len(measured) == len(set(measured)) == 2 * 2 * 2 * len(speed.TURNS)
    assert [m[3:] for m in measured[:8]] == [*speed.TURNS, *reversed(speed.TURNS)]
    assert {line["same_labels"] for line in lines if line["what"] == "labelling"} == {1.0}
    assert {line["same_labels"] for line in lines if line["what"] == "training"} == {None}
    assert all(line["seconds"] > 0 and line["cpu_seconds"] > 0 and line["examples"] > 0 for line in lines)
    shown = capsys.readouterr().out
    speed.main(["--show", "--results", str(results)])
    assert capsys.readouterr().out == shown
    assert [row.split("|")[3].strip() for row in shown.splitlines()[2:]] == [
        "dialogues labelled",
        "predicates trained",
        "dialogues labelled",
        "utterances trained",
    ]


def _record(loop: str, threads: int, round: int, seconds: float, run: str = "b") -> speed_records.Record:
    return speed_records.Record(
        run=run, encoder="e", task="csrl", data="d", fingerprint="f", labelling_pieces=9, torch="2", cores=2,
        what="training", loop=loop, threads=threads, round=round, dialogues=10, examples=20, seconds=seconds,
        cpu_seconds=2 * seconds, added_mb=None, same_labels=None, load=1.0,
    )  # fmt: skip


def test_ratios_are_taken_within_rounds_of_the_last_run() -> None:
    """The machine is three times slower in the second round, and ten times slower in an earlier run."""
    records = [_record(loop, threads, 0, 10.0, run="a") for loop, threads in speed.TURNS]
    for number, slow in enumerate((1.0, 3.0, 1.0)):
        records += [
            _record("ours", 1, number, 1.0 * slow),
            _record("ours", 2, number, 0.5 * slow),
            _record("straightforward", 1, number, 4.0 * slow),
            _record("straightforward", 2, number, 2.0 * slow),
        ]
    header, _, row = speed_records.table(records).splitlines()
    cells = dict(zip(speed_records.COLUMNS, [cell.strip() for cell in row.strip("|").split("|")], strict=True))
    assert cells["ours, 1 thread"] == "20.0"
    assert cells["straightforward, 2 threads"] == "10.0"
    assert cells["ours 1 : theirs 2"] == "2.00"
    assert cells["ours 2 : theirs 2"] == "4.00"
    assert cells["ours 1 : theirs 1, processor time"] == "4.00"
    assert header.count("|") == row.count("|")
