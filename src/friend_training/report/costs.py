"""Time and memory: of every method by what it did, and of every phase."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from friend_training.core.run import Run
from friend_training.report.reading import Phase, Study, phases_of
from friend_training.report.words import phase_in_words

KINDS = ("training", "labelling", "selecting", "scoring")
_KIND_OF = {
    "label": "labelling",
    "aim": "selecting",
    "select": "selecting",
    "tidy": "selecting",
    "evaluate": "scoring",
    "test": "scoring",
    "counts": "scoring",
}
"""What phases do, by the first word of their names; all others train."""


@dataclass(frozen=True, slots=True)
class PhaseCost:
    """A phase, or the shards of one iteration together."""

    words: str
    seconds: float
    peak_memory_mb: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by kind, in the order of KINDS; the memory is the most that the process ever held, if it is known."""

    words: str
    seconds: tuple[float, ...]
    peak_memory_mb: float | None
    phases: tuple[PhaseCost, ...]

    @property
    def total(self) -> float:
        return sum(self.seconds)


def costs_of(study: Study) -> list[Cost]:
    """What encoder and bridge took comes first, where the study made them itself."""
    runs = [("encoder and bridge", Run(study.folder))]
    runs += [(method.words, method.run) for method in study.methods if method.run is not None]
    if len(runs) == 2 and runs[1][1].folder == study.folder:  # a single run, not a study of several
        del runs[0]
    return [_cost(words, phases) for words, run in runs if (phases := phases_of(run))]


def _cost(words: str, phases: Sequence[Phase]) -> Cost:
    seconds = dict.fromkeys(KINDS, 0.0)
    groups: dict[str, list[Phase]] = {}
    for phase in phases:
        seconds[_KIND_OF.get(phase.name.split("-")[0], "training")] += phase.seconds
        groups.setdefault(re.sub(r"^(label-\d+)-\d+$", r"\1", phase.name), []).append(phase)
    return Cost(
        words,
        tuple(seconds.values()),
        most(phase.peak_memory_mb for phase in phases),
        tuple(
            PhaseCost(_words(name, group), sum(p.seconds for p in group), most(p.peak_memory_mb for p in group))
            for name, group in groups.items()
        ),
    )


def most(peaks: Iterable[float | None]) -> float | None:
    """The highest of those that are known: on Windows a process does not tell."""
    return max((peak for peak in peaks if peak is not None), default=None)


def _words(name: str, group: Sequence[Phase]) -> str:
    if name.startswith("label-"):
        shards = "1 shard" if len(group) == 1 else f"{len(group)} shards"
        return f"labelling the pool, iteration {name.removeprefix('label-')}, {shards}"
    return phase_in_words(name)
