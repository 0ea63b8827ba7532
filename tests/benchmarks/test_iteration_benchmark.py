"""The straightforward loop as a task: it says what ours says, learns, sees as many units; and the tables made of it."""

import json
from pathlib import Path

import iteration
import pytest
import same_scores
import straightforward_loop
import torch
import workloads
from straightforward_task import StraightforwardTask

from friend_training.core.task import FitPlan, PseudoLabel
from friend_training.nn.encoder import ByteDropout, load_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings


@pytest.fixture(params=(0, 1), ids=("csrl", "rewriting"))
def both(
    request: pytest.FixtureRequest, tiny_encoder: Path
) -> tuple[TorchTask, StraightforwardTask, workloads.Workload]:
    workload = workloads.synthetic_workloads(8)[request.param]
    task = workload.make_task(tiny_encoder, TrainingSettings())
    torch.manual_seed(0)
    task.network = task.definition.network(load_encoder(tiny_encoder))
    return task, StraightforwardTask(task), workload


def test_it_says_what_ours_says(both: tuple[TorchTask, StraightforwardTask, workloads.Workload]) -> None:
    ours, theirs, workload = both
    inputs = ours.definition.inputs_of(workload.examples)
    said = [[(p.unit, p.label) for p in units] for units in ours.predict(inputs)]
    assert said == [[(p.unit, p.label) for p in units] for units in theirs.predict(inputs)]
    assert theirs.evaluate(workload.examples) == pytest.approx(dict(ours.evaluate(workload.examples)))


def test_it_takes_as_many_units_and_learns_them(
    both: tuple[TorchTask, StraightforwardTask, workloads.Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs, workload = both
    predicted = ours.predict(ours.definition.inputs_of(workload.examples))
    pseudo = [
        PseudoLabel(example.dialogue, one.unit, one.label, 0.5)
        for example, units in zip(workload.examples, predicted, strict=True)
        for one in units
    ]
    units = sum(ours.definition.units_in(example) for example in workload.examples)
    weights: list[float] = []
    step = straightforward_loop._step

    def watched(definition, network, items, optimizer, settings):  # type: ignore[no-untyped-def]
        weights.extend(definition.collate(items).weights.tolist())
        return step(definition, network, items, optimizer, settings)

    monkeypatch.setattr(straightforward_loop, "_step", watched)
    before = {name: weight.clone() for name, weight in ours.network.state_dict().items()}
    plan = FitPlan(seed=1, steps=2)
    theirs.fit(workload.examples, pseudo, dev=workload.examples[:2], plan=plan)
    assert {0.5, 1.0} == set(weights)
    items = len(ours.definition.gold_items(workload.examples)) * 2
    assert len(weights) == pytest.approx(2 * straightforward_loop.TRAINING_BATCH * 2 * units / items, rel=0.35)
    assert any(not torch.equal(weight, before[name]) for name, weight in ours.network.state_dict().items())
    assert not any(isinstance(module, ByteDropout) for module in ours.network.modules())


def test_the_table_of_an_iteration(tmp_path: Path) -> None:
    records = [
        {
            "loop": "ours",
            "seconds": {"label": 10.0, "train": 20.0},
            "total": 30.0,
            "dev": {"csrl": 40.0, "rewriting": 20.0},
        },
        {
            "loop": "straightforward",
            "seconds": {"label": 30.0, "train": 30.0},
            "total": 60.0,
            "dev": {"csrl": 41.0, "rewriting": 19.0},
        },
        {"loop": "ours, profiled", "total": 50.0, "parts": {"networks, forward": 40.0, "the rest": 10.0}},
    ]
    path = tmp_path / "iteration.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    printed = iteration.tables(path)
    assert "| label | 10.0 | 30.0 | 3.00 |" in printed
    assert "| total | 30.0 | 60.0 | 2.00 |" in printed
    assert "| networks, forward | 40.0 | 80% |" in printed


def test_the_table_of_scores(tmp_path: Path) -> None:
    made = [("ours", 1, 50.0), ("ours", 2, 54.0), ("straightforward", 1, 51.0)]
    path = tmp_path / "same_scores.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"data": "here", "task": "csrl", "loop": loop, "seed": seed, "cpu_seconds": 2.0, "dev": {"f1": f1}}
            )
            + "\n"
            for loop, seed, f1 in made
        )
    )
    printed = same_scores.table(path)
    assert "| csrl, here | ours | 2 | f1 52.0 ± 2.8 | 2 |" in printed
    assert "| csrl, here | straightforward | 1 | f1 51.0 | 2 |" in printed
