"""How far a run is, for whoever watches it: steps planned, started and finished, and how fast the pool is labelled."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

from friend_training.runs.steps import Label, MethodStep, Step


class Listener(Protocol):
    """Hears of every step of a run, in order; the command draws its progress from this."""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        """All steps to come, and those that an earlier process finished."""
        ...

    def started(self, step: Step) -> None: ...

    def advanced(self, step: Step, done: int, total: int) -> None:
        """Within a step: so many of its parts are done."""
        ...

    def finished(self, step: Step) -> None: ...


class Silence:
    """Listens to nothing."""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        pass

    def started(self, step: Step) -> None:
        pass

    def advanced(self, step: Step, done: int, total: int) -> None:
        pass

    def finished(self, step: Step) -> None:
        pass


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


@runtime_checkable
class ResultListener(Protocol):
    """A listener that also wants what a step came to: metrics, or what was chosen. Earlier processes' steps it does not
    hear of again."""

    def recorded(self, step: Step, result: Mapping[str, Any]) -> None: ...


@runtime_checkable
class LossListener(Protocol):
    """A listener that also wants the loss from time to time; `number` is the training step."""

    def lost(self, step: Step, number: int, loss: float) -> None: ...


class Teller:
    """Tells a listener of the steps of a run as they go, and how fast workers hand in what they labelled."""

    def __init__(
        self,
        listener: Listener,
        steps: Sequence[Step],
        finished: Sequence[Step],
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
        listener.planned(steps, finished)

    def started(self, step: Step) -> Callable[[int, int], None]:
        """Returns who is told how many of how many parts of the step are done."""
        self._listener.started(step)
        if isinstance(step, Label) and step not in self._finished_before and step.iteration not in self._began:
            self._began[step.iteration] = self._clock()
            self._units = self._done = 0
        return partial(self._listener.advanced, step)

    def finished(self, step: Step, result: Mapping[str, Any]) -> None:
        if step not in self._finished_before:
            if isinstance(step, Label):
                self._units += result["units"]
                self._done += 1
                if isinstance(self._listener, PaceListener):
                    self._listener.paced(step, self._pace(step.iteration))
            if isinstance(self._listener, ResultListener):
                self._listener.recorded(step, result)
        self._listener.finished(step)

    def _pace(self, iteration: int) -> Pace:
        shards = self._shards[iteration]
        before = sum(step in self._finished_before for step in shards)
        seconds = self._clock() - self._began[iteration]
        return Pace(len(shards), before + self._done, before, self._units, seconds)


class Relay:
    """A listener that passes on what it hears, as steps of the method that runs.

    Tasks report what they do without knowing why. `worked` gives their reports to the step that is under way; a step
    of several parts (to label a shard is one part per task and friendship) is as far as its parts and the share of the
    present one. Nobody sees a step go backwards.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._method: str | None = None
        self._label_parts = 1
        self._step: Step | None = None
        self._parts = (0, 1)
        self._share = 0.0

    def __reduce__(self) -> tuple[type["Relay"], tuple[Listener]]:
        """Tasks that are sent to a worker report to nobody there: who watches is here."""
        return Relay, (Silence(),)

    def method(self, name: str, *, label_parts: int) -> "Relay":
        """From here on steps are those of this method."""
        self._method, self._label_parts = name, label_parts
        return self

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self._listener.planned([self._of_method(step) for step in steps], [self._of_method(step) for step in finished])

    def started(self, step: Step) -> None:
        self._step = step
        self._parts, self._share = (0, self._label_parts if isinstance(step, Label) else 1), 0.0
        self._listener.started(self._of_method(step))

    @contextmanager
    def step(self, step: Step) -> Iterator[None]:
        """Around work that is a step: it is told when it begins and when it is done."""
        self.started(step)
        yield
        self.finished(step)

    def paced(self, step: Step, pace: Pace) -> None:
        if isinstance(self._listener, PaceListener):
            self._listener.paced(self._of_method(step), pace)

    def recorded(self, step: Step, result: Mapping[str, Any]) -> None:
        if isinstance(self._listener, ResultListener):
            self._listener.recorded(self._of_method(step), result)

    def lost(self, number: int, loss: float) -> None:
        """The loss of a training step of the task that is trained."""
        if self._step is not None and isinstance(self._listener, LossListener):
            self._listener.lost(self._of_method(self._step), number, loss)

    def advanced(self, step: Step, done: int, total: int) -> None:
        self._parts = (done, total)
        self._tell(done, total)

    def worked(self, done: int, total: int) -> None:
        """Some of the present part is done: training steps, or inputs labelled."""
        before, parts = self._parts
        self._tell(before * total + done, parts * total)

    def finished(self, step: Step) -> None:
        self._listener.finished(self._of_method(step))
        self._step = None

    def _of_method(self, step: Step) -> Step:
        return step if self._method is None else MethodStep(self._method, step)

    def _tell(self, done: int, total: int) -> None:
        if self._step is not None and total and done / total > self._share:
            self._share = done / total
            self._listener.advanced(self._of_method(self._step), done, total)
