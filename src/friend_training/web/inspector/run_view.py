"""A run that is being looked at: its units, texts and corrections, and the selections made of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from friend_training.core.selector import Decisions
from friend_training.errors import RunError
from friend_training.report.run_reader import read_study
from friend_training.runs.corrections import Correction, Places, places_of, read_corrections, rulings, standing
from friend_training.runs.inputs import hidden_labels, saved_gold
from friend_training.runs.run import Run
from friend_training.study.folders import whole_run
from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.web.inspector.selection import Setting, decide
from friend_training.web.inspector.unit_view import Detail, MakeInputs, Meanings, Texts, Translator, UnitReader, Units

# Which run is looked at: one method of a study, or a run folder by itself.


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
    """A method's pseudo-labels: of the one named, else of friends (as the report), else of the last that has some.

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
        wanted = list(runs)[-1] if study.focus is None else study.focus.name
    if wanted not in runs:
        raise RunError(f"{folder}: method {wanted!r} has no pseudo-labels, only {', '.join(runs)}")
    return Inspected(outer, wanted, runs[wanted], study.config)


class Look:
    """Holds what the server's answers are made of. Corrections are read anew each time: somebody else may add some."""

    def __init__(self, inspected: Inspected, texts: Texts) -> None:
        self.inspected, self.texts = inspected, texts
        self.reader = UnitReader(inspected.run.store)
        self.translator, self.meanings = Translator(inspected.study), Meanings(inspected.study)

    @property
    def finished(self) -> bool:
        """Whether no selection is to come, so that corrections change nothing in this run any more."""
        wanted = self.inspected.config.get("iterations")
        return wanted is not None and len(self.reader.iterations()) >= wanted

    @property
    def span_source(self) -> SpanSource:
        return "context" if self.inspected.config.get("span_source") == "context" else "dialogue"

    def of_iteration(self, iteration: int) -> Mapping[str, Units]:
        return self.reader.of_iteration(iteration)

    def corrections(self) -> dict[tuple[str, str], Correction]:
        return standing(read_corrections(self.inspected.run.folder))

    def places(self, units: Units) -> Places:
        """The rows that a person has ruled on."""
        tasks = self.reader.of_iteration(units.iteration)
        return places_of(units.scores.unit, rulings(self.inspected.run.folder, dict.fromkeys(tasks, Any))[units.task])

    def decisions(self, units: Units, setting: Setting | None) -> Decisions:
        return decide(units, setting, self.places(units))

    def label(self, units: Units, row: int) -> Any:
        return json.loads(units.labels["label"][row].as_py())

    def detail(self, units: Units, row: int, decisions: Decisions) -> dict[str, Any]:
        detail = Detail(self.of_iteration(units.iteration), self.texts, self.translator, self.meanings)
        found = detail.of(units.task, row, decisions, self.corrections())
        hidden = self.hidden(units.task).get(units.scores.unit[row])
        found |= {"gold": None if hidden is None else detail.drawn(json.loads(hidden), found["given"])}
        return found | {"choices": self.choices(units.task) if isinstance(found["label"], str) else []}

    @cache  # noqa: B019  (a run's gold never changes, and there is one Look per server)
    def hidden(self, task: str) -> dict[str, str]:
        """The hidden gold of the pool by unit, where the run has saved it; second models have that of their task."""
        study = self.inspected.study
        return hidden_labels(study, task) or hidden_labels(study, task.partition(".")[0])

    @cache  # noqa: B019  (the same)
    def choices(self, task: str) -> list[str]:
        """The classes, or the tags, that gold has: what a corrected label may be; none where labels are others."""
        gold = [json.loads(label) for label in saved_gold(self.inspected.study, task.partition(".")[0])]
        if not all(isinstance(label, str) or (isinstance(label, dict) and label.keys() == {"tags"}) for label in gold):
            return []
        return sorted({one for label in gold for one in ([label] if isinstance(label, str) else label["tags"])})


def look_at(folder: Path, method: str | None = None, data_dir: Path | None = None) -> Look:
    """Open a run for inspection; its last iteration is read at once, so that the page is quick."""
    inspected = open_inspected(folder, method)
    look = Look(inspected, Texts(inspected.study, _making_inputs(inspected, data_dir)))
    look.of_iteration(look.reader.iterations()[-1])
    return look


def _making_inputs(inspected: Inspected, data_dir: Path | None) -> MakeInputs | None:
    """How the texts of a study of an earlier version are had; nobody can make those of a run of somebody's own."""
    if "methods" not in inspected.config:
        return None

    def make() -> None:
        # Only now torch: a page must not wait for it.
        from friend_training.study.open import ensure_inputs

        ensure_inputs(inspected.study, data_dir)

    return make
