"""A run that is being looked at: its units, texts and corrections, and the selections made of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from friend_training.core.corrections import Correction, Places, places_of, read_corrections, rulings, standing
from friend_training.core.selector import Decisions
from friend_training.tasks.rewriting.edits import SpanSource
from friend_training.web.inspector.friend import Translator
from friend_training.web.inspector.opening import Inspected, open_inspected
from friend_training.web.inspector.selection import Setting, decide
from friend_training.web.inspector.showing import Detail
from friend_training.web.inspector.texts import Texts, reading_again
from friend_training.web.inspector.units import UnitReader, Units


class Look:
    """Holds what the server's answers are made of. Corrections are read anew each time: somebody else may add some."""

    def __init__(self, inspected: Inspected, texts: Texts) -> None:
        self.inspected, self.texts = inspected, texts
        self.reader = UnitReader(inspected.run.store)
        self.translator = Translator(inspected.study)

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
        detail = Detail(self.of_iteration(units.iteration), self.texts, self.translator)
        return detail.of(units.task, row, decisions, self.corrections())


def look_at(folder: Path, method: str | None = None, data_dir: Path | None = None) -> Look:
    """Open a run for inspection; its last iteration is read at once, so that the page is quick."""
    inspected = open_inspected(folder, method)
    make = reading_again(inspected.study, data_dir) if "methods" in inspected.config else None
    look = Look(inspected, Texts(inspected.study, make))
    look.of_iteration(look.reader.iterations()[-1])
    return look
