"""Time and memory: of every method by what it did, and of every step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from friend_training.core.run import FinishedStep, Run
from friend_training.report.reading import Study
from friend_training.report.words import step_in_words
from friend_training.runs.steps import KINDS_OF_WORK, Label, Step, kind_of_work


@dataclass(frozen=True, slots=True)
class StepCost:
    """A step, or the shards of one iteration together."""

    words: str
    seconds: float
    peak_memory_mb: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by kind of work; the memory is the most that the process ever held, if it is known."""

    words: str
    seconds: tuple[float, ...]
    peak_memory_mb: float | None
    steps: tuple[StepCost, ...]

    @property
    def total(self) -> float:
        return sum(self.seconds)


def costs_of(study: Study) -> list[Cost]:
    """What encoder and bridge took comes first, where the study made them itself."""
    runs = [("encoder and bridge", Run(study.folder))]
    runs += [(method.words, method.run) for method in study.methods if method.run is not None]
    if len(runs) == 2 and runs[1][1].folder == study.folder:  # a single run, not a study of several
        del runs[0]
    return [_cost(words, steps) for words, run in runs if (steps := run.finished())]


def _cost(words: str, steps: Sequence[FinishedStep]) -> Cost:
    seconds = dict.fromkeys(KINDS_OF_WORK, 0.0)
    groups: dict[Step | int, list[FinishedStep]] = {}
    for done in steps:
        seconds[kind_of_work(done.step)] += done.seconds
        groups.setdefault(done.step.iteration if isinstance(done.step, Label) else done.step, []).append(done)
    return Cost(
        words,
        tuple(seconds.values()),
        most(done.peak_memory_mb for done in steps),
        tuple(
            StepCost(_words(group), sum(d.seconds for d in group), most(d.peak_memory_mb for d in group))
            for group in groups.values()
        ),
    )


def most(peaks: Iterable[float | None]) -> float | None:
    """The highest of those that are known: on Windows a process does not tell."""
    return max((peak for peak in peaks if peak is not None), default=None)


def _words(group: Sequence[FinishedStep]) -> str:
    step = group[0].step
    if isinstance(step, Label):
        shards = "1 shard" if len(group) == 1 else f"{len(group)} shards"
        return f"labelling the pool, iteration {step.iteration}, {shards}"
    return step_in_words(step)
