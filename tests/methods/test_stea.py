"""Three models in sequence, each the teacher of the next, on labels that are half hard and half soft."""

import pytest
import torch
from safetensors.torch import load_file

from friend_training.loop.algorithm import LoopSettings
from friend_training.methods import self_teaching as module
from friend_training.methods.self_teaching import SelfTeaching, stea
from friend_training.methods.update import merged_labels
from friend_training.runs.steps import Train
from helpers.tiny import plan, pool
from helpers.toy_runs import start


def test_merged_labels_are_a_share_of_hard_and_the_rest_of_soft():
    merged = merged_labels([torch.tensor([[1]])], [torch.tensor([[[0.5, 0.3, 0.2]]])], 0.5)
    assert merged[0].flatten().tolist() == pytest.approx([0.25, 0.65, 0.1])


def test_junior_teaches_senior_and_senior_teaches_the_expert(encoder, tmp_path, monkeypatch):
    lessons = []
    targets = SelfTeaching._targets

    def spy(self, teacher, batch, gold):
        weights = {name: weight.clone() for name, weight in teacher.state_dict().items()}
        lessons.append((weights, teacher.training))
        return targets(self, teacher, batch, gold)

    monkeypatch.setattr(SelfTeaching, "_targets", spy)
    run = start(tmp_path / "run")
    outcome = stea(run, {"csrl": plan(encoder, "csrl")}, pool(), settings=LoopSettings(seed=3, iterations=3))
    assert len(outcome["csrl"].dev) == 3  # junior teacher, senior teacher, expert student
    steps = [run.require(Train("csrl", number))["steps"] for number in (1, 2)]
    assert steps == [5, 5]  # three iterations of three steps, shared by two models, rounded up
    assert len(lessons) == 2 * sum(steps)
    models = [load_file(run.checkpoint("csrl", number) / "model.safetensors") for number in (0, 1)]
    assert not torch.equal(models[0]["classify.weight"], models[1]["classify.weight"])
    for number, (weights, training) in enumerate(lessons):
        teacher = models[number // 10]
        assert all(torch.equal(teacher[name], weight) for name, weight in weights.items())
        assert not training


def test_gold_and_pool_are_merged_each_with_its_own_hard_labels(encoder, tmp_path, monkeypatch):
    calls = []

    def spy(hard, soft, share):
        calls.append((hard, soft, share))
        return merged_labels(hard, soft, share)

    monkeypatch.setattr(module, "merged_labels", spy)
    made = plan(encoder, "csrl")
    stea(start(tmp_path / "run"), {"csrl": made}, pool(), settings=LoopSettings(seed=3, iterations=2))
    for number, (hard, soft, share) in enumerate(calls):
        assert share == 0.5
        guessed = torch.equal(hard[0], soft[0].argmax(dim=-1))
        assert guessed == (number % 2 == 1)  # gold first, then the pool
    assert len(calls) == 12
