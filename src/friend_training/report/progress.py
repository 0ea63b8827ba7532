"""Progress of long work: bars with the time left in terminals and notebooks, a line per finished step elsewhere."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from friend_training.report.names import duration, method_in_words, step_in_words
from friend_training.runs.progress import Listener, Pace
from friend_training.runs.steps import MethodStep, Prepare, Step, Tidy
from friend_training.study.sections import Config


def draws(console: Console) -> bool:
    """Whether somebody looks on: a terminal or a notebook."""
    return console.is_terminal or console.is_jupyter


@contextmanager
def watching(console: Console, config: Config | None = None) -> Iterator[Listener]:
    """A listener for a run; with its config it also tells how much of the whole run is left."""
    ahead = None if config is None else Ahead(config)
    if not draws(console):
        yield PlainLines(console, ahead)
        return
    with _bars(console) as bars:
        yield Bars(bars, ahead)


@contextmanager
def counting(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    """Something that counts: told how many of how many are done, it draws a bar; nothing where there is no terminal."""
    if not draws(console):
        yield lambda done, total: None
        return
    with _bars(console) as bars:
        bar = bars.add_task(words, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


GUESS = 15.0
"""Seconds of expected work that the guess by steps and dialogues is trusted for, before what was seen outweighs it."""


class Ahead:
    """How much of a run is left, by what it expects each method and step to take and how long the past ones took."""

    def __init__(self, config: Config, *, clock: Callable[[], float] = time.perf_counter) -> None:
        from friend_training.experiments import estimate  # torch comes with it

        self._clock = clock
        self._step_seconds = partial(estimate.step_seconds, config)
        self._methods = {method: estimate.modelled(config, method) for method in config.methods}
        self._preparation = estimate.whole_run(config) - sum(self._methods.values())
        self._prepared = False
        self._steps: dict[Step, float] = {}
        self._before: set[Step] = set()
        self._scale = 1.0
        self._began = clock()
        self._done = 0.0

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        """A method is begun, or what comes before the first."""
        known = [step for step in steps if isinstance(step, MethodStep | Prepare)]
        self._steps = {step: self._step_seconds(step) for step in known}
        self._before = set(finished)
        first = next(iter(self._steps), None)
        expected, total = sum(self._steps.values()), sum(self._steps.values())
        if isinstance(first, MethodStep):
            self._prepared = True
            expected = self._methods.pop(first.method, expected)
        self._scale = expected / total if total else 0.0
        for step in finished:
            self._steps.pop(step, None)

    def finished(self, step: Step) -> None:
        seconds = self._steps.pop(step, 0.0) * self._scale
        if step not in self._before:
            self._done += seconds

    def left(self, step: Step | None = None, share: float = 0.0) -> float:
        """Seconds; `share` of the present step is done."""
        here = 0.0 if step is None else self._steps.get(step, 0.0) * self._scale * share
        expected = sum(self._steps.values()) * self._scale + sum(self._methods.values()) - here
        if not self._prepared and not self._steps:
            expected += self._preparation
        pace = (self._clock() - self._began + GUESS) / (self._done + here + GUESS)
        return max(0.0, expected * pace)

    def share(self, step: Step | None = None, share: float = 0.0) -> float:
        gone, left = self._clock() - self._began, self.left(step, share)
        return gone / (gone + left) if gone + left else 1.0

    def words(self, step: Step | None = None, share: float = 0.0) -> str:
        """'about 2 min 10 s left'."""
        left = self.left(step, share)
        rounded = 10 * max(1, round(left / 10)) if left < 600 else 60 * round(left / 60)
        return f"about {duration(rounded)} left"


def works(step: Step) -> bool:
    """Whether a step does something that takes time: a start from Base's checkpoint is a copy, tidying up deletes."""
    inner = step.step if isinstance(step, MethodStep) else step
    return not isinstance(inner, Tidy) and not step_in_words(step).endswith("starts from Base")


class PlainLines:
    """For log files: no colours, no times of day, a line when a step is finished."""

    def __init__(self, console: Console, ahead: Ahead | None = None) -> None:
        self._console, self._ahead = console, ahead
        self._finished_before: set[Step] = set()
        self._began = 0.0
        self._pace = ""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self._finished_before = set(finished)
        if self._ahead is not None:
            self._ahead.planned(steps, finished)
            first = steps[0] if steps else None
            if isinstance(first, MethodStep) and len(self._finished_before) < len(steps):
                self._print(f"{method_in_words(first.method)}: {self._ahead.words()} of the whole run")

    def started(self, step: Step) -> None:
        self._began, self._pace = time.perf_counter(), ""

    def paced(self, step: Step, pace: Pace) -> None:
        self._pace = f" ({pace_in_words(pace)})"

    def advanced(self, step: Step, done: int, total: int) -> None:
        pass

    def finished(self, step: Step) -> None:
        if self._ahead is not None:
            self._ahead.finished(step)
        if step not in self._finished_before and works(step):
            seconds = time.perf_counter() - self._began
            self._print(f"{step_in_words(step)}: {seconds:.1f} s{self._pace}")

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)


class Bars:
    """For terminals: a bar for the whole run, or the present method where no config tells more, and one for the present
    step."""

    def __init__(self, bars: Progress, ahead: Ahead | None = None) -> None:
        self._bars, self._ahead = bars, ahead
        self._whole: TaskID | None = None
        self._step: TaskID | None = None
        self._words = ""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        if self._whole is not None:
            self._bars.remove_task(self._whole)
        first = steps[0] if steps else None
        words = f"{method_in_words(first.method)}, all steps" if isinstance(first, MethodStep) else "encoder and bridge"
        if self._ahead is None:
            self._whole = self._bars.add_task(words, total=len(steps))
            return
        self._ahead.planned(steps, finished)
        self._whole = self._bars.add_task("", total=1.0)
        self._tell(None, 0.0)

    def paced(self, step: Step, pace: Pace) -> None:
        if self._step is not None:
            self._bars.update(self._step, description=f"{self._words} ({pace_in_words(pace)})")

    def started(self, step: Step) -> None:
        if works(step):
            self._words = step_in_words(step)
            self._step = self._bars.add_task(self._words, total=None)

    def advanced(self, step: Step, done: int, total: int) -> None:
        if self._step is not None:
            self._bars.update(self._step, completed=done, total=total)
            self._tell(step, done / total)

    def finished(self, step: Step) -> None:
        if self._step is not None:
            self._bars.remove_task(self._step)
            self._step = None
        if self._ahead is not None:
            self._ahead.finished(step)
            self._tell(None, 0.0)
        elif self._whole is not None:
            self._bars.advance(self._whole)

    def _tell(self, step: Step | None, share: float) -> None:
        if self._ahead is not None and self._whole is not None:
            words = f"the whole run: {self._ahead.words(step, share)}"
            self._bars.update(self._whole, completed=self._ahead.share(step, share), description=words)


def pace_in_words(pace: Pace) -> str:
    """How fast the pool is being labelled: "3 of 40 shards, 215 units/s, 4 min left"."""
    left = f"{pace.seconds_left:.0f} s" if pace.seconds_left < 100 else f"{pace.seconds_left / 60:.0f} min"
    return f"{pace.shards_done} of {pace.shards} shards, {pace.units_per_second:.0f} units/s, {left} left"


def _bars(console: Console) -> Progress:
    """The bar stands first: where a terminal is narrow, only the end of the words is cut."""
    return Progress(BarColumn(bar_width=16), TextColumn("{task.description}"), console=console, transient=True)
