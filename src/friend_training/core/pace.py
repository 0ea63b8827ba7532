"""How fast the pool is being labelled, and how long that will still take."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


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

    def paced(self, phase: str, pace: Pace) -> None: ...


class PaceKeeper:
    """Counts what workers have handed in, and tells it after every shard."""

    def __init__(
        self,
        phases: Sequence[str],
        finished: Sequence[str],
        listener: object,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._listener, self._clock = listener, clock
        self._finished_before = set(finished)
        self._shards: dict[str, list[str]] = {}
        for phase in phases:
            if phase.startswith("label-"):
                self._shards.setdefault(_iteration(phase), []).append(phase)
        self._began: dict[str, float] = {}
        self._units = self._done = 0

    def started(self, phase: str) -> None:
        if phase.startswith("label-") and phase not in self._finished_before and _iteration(phase) not in self._began:
            self._began[_iteration(phase)] = self._clock()
            self._units = self._done = 0

    def finished(self, phase: str, result: Mapping[str, Any]) -> None:
        if phase not in self._finished_before and phase.startswith("label-"):
            self._units += result["units"]
            self._done += 1
            if isinstance(self._listener, PaceListener):
                self._listener.paced(phase, self._pace(_iteration(phase)))

    def _pace(self, iteration: str) -> Pace:
        shards = self._shards[iteration]
        before = sum(phase in self._finished_before for phase in shards)
        seconds = self._clock() - self._began[iteration]
        return Pace(len(shards), before + self._done, before, self._units, seconds)


def _iteration(phase: str) -> str:
    return phase.rpartition("-")[0]
