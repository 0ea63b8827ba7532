"""Which run is looked at: one method of a study, or a run folder by itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from friend_training.core.run import Run
from friend_training.errors import RunError
from friend_training.report.reading import read_study
from friend_training.scenarios.folders import whole_run


@dataclass(frozen=True, slots=True)
class Inspected:
    """`run` has the store and the corrections; `study`, maybe the same folder, the config, the bridge and the texts."""

    study: Path
    method: str
    run: Run
    config: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.config.get("name", self.study.resolve().name))


def open_inspected(folder: Path, method: str | None = None) -> Inspected:
    """A method's pseudo-labels: of the one named, else friend-training's, else of the last that has some.

    `folder` is a study, the folder of one of its methods, or a run that somebody made with the library.
    """
    Run.open(folder)
    outer = whole_run(folder)
    study = read_study(outer)
    runs = {one.name: one.run for one in study.methods if one.run is not None and one.iterations}
    wanted = method if method is not None or outer == folder else folder.resolve().name
    if not runs:
        raise RunError(f"{folder}: no pseudo-labels have been selected in this run yet")
    if wanted is None:
        wanted = "fdt" if "fdt" in runs else list(runs)[-1]
    if wanted not in runs:
        raise RunError(f"{folder}: method {wanted!r} has no pseudo-labels, only {', '.join(runs)}")
    return Inspected(outer, wanted, runs[wanted], study.config)
