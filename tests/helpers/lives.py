"""A study and the many ways to die in it. Run as a program in tests/: python -m helpers.lives FOLDER.

    FOLDER/whole    a study that nobody disturbs
    FOLDER/again    the same once more
    FOLDER/killed   the same, killed (SIGKILL) at every event that it meets, and resumed each time

An event is whatever the listener hears, every file or folder that is complete and about to take its name, and every
file of weights when only half of it is written. A life goes on until it meets an event at which none has died before.
This process imports torch once and never computes, so that its forks start at once and have a sound torch.
"""

import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from friend_training.nn import training
from friend_training.runs import files
from friend_training.runs.steps import Step
from friend_training.study import data, study
from friend_training.study.sections import Config
from helpers.tiny_config import DRAWN_FROM, tiny_config

METHODS = ("base", "sst", "fdt")


def config(*changes: str) -> Config:
    return tiny_config(f"methods=[{', '.join(METHODS)}]", *changes)


class Fate:
    """Hears every event. Dies at the first that is not on the list, and leaves it there."""

    def __init__(self, book: Path, *, deadly: bool) -> None:
        self.book, self.deadly, self.phase = book, deadly, ""
        self.known = set(book.read_text(encoding="utf-8").splitlines()) if book.exists() else set()

    def meet(self, event: str, before_death: Callable[[], None] = lambda: None) -> None:
        if event in self.known:
            return
        self.known.add(event)
        with self.book.open("a", encoding="utf-8") as file:
            file.write(event + "\n")
        if self.deadly:
            before_death()
            os.kill(os.getpid(), signal.SIGKILL)

    def planned(self, steps: Any, finished: Any) -> None:
        pass

    def started(self, step: Step) -> None:
        self.phase = step.name
        self.meet(f"start {step.name}")

    def advanced(self, step: Step, done: int, total: int) -> None:
        self.meet(f"within {step.name} {done}/{total}")

    def finished(self, step: Step) -> None:
        pass  # the same moment as the start of the next phase


def _named(path: Path, folder: Path) -> str:
    """Temporary names are never the same: what is written under them is told by the step."""
    return re.sub(r"\.friend-training-[\w-]+\.tmp", "*.tmp", Path(os.path.relpath(path, folder)).as_posix())


def live(folder: Path, ready: data.RunData, fate: Fate) -> None:
    """One life of a study: from wherever the one before has left it, to the end or to death."""
    torch.set_num_threads(1)
    replace, save_file = os.replace, training.save_file

    def watched_replace(source: Path, target: Path) -> None:
        fate.meet(f"rename {_named(target, folder)}")
        replace(source, target)

    def watched_save_file(state: Any, path: Path) -> None:
        def half() -> None:
            save_file(state, path)
            os.truncate(path, path.stat().st_size // 2)

        fate.meet(f"half {_named(path, folder)} of {fate.phase}", half)
        save_file(state, path)

    os.replace = watched_replace  # type: ignore[assignment]
    training.save_file = watched_save_file
    study.load_data = lambda config, folder, progress, objects: (
        ready
    )  # generating them anew would take half of each life
    files._flush = lambda path: None  # the disk is slow, and whoever kills a process does not pull the plug
    study.run_study(config(), folder, listener=fate)


def fork(folder: Path, ready: data.RunData, *, deadly: bool) -> int:
    """A life in a process of its own: 0 if it reached the end, else minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            live(folder, ready, Fate(folder.with_suffix(".events"), deadly=deadly))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    data.SYNTHETIC_TRAIN = DRAWN_FROM
    ready = data.load_data(config(), None)
    ends = {name: fork(folder / name, ready, deadly=False) for name in ("whole", "again")}
    lives = [fork(folder / "killed", ready, deadly=True)]
    while lives[-1] == -signal.SIGKILL:
        lives.append(fork(folder / "killed", ready, deadly=True))
    (folder / "ends.json").write_text(json.dumps({**ends, "killed": lives}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
