"""Every method from beginning to end on a very small setting; killed and resumed, it ends in the same bits."""

import math
import multiprocessing
import signal

import pytest

from friend_training.runs.run import Run
from friend_training.runs.steps import Train
from helpers.tiny import METHODS, SETTINGS, be_killed, run_method
from helpers.toy_runs import contents, start

KILLED_AT = {
    "multitask-base": "start train-rewriting-0",
    "mt": "within train-csrl-2 1",
    "cps": "within train-csrl-2 1",
    "scot": "start train-csrl.second-2",
    "readers": "start train-csrl.second-2",
    "stbr": "within train-rewriting-2 1",
    "stea": "start train-csrl-2",
}
"""For those that carry something over from one iteration to the next, in the second one: it must come from disk."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory, encoder):
    """Each method's run that was never killed."""
    runs = {}
    for method in METHODS:
        run = start(tmp_path_factory.mktemp(method) / "run")
        runs[method] = (run, run_method(run, encoder, method))
    return runs


@pytest.mark.parametrize("method", METHODS)
def test_a_method_gives_outcomes_like_every_other(whole, method):
    run, outcomes = whole[method]
    iterations = 0 if method == "multitask-base" else SETTINGS.iterations
    assert set(outcomes) == ({"csrl"} if method in ("cps", "scot", "readers") else {"csrl", "rewriting"})
    for name, outcome in outcomes.items():
        metric = {"csrl": "f1", "rewriting": "em"}[name]
        scores = [metrics[metric] for metrics in outcome.dev]
        assert len(scores) == iterations + 1
        assert outcome.best_iteration == scores.index(max(scores))
        assert math.isfinite(outcome.test["test"][metric])
        taken = [run.require(Train(name, iteration))["steps"] for iteration in range(iterations + 1)]
        assert taken == ([8] if method == "multitask-base" else [4, 3, 3])


@pytest.mark.parametrize("method", METHODS)
def test_killed_and_resumed_a_method_ends_in_the_same_bits(whole, encoder, tmp_path, method):
    new = start(tmp_path / "run")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["friend_training.tasks.csrl.task", "friend_training.methods.mean_teacher"])
    process = context.Process(target=be_killed, args=(str(new.folder), str(encoder), method, KILLED_AT[method]))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    expected = contents(whole[method][0])
    assert contents(Run.open(new.folder)) != expected
    run_method(Run.open(new.folder), encoder, method)
    assert contents(Run.open(new.folder)) == expected
    assert not list(new.folder.rglob("*.tmp"))
