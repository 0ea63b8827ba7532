"""Toy tasks that are friends: three ways to say whether a point is good or bad, and runs made of them."""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from friend_training.core.friendship import Friendship, Match
from friend_training.core.selector import Pick, Selector, Threshold
from friend_training.core.task import Prediction
from friend_training.loop.algorithm import LoopSettings, Outcome, TaskPlan, Training, friend_train
from friend_training.loop.thresholds import Probe
from friend_training.runs.progress import Silence
from friend_training.runs.run import Run
from friend_training.runs.steps import Step
from helpers.toy_task import Example, Point, ToyTask

POLARITY = {
    "stars": {"one": "bad", "two": "bad", "four": "good", "five": "good"},
    "mood": {"sad": "bad", "happy": "good"},
    "thumb": {"down": "bad", "up": "good"},
}
SETTINGS = LoopSettings(seed=5, iterations=2, shard_size=25)


def points(count: int, seed: int, prefix: str) -> list[Point]:
    drawn = np.random.default_rng(seed).normal(size=(count, 3)).round(3)
    return [Point(f"{prefix}{number}", tuple(map(float, row))) for number, row in enumerate(drawn)]


def truth(task: str, point: Point) -> str:
    """The polarity is the sign of a sum; the number of stars also depends on another feature."""
    labels = list(POLARITY[task])
    good = point.x[0] + point.x[1] > 0
    strong = abs(point.x[2]) > 0.7
    return labels[(2 + strong if good else 1 - strong) if len(labels) == 4 else int(good)]


def audit(task: str, prediction: Prediction) -> bool | None:
    """The hidden gold of every pool point whose number is even."""
    number = int(prediction.unit.removeprefix("pool"))
    return None if number % 2 else prediction.label == truth(task, pool()[number])


@cache
def pool() -> list[Point]:
    return points(60, 1, "pool")


def gold(task: str, count: int, seed: int, prefix: str) -> list[Example]:
    return [Example(point, truth(task, point)) for point in points(count, seed, prefix)]


def plan(name: str, pick: Pick | None = None, iterations: int = SETTINGS.iterations, **changes: Any) -> TaskPlan:
    made = TaskPlan(
        task=ToyTask(name, list(POLARITY[name])),
        gold=gold(name, 12, len(name), "gold"),
        dev=gold(name, 40, 7, "dev"),
        base=Training(steps=20),
        update=Training(steps=15, pseudo_weight=0.5),
        selectors=[Selector(pick or Threshold(0.6), confidence_weight=0.3)] * iterations,
        test={"near": gold(name, 30, 8, "near"), "far": gold(name, 30, 9, "far")},
    )
    return replace(made, **changes)


def _translate(task: str) -> Any:
    def translate(inputs: Sequence[Point], predictions: Sequence[Sequence[Prediction]]) -> list[list[str]]:
        return [[POLARITY[task][found.label] for found in of_input] for of_input in predictions]

    return translate


def _match(first: Sequence[list[str]], second: Sequence[list[str]]) -> list[Match]:
    scores = [tuple(float(a == b) for a, b in zip(*pair, strict=True)) for pair in zip(first, second, strict=True)]
    return [Match(score, score) for score in scores]


def friends(first: str, second: str) -> Friendship:
    return Friendship(f"{first}-{second}", first, second, _translate(first), _translate(second), _match)


def start(folder: Path) -> Run:
    return Run.create(folder, "toy: true\n", {"pool": "0"})


def two_friends(run: Run, listener: Any = None) -> dict[str, Outcome]:
    plans = {"stars": plan("stars"), "mood": plan("mood")}
    friendships = [friends("stars", "mood")]
    return friend_train(run, plans, friendships, pool(), settings=SETTINGS, audit=audit, listener=listener)


def probe(task: str, count: int = 40) -> Probe:
    """Dev points as a pool would have them."""
    inputs = points(count, 7, "dev")
    by_id = {point.id: point for point in inputs}
    return Probe(inputs, lambda found: bool(found.label == truth(task, by_id[found.unit])))


def contents(run: Run) -> Mapping[str, bytes]:
    """Every byte that must not depend on how often a run was interrupted."""
    kept = [run.folder / "metrics.jsonl", *run.folder.glob("store/**/*"), *run.folder.glob("checkpoints/**/*")]
    return {str(path.relative_to(run.folder)): path.read_bytes() for path in kept if path.is_file()}


class Interrupted(Exception):
    """What a `Stopper` stops a run with."""


class Stopper(Silence):
    """Stops a run where a step begins."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def started(self, step: Step) -> None:
        if step == self.step:
            raise Interrupted


class Killer(Silence):
    """Kills its own process at a given event of the run: at the start, within, or at the end of a phase."""

    def __init__(self, event: str) -> None:
        self.event = event

    def started(self, step: Step) -> None:
        self._meet(f"start {step.name}")

    def advanced(self, step: Step, done: int, total: int) -> None:
        self._meet(f"within {step.name} {done}")

    def finished(self, step: Step) -> None:
        self._meet(f"end {step.name}")

    def _meet(self, event: str) -> None:
        if event == self.event:
            os.kill(os.getpid(), signal.SIGKILL)


def run_and_be_killed(folder: str, event: str) -> None:
    two_friends(Run.open(Path(folder)), Killer(event))
