"""The teacher is the moving average of the student, and the student is held to it more and more."""

import copy
import math
from dataclasses import replace

import pytest
import torch

from friend_training.core.task import FitPlan
from friend_training.errors import ConfigError, UnsupportedTaskError
from friend_training.loop.algorithm import LoopSettings, Training
from friend_training.methods import mean_teacher as module
from friend_training.methods.mean_teacher import MeanTeacher, MeanTeacherSettings, bounded, mt, ramp_up, unit_distances
from friend_training.nn.encoder import load_encoder
from friend_training.nn.heads import Head
from helpers.tiny import plan, pool
from helpers.toy_runs import plan as toy_plan
from helpers.toy_runs import start


@pytest.fixture
def taught(encoder, monkeypatch):
    """A mean teacher about to be trained, and a record of what it does: student weights, decays, ramp-up."""
    made = plan(encoder, "csrl")
    torch.manual_seed(0)
    made.task.network = made.task.definition.network(load_encoder(encoder))
    teacher = MeanTeacher(made.task, pool(), steps=12, settings=MeanTeacherSettings(ramp_up=0.5))
    seen = {"students": [], "decays": [], "shares": []}
    update, rise = module.update_average, module.ramp_up

    def spy_update(average, student, decay):
        update(average, student, decay)
        seen["students"].append([weight.detach().clone() for weight in student.parameters()])
        seen["decays"].append(decay)

    def spy_rise(share):
        seen["shares"].append(share)
        return rise(share)

    monkeypatch.setattr(module, "update_average", spy_update)
    monkeypatch.setattr(module, "ramp_up", spy_rise)
    return made, teacher, seen


def _train(made, teacher, steps):
    return teacher.train(made.gold, (), made.dev, FitPlan(seed=1, steps=steps))


def test_the_teacher_is_the_moving_average_of_the_student(taught):
    made, teacher, seen = taught
    # Looks are taken after every second step; so that the last weights are the best ones, dev says "better" each time.
    scores = iter(range(100))
    made.task.dev_score = lambda dev: lambda: next(scores)
    expected = [weight.detach().clone() for weight in made.task.network.parameters()]
    _train(made, teacher, 4)
    # So early on the average is a plain one, of Base and all students.
    for number, student in enumerate(seen["students"], start=1):
        expected = [
            (number * average + weight) / (number + 1) for average, weight in zip(expected, student, strict=True)
        ]
    assert len(seen["students"]) == 4
    for average, wanted, weight in zip(made.task.network.parameters(), expected, seen["students"][-1], strict=True):
        torch.testing.assert_close(average, wanted, rtol=1e-4, atol=1e-6)
        assert average is not weight
    moved = [float((a - s).abs().max()) for a, s in zip(expected, seen["students"][-1], strict=True)]
    assert max(moved) > 1e-3


def test_the_ramp_up_goes_over_all_iterations_and_the_decay_follows_it(taught):
    made, teacher, seen = taught
    teacher.settings = replace(teacher.settings, decay_rising=0.1, decay=0.3)  # shorter than the steps taken
    _train(made, teacher, 4)
    _train(made, teacher, 4)
    assert seen["shares"] == pytest.approx([step / 6 for step in range(8)])
    assert seen["decays"] == [0.1] * 6 + [0.3] * 2


def test_the_average_is_plain_until_it_is_as_long_as_its_decay_says(taught):
    made, teacher, seen = taught
    _train(made, teacher, 2)
    _train(made, teacher, 2)
    assert seen["decays"] == pytest.approx([1 / 2, 2 / 3, 3 / 4, 4 / 5])
    assert [bounded(0.99, step) for step in (98, 99, 500)] == pytest.approx([98 / 99, 0.99, 0.99])
    assert (MeanTeacherSettings().decay_rising, MeanTeacherSettings().decay) == (0.99, 0.999)


def test_the_ramp_is_the_published_one():
    assert [ramp_up(x) for x in (0, 0.5, 1, 7)] == pytest.approx([math.exp(-5), math.exp(-1.25), 1, 1])


def test_agreement_with_the_teacher_is_part_of_the_loss(encoder):
    """With the same seed, only the weight of the consistency cost differs, and so do the weights that come of it."""
    results = []
    for consistency in (0.0, 10.0):
        made = plan(encoder, "rewriting")
        torch.manual_seed(0)
        made.task.network = made.task.definition.network(load_encoder(encoder))
        teacher = MeanTeacher(
            made.task, pool(), steps=2, settings=MeanTeacherSettings(consistency=consistency, ramp_up=0.01)
        )
        _train(made, teacher, 2)
        results.append([weight.detach() for weight in teacher.student.parameters()])
    assert not all(torch.equal(*pair) for pair in zip(*results, strict=True))


def test_student_and_teacher_come_back_from_a_checkpoint(taught, tmp_path):
    made, teacher, _ = taught
    teacher.load(tmp_path)  # a Base: no student in it
    assert (teacher.student, teacher.done) == (None, 0)
    _train(made, teacher, 4)
    made.task.save(tmp_path)
    teacher.save(tmp_path)
    student = copy.deepcopy(teacher.student.state_dict())
    made.task.load(tmp_path)
    teacher.load(tmp_path)
    assert teacher.done == 4
    assert all(torch.equal(student[name], weight) for name, weight in teacher.student.state_dict().items())
    assert not all(torch.equal(student[name], weight) for name, weight in made.task.network.state_dict().items())


def test_distances_leave_out_what_is_not_there():
    logits = torch.zeros(1, 2, 2)
    head = Head(logits, torch.tensor([[True, False]]))
    assert unit_distances([head], [torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])]).tolist() == pytest.approx([0.5])


def test_a_task_without_a_network_is_refused(tmp_path):
    with pytest.raises(UnsupportedTaskError, match=r"mean teacher .* ToyTask 'mood' has no definition, encoder"):
        mt(start(tmp_path / "run"), {"mood": toy_plan("mood")}, pool(), settings=LoopSettings(1, 1))


@pytest.mark.parametrize(("update", "says"), [(None, "no update"), (Training(3, restart=True), "cannot restart")])
def test_a_plan_that_cannot_go_on_is_refused(encoder, tmp_path, update, says):
    with pytest.raises(ConfigError, match=says):
        mt(start(tmp_path / "run"), {"csrl": plan(encoder, "csrl", update=update)}, pool(), settings=LoopSettings(1, 1))
