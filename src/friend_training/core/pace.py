"""How fast the pool is being labelled, and how long that will still take."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from friend_training.runs.steps import Label, Step


@dataclass(frozen=True, slots=True)
class Pace:
    """Where labelling in one iteration stands. `units` and `seconds` are those of this process and its workers;
    `shards_before` were labelled before it began."""

    shards: int
    shards_done: int
    shards_before: int
    units: int
    seconds: float

    @property
    def units_per_second(self) -> float:
        return self.units / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """By the mean of the shards so far, those that wait for workers to start included."""
        return self.seconds / (self.shards_done - self.shards_before) * (self.shards - self.shards_done)


@runtime_checkable
class PaceListener(Protocol):
    """A listener that also wants to hear how fast labelling is; the loop tells whoever has this method."""

    def paced(self, step: Step, pace: Pace) -> None: ...


class PaceKeeper:
    """Counts what workers have handed in, and tells it after every shard."""

    def __init__(
        self,
        steps: Sequence[Step],
        finished: Sequence[Step],
        listener: object,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._listener, self._clock = listener, clock
        self._finished_before = set(finished)
        self._shards: dict[int, list[Label]] = {}
        for step in steps:
            if isinstance(step, Label):
                self._shards.setdefault(step.iteration, []).append(step)
        self._began: dict[int, float] = {}
        self._units = self._done = 0

    def started(self, step: Step) -> None:
        if isinstance(step, Label) and step not in self._finished_before and step.iteration not in self._began:
            self._began[step.iteration] = self._clock()
            self._units = self._done = 0

    def finished(self, step: Step, result: Mapping[str, Any]) -> None:
        if isinstance(step, Label) and step not in self._finished_before:
            self._units += result["units"]
            self._done += 1
            if isinstance(self._listener, PaceListener):
                self._listener.paced(step, self._pace(step.iteration))

    def _pace(self, iteration: int) -> Pace:
        shards = self._shards[iteration]
        before = sum(step in self._finished_before for step in shards)
        seconds = self._clock() - self._began[iteration]
        return Pace(len(shards), before + self._done, before, self._units, seconds)
