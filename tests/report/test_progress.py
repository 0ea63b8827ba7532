"""What is seen of a run while it runs: words, plain lines, bars; and that watching changes nothing."""

import io
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from friend_training.core.task import FitPlan
from friend_training.data import synthetic
from friend_training.data.synthetic import Domain
from friend_training.experiments.estimate import modelled, step_seconds, whole_run
from friend_training.nn.training import TrainingSettings
from friend_training.report import progress
from friend_training.report.names import step_in_words
from friend_training.report.progress import Ahead, counting, watching
from friend_training.runs.progress import Pace, PaceListener
from friend_training.runs.steps import STEPS, Evaluate, Label, MethodStep, Prepare, Select, Step, Tidy, Train
from friend_training.study.config import find_config, parse_config
from friend_training.tasks.csrl.task import csrl_task


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Prepare("encoder"), "pre-training the encoder"),
        (MethodStep("base", Train("csrl", 0)), "Base: training csrl"),
        (MethodStep("sst", Train("csrl", 0)), "SST: csrl starts from Base"),
        (MethodStep("cps", Train("csrl", 0)), "CPS: training csrl"),
        (MethodStep("fdt", Train("rewriting", 2)), "FDT: training rewriting, iteration 2"),
        (MethodStep("fdt", Label(1, 10)), "FDT: labelling the pool, iteration 1, shard 10"),
        (MethodStep("sst-as-many", Evaluate("csrl", 3)), "SST, as many as FDT: scoring csrl on dev, iteration 3"),
        (MethodStep("other", Prepare("thing")), "other: thing"),
    ],
)
def test_steps_in_words(step: Step, words: str) -> None:
    assert step_in_words(step) == words


@pytest.mark.parametrize("kind", STEPS)
def test_no_step_is_told_by_the_name_of_its_file(kind: Any) -> None:
    step = kind(**{field.name: "csrl" if field.name == "task" else 1 for field in fields(kind)})
    assert step.name not in step_in_words(step)


@pytest.fixture
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.time, "perf_counter", lambda: 0.0)


def _watch(console: Console) -> None:
    with watching(console) as listener:
        steps = [MethodStep("fdt", Train("csrl", 0)), MethodStep("fdt", Select(1))]
        listener.planned(steps, steps[:1])
        for step in steps:
            listener.started(step)
            listener.advanced(step, 1, 2)
            listener.finished(step)


@pytest.mark.usefixtures("no_time_passes")
def test_plain_lines_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    _watch(Console(file=out))
    assert out.getvalue() == "FDT: selecting, iteration 1: 0.0 s\n"


@pytest.mark.usefixtures("no_time_passes")
def test_the_pace_of_labelling_is_part_of_its_line() -> None:
    out = io.StringIO()
    with watching(Console(file=out)) as listener:
        assert isinstance(listener, PaceListener)
        label, select = MethodStep("fdt", Label(1, 0)), MethodStep("fdt", Select(1))
        listener.planned([label, select], [])
        listener.started(label)
        listener.paced(label, Pace(shards=4, shards_done=1, shards_before=0, units=300, seconds=60.0))
        listener.finished(label)
        listener.started(select)
        listener.finished(select)
    assert out.getvalue().splitlines() == [
        "FDT: labelling the pool, iteration 1, shard 0: 0.0 s (1 of 4 shards, 5 units/s, 3 min left)",
        "FDT: selecting, iteration 1: 0.0 s",
    ]


def test_bars_with_time_left_on_a_terminal() -> None:
    out = io.StringIO()
    _watch(Console(file=out, force_terminal=True, width=100))
    assert "FDT, all steps" in out.getvalue()
    with counting(Console(file=out, force_terminal=True, width=100), "labelling 9 dialogues") as counted:
        counted(3, 9)
    assert "labelling 9 dialogues" in out.getvalue()


def test_the_time_left_is_that_of_the_whole_run() -> None:
    now = 0.0
    config = find_config("demo", ["methods=[base, sst]"])
    ahead = Ahead(config, clock=lambda: now)
    before = ahead.left()
    assert before == pytest.approx(whole_run(config))
    base = [MethodStep("base", Train(task, 0)) for task in ("csrl", "rewriting")]
    ahead.planned(base, [])
    now = modelled(config, "base") / 2  # as long as was expected
    ahead.finished(base[0])
    half = ahead.left(base[1], 0.5)
    assert 0.9 * modelled(config, "sst") < half < ahead.left(base[1]) < before, "self-training is still to come"
    now = 10_000.0
    assert ahead.left() > 10 * before, "a slow machine shows in what is left"
    ahead.finished(base[1])
    sst: list[Step] = [MethodStep("sst", Select(1))]
    ahead.planned(sst, sst)
    ahead.finished(sst[0])
    assert ahead.left() == 0
    assert ahead.share() == 1
    assert ahead.words() == "about 10 s left"


def test_the_whole_run_has_a_bar_and_a_log_says_what_is_left() -> None:
    for terminal in (True, False):
        out = io.StringIO()
        steps = [MethodStep("base", Train("csrl", 0)), MethodStep("base", Tidy(1))]
        with watching(Console(file=out, force_terminal=terminal, width=100), find_config("demo")) as listener:
            listener.planned(steps, [])
            for step in steps:
                listener.started(step)
                listener.advanced(step, 1, 2)
                listener.finished(step)
        assert ("the whole run: about" if terminal else "left of the whole run") in out.getvalue()
        assert "tidying" not in out.getvalue(), "nothing to wait for is announced"


def test_the_time_left_is_told_in_a_terminal_of_80_columns() -> None:
    out = io.StringIO()
    with watching(Console(file=out, force_terminal=True, width=80), find_config("demo")) as listener:
        step = MethodStep("joint-bridge", Label(1, 0))
        listener.planned([step], [])
        listener.started(step)
        listener.advanced(step, 1, 2)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue())
    assert re.search(r"the whole run: about \d+ (min|s)( \d+ s)? left", shown)
    assert "joint labels, bridge alone: labelling the pool, iteration 1" in shown


def test_classifiers_of_scikit_learn_are_not_expected_to_take_the_time_of_networks() -> None:
    text = """{name: reviews, methods: [base, sst, fdt], pool: {file: pool.csv},
    tasks: {good: {kind: estimator, gold: a.csv, dev: a.csv, test: a.csv, label: good},
            stars: {kind: %s, gold: b.csv, dev: b.csv, test: b.csv, label: stars}},
    friendships: [{first: stars, second: good, means: {}}]}"""
    lone = parse_config(text % "estimator", "here")
    mixed = parse_config(text % "text-classification, encoder: x", "here")
    assert whole_run(lone) < 20 < whole_run(mixed)
    assert sum(step_seconds(lone, MethodStep("base", Train(task, 0))) for task in lone.sections) < 2


def test_watching_changes_nothing(tiny_encoder: Path) -> None:
    made = [e for e in synthetic.csrl_examples(synthetic.generate(30, seed=5, domain=Domain.FILM)) if e.roles]
    heard: list[tuple[int, int]] = []
    weights = []
    for watched in (False, True):
        task = csrl_task(tiny_encoder, TrainingSettings(look_every=15, batch_size=4))
        if watched:
            task.progress = lambda done, total: heard.append((done, total))
        task.fit(made, (), dev=made[:5], plan=FitPlan(seed=3, steps=30))
        weights.append(task.network.state_dict())
    assert heard == [(10, 30), (20, 30), (30, 30)], "looks at dev are not reported"
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    task.predict([example.dialogue for example in made])
    assert heard[-1] == (len(made), len(made))
