"""Progress of long work: bars with the time left in terminals and notebooks, a line per finished step elsewhere."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from friend_training.report.names import method_in_words, step_in_words
from friend_training.runs.progress import Listener, Pace
from friend_training.runs.steps import MethodStep, Step


def draws(console: Console) -> bool:
    """Whether somebody looks on: a terminal or a notebook."""
    return console.is_terminal or console.is_jupyter


@contextmanager
def watching(console: Console) -> Iterator[Listener]:
    """A listener for a run."""
    if not draws(console):
        yield PlainLines(console)
        return
    with _bars(console) as bars:
        yield Bars(bars)


@contextmanager
def counting(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    """Something that counts: told how many of how many are done, it draws a bar; nothing where there is no terminal."""
    if not draws(console):
        yield lambda done, total: None
        return
    with _bars(console) as bars:
        bar = bars.add_task(words, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


class PlainLines:
    """For log files: no colours, no times of day, a line when a step is finished."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._finished_before: set[Step] = set()
        self._began = 0.0
        self._pace = ""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self._finished_before = set(finished)

    def started(self, step: Step) -> None:
        self._began, self._pace = time.perf_counter(), ""

    def paced(self, step: Step, pace: Pace) -> None:
        self._pace = f" ({pace_in_words(pace)})"

    def advanced(self, step: Step, done: int, total: int) -> None:
        pass

    def finished(self, step: Step) -> None:
        if step not in self._finished_before:
            seconds = time.perf_counter() - self._began
            line = f"{step_in_words(step)}: {seconds:.1f} s{self._pace}"
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)


class Bars:
    """For terminals: a bar for the steps of the present method and one for the present step."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._method: TaskID | None = None
        self._words = ""
        self._step: TaskID | None = None

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        if self._method is not None:
            self._bars.remove_task(self._method)
        first = steps[0] if steps else None
        self._words = (
            f"{method_in_words(first.method)}, all steps" if isinstance(first, MethodStep) else "encoder and bridge"
        )
        # Finished steps are reported again in their turn, at once: the estimate of the time left learns from the rest.
        self._method = self._bars.add_task(self._words, total=len(steps))

    def paced(self, step: Step, pace: Pace) -> None:
        if self._method is not None:
            words = self._words if pace.shards_done == pace.shards else f"{self._words} ({pace_in_words(pace)})"
            self._bars.update(self._method, description=words)

    def started(self, step: Step) -> None:
        self._step = self._bars.add_task(step_in_words(step), total=None)

    def advanced(self, step: Step, done: int, total: int) -> None:
        if self._step is not None:
            self._bars.update(self._step, completed=done, total=total)

    def finished(self, step: Step) -> None:
        if self._step is not None:
            self._bars.remove_task(self._step)
            self._step = None
        if self._method is not None:
            self._bars.advance(self._method)


def pace_in_words(pace: Pace) -> str:
    """How fast the pool is being labelled: "3 of 40 shards, 215 units/s, 4 min left"."""
    left = f"{pace.seconds_left:.0f} s" if pace.seconds_left < 100 else f"{pace.seconds_left / 60:.0f} min"
    return f"{pace.shards_done} of {pace.shards} shards, {pace.units_per_second:.0f} units/s, {left} left"


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
