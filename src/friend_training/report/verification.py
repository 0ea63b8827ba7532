"""Checks every file of a run against its digest, and says of what is damaged whether it can be made again.

A step that is done again ends in the same bits. So whatever a step made can be had again: without the record of the
step the run does it once more, with all else as it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from friend_training.errors import FriendTrainingError, RunError
from friend_training.runs.checkpoints import check_checkpoint
from friend_training.runs.inputs import GOLD, INPUTS
from friend_training.runs.run import FinishedStep, Run, check_file, files_on_record, finished_step, not_a_run
from friend_training.runs.steps import Label, Prepare, Select, Tidy, Train
from friend_training.study.folders import RESULTS, check_config, shared_resources

_OF_TESTS = ("counts.npz", "metrics.jsonl")
"""Made by the last steps of a method, out of what all the others left."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something of a run that is not as it was written. Once the files of `remove` are removed, a resumed run makes it
    again; where there are none, it cannot be made again."""

    problem: str
    remove: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """`checked` counts the files whose digests were looked at."""

    checked: int
    damages: tuple[Damage, ...]


def verify(folder: Path) -> Verification:
    """A whole run: a study with its methods and the encoder and bridge it uses, or any other run."""
    if not (folder / "run.json").is_file():
        raise not_a_run(folder)
    checked, damages = 0, []
    for place in _runs(folder):
        for look, remove in _looks(place):
            checked += 1
            if (problem := _said(look)) is not None:
                damages.append(Damage(problem, remove))
    return Verification(checked, tuple(damages))


Look = tuple[Callable[[], object], tuple[Path, ...]]
"""Raises an error where something is damaged; what to remove then, for it to be made again."""


def _runs(folder: Path) -> list[Path]:
    shared = shared_resources(folder, None) if _said(lambda: shared_resources(folder, None)) is None else None
    resources = [shared] if shared is not None and (shared / "run.json").is_file() else []
    return [folder, *resources, *sorted(path.parent for path in folder.glob("methods/*/run.json"))]


def _looks(folder: Path) -> Iterator[Look]:
    """In the order of how much depends on each."""
    yield lambda: Run.open(folder), ()
    if _said(lambda: Run.open(folder)) is not None:
        return
    run = Run.open(folder)
    yield lambda: check_config(run), ()
    for name in files_on_record(folder):
        yield lambda name=name: _there_and_whole(folder / name), _remade_file(folder, name)  # type: ignore[misc]
    records = sorted(folder.glob("phases/*.json"))
    for path in records:
        yield lambda path=path: finished_step(path), (path, *_results(folder))  # type: ignore[misc]
    for path in records:
        if _said(lambda path=path: finished_step(path)) is None:  # type: ignore[misc]
            yield from _made_by(run, finished_step(path), path)


def _made_by(run: Run, done: FinishedStep, record: Path) -> Iterator[Look]:
    step, again = done.step, (record, *_results(run.folder))
    match step:
        case Train(task, iteration):
            place = run.checkpoint(task, iteration)
            yield lambda: check_checkpoint(place, done.result.get("digest")), again
        case Prepare(name) if "digest" in done.result:
            yield lambda: check_checkpoint(run.folder / name, done.result["digest"]), again
        case Label(iteration, _) | Select(iteration):
            if isinstance(step, Label) and (record.parent / f"{Tidy(iteration).name}.json").is_file():
                return  # what it wrote is in the shards with the decisions
            for name in run.files_of(step):
                path = run.folder / name
                yield lambda path=path: _there_and_on_record(run, path, step), _labelled(run, iteration)  # type: ignore[misc]


def _there_and_whole(path: Path) -> None:
    if not path.is_file():
        raise RunError(f"{path}: it is missing")
    check_file(path)


def _there_and_on_record(run: Run, path: Path, step: Label | Select) -> None:
    if not path.is_file():
        raise RunError(f"{path}: it is missing")
    run.check(path, step)


def _labelled(run: Run, iteration: int) -> tuple[Path, ...]:
    """The records of all that labels and selects in an iteration: shards are chosen from together."""
    phases = run.folder / "phases"
    labels = sorted(phases.glob(f"{Label(iteration, 0).name.rpartition('-')[0]}-*.json"))
    rest = [phases / f"{step.name}.json" for step in (Select(iteration), Tidy(iteration))]
    return (*labels, *(path for path in rest if path.is_file()), *_results(run.folder))


def _remade_file(folder: Path, name: str) -> tuple[Path, ...]:
    path = folder / name
    if name in (INPUTS, GOLD):
        return path, *_results(folder)
    if name in _OF_TESTS:
        return path, *sorted(folder.glob("phases/test-*.json")), *_results(folder)
    return _results(folder) if name == RESULTS else ()


def _results(folder: Path) -> tuple[Path, ...]:
    """A study that has all its results is not resumed: they are written again at the end."""
    study = folder.parent.parent if folder.parent.name == "methods" else folder
    return (study / RESULTS,) if (study / RESULTS).is_file() else ()


def _said(look: Callable[[], object]) -> str | None:
    try:
        look()
    except FriendTrainingError as error:
        return str(error).partition(" (`friend-train verify")[0]
    return None
