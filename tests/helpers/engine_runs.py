"""Toy runs for engines: a friendship and tasks that can be sent to other processes, and workers that meet their end."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from friend_training.core.friendship import Friendship, Match
from friend_training.core.pool import Inputs
from friend_training.core.task import Prediction
from friend_training.errors import DataError, DeviceMemoryError
from friend_training.loop.algorithm import Outcome, friend_train
from friend_training.loop.labelling import Engine
from friend_training.runs.run import Run
from helpers.toy_runs import POLARITY, SETTINGS, plan, pool, truth
from helpers.toy_task import Point, ToyTask


class Fragile(ToyTask):
    """Ends its process when it meets a given point for the first time: `mark` is the file that says it has."""

    def __init__(self, name: str, labels: Sequence[str], *, last_words: str = "", mark: Path | None = None) -> None:
        super().__init__(name, labels)
        self.last_words, self.mark = last_words, mark
        self.home = os.getpid()

    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        if os.getpid() != self.home and any(point.id == self.last_words for point in inputs):
            if self.mark is None:
                os.kill(os.getpid(), signal.SIGKILL)
            elif not self.mark.exists():
                self.mark.write_text("met")
                os.kill(os.getpid(), signal.SIGKILL)
        return super().predict(inputs)


class Located(Fragile):
    """In a worker, says in a folder which graphics cards it sees."""

    def __init__(self, name: str, labels: Sequence[str], *, folder: Path, last_words: str = "") -> None:
        super().__init__(name, labels, last_words=last_words, mark=folder / "met")
        self.folder = folder

    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        if os.getpid() != self.home:
            (self.folder / f"{os.environ.get('CUDA_VISIBLE_DEVICES', 'all')}.{os.getpid()}").write_text("")
        return super().predict(inputs)

    def workers(self) -> dict[str, int]:
        """How many workers have seen each card."""
        return dict(Counter(path.name.partition(".")[0] for path in self.folder.glob("*.*")))


class Held(ToyTask):
    """In a worker, says in a folder which shards it begins, and holds those from a given point on until told to go."""

    def __init__(self, name: str, labels: Sequence[str], *, folder: Path, held_from: int) -> None:
        super().__init__(name, labels)
        self.folder, self.held_from = folder, held_from
        self.home = os.getpid()

    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        if os.getpid() != self.home:
            number = int(inputs[0].id.removeprefix("pool"))
            (self.folder / f"begun-{number}-{os.getpid()}").write_text("")
            while number >= self.held_from and not (self.folder / "go").exists():
                time.sleep(0.05)
        return super().predict(inputs)


class Failing(ToyTask):
    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        if any(point.id.startswith("pool") for point in inputs):
            raise ZeroDivisionError("a model with a bug")
        return super().predict(inputs)


class Full(ToyTask):
    def predict(self, inputs: Sequence[Point]) -> list[list[Prediction]]:
        if any(point.id.startswith("pool") for point in inputs):
            raise DeviceMemoryError(self.name, "labelling_pieces", 600, "cuda:0")
        return super().predict(inputs)


def polarity(task: str, predictions: Sequence[Sequence[Prediction]]) -> list[list[str]]:
    return [[POLARITY[task][found.label] for found in of_input] for of_input in predictions]


def of_stars(inputs: Sequence[Point], predictions: Sequence[Sequence[Prediction]]) -> list[list[str]]:
    return polarity("stars", predictions)


def of_mood(inputs: Sequence[Point], predictions: Sequence[Sequence[Prediction]]) -> list[list[str]]:
    return polarity("mood", predictions)


def same(first: Sequence[list[str]], second: Sequence[list[str]]) -> list[Match]:
    scores = [tuple(float(a == b) for a, b in zip(*pair, strict=True)) for pair in zip(first, second, strict=True)]
    return [Match(score, score) for score in scores]


FRIENDS = Friendship("stars-mood", "stars", "mood", of_stars, of_mood, same)


def even_numbers(task: str, prediction: Prediction) -> bool | None:
    number = int(prediction.unit.removeprefix("pool"))
    return None if number % 2 else prediction.label == truth(task, pool()[number])


def parse_point(text: str) -> Point:
    """A line {"id": …, "x": [...]}."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise DataError("broken JSON") from error
    if len(found.get("x", ())) != 3:
        raise DataError(f"x: three numbers were expected, got {found.get('x')}")
    return Point(found["id"], tuple(found["x"]))


def point_line(point: Point) -> str:
    return json.dumps({"id": point.id, "x": point.x})


def engine_run(
    run: Run,
    engine: Engine | None,
    *,
    inputs: Inputs | None = None,
    shard_size: int = 7,
    mood: ToyTask | None = None,
    listener: Any = None,
    iterations: int = 1,
) -> dict[str, Outcome]:
    """Two friends with small shards; `mood` may be a task with a fate."""
    labels = list(POLARITY["mood"])
    plans = {
        "stars": plan("stars", iterations=iterations),
        "mood": plan("mood", iterations=iterations, task=mood or ToyTask("mood", labels)),
    }
    settings = replace(SETTINGS, shard_size=shard_size, engine=engine, iterations=iterations)
    given = pool() if inputs is None else inputs
    return friend_train(run, plans, [FRIENDS], given, settings=settings, audit=even_numbers, listener=listener)
