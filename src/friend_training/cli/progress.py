"""Progress of long work: bars with the time left on a terminal, one plain line per finished phase elsewhere."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from friend_training.cli.words import method_in_words, phase_in_words
from friend_training.core.listener import Listener
from friend_training.core.pace import Pace


@contextmanager
def watching(console: Console) -> Iterator[Listener]:
    """A listener for a run."""
    if not console.is_terminal:
        yield PlainLines(console)
        return
    with _bars(console) as bars:
        yield Bars(bars)


@contextmanager
def counting(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    """Something that counts: told how many of how many are done, it draws a bar; nothing where there is no terminal."""
    if not console.is_terminal:
        yield lambda done, total: None
        return
    with _bars(console) as bars:
        bar = bars.add_task(words, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


class PlainLines:
    """For log files: no colours, no times of day, a line when a phase is finished."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._finished_before: set[str] = set()
        self._began = 0.0
        self._pace = ""

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        self._finished_before = set(finished)

    def started(self, phase: str) -> None:
        self._began, self._pace = time.perf_counter(), ""

    def paced(self, phase: str, pace: Pace) -> None:
        self._pace = f" ({pace_in_words(pace)})"

    def advanced(self, phase: str, done: int, total: int) -> None:
        pass

    def finished(self, phase: str) -> None:
        if phase not in self._finished_before:
            seconds = time.perf_counter() - self._began
            line = f"{phase_in_words(phase)}: {seconds:.1f} s{self._pace}"
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)


class Bars:
    """For terminals: a bar for the phases of the present method and one for the present phase."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._method: TaskID | None = None
        self._words = ""
        self._phase: TaskID | None = None

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        if self._method is not None:
            self._bars.remove_task(self._method)
        method = phases[0].rpartition("/")[0] if phases else ""
        self._words = f"{method_in_words(method)}, all phases" if method else "encoder and bridge"
        # Finished phases are reported again in their turn, at once: the estimate of the time left learns from the rest.
        self._method = self._bars.add_task(self._words, total=len(phases))

    def paced(self, phase: str, pace: Pace) -> None:
        if self._method is not None:
            words = self._words if pace.shards_done == pace.shards else f"{self._words} ({pace_in_words(pace)})"
            self._bars.update(self._method, description=words)

    def started(self, phase: str) -> None:
        self._phase = self._bars.add_task(phase_in_words(phase), total=None)

    def advanced(self, phase: str, done: int, total: int) -> None:
        if self._phase is not None:
            self._bars.update(self._phase, completed=done, total=total)

    def finished(self, phase: str) -> None:
        if self._phase is not None:
            self._bars.remove_task(self._phase)
            self._phase = None
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
