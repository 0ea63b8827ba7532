"""Pseudo-labels that a person has judged: accepted, corrected or rejected by hand.

They are saved in the run folder, corrections.jsonl, one JSON object per line, and the last one about a unit wins:

    {"task": "csrl", "unit": "d1|3-4", "verdict": "corrected", "label": {"predicate": …, "arguments": […]}}

Every selection reads the file once, when it begins, and writes what it found into the store; training reads the store.
So a correction counts from the next selection on, and a run that is killed and resumed still ends in the same bits.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import JsonValue, TypeAdapter, ValidationError

from friend_training.core.expected import expected
from friend_training.core.selector import Decisions, Reason
from friend_training.errors import DataError
from friend_training.runs.files import one_at_a_time, write_text

CORRECTIONS = "corrections.jsonl"

Verdict = Literal["accepted", "corrected", "rejected", "withdrawn"]
"""Accepted and corrected labels are gold from now on; a rejected unit is never chosen; withdrawn: as if nobody had
judged it."""

_REASONS: dict[Verdict, Reason] = {
    "accepted": Reason.ACCEPTED_BY_HAND,
    "corrected": Reason.CORRECTED_BY_HAND,
    "rejected": Reason.REJECTED_BY_HAND,
}
GOLD_BY_HAND = frozenset({Reason.ACCEPTED_BY_HAND.value, Reason.CORRECTED_BY_HAND.value})


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person decided about one unit. `label` is the right one, as JSON: also of an accepted unit, because the
    next iteration's model may label it otherwise."""

    task: str
    unit: str
    verdict: Verdict
    label: JsonValue = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a selection makes of a correction. `label` is JSON text by the task's `label_type`; None: rejected."""

    reason: Reason
    label: str | None


_correction: TypeAdapter[Correction] = TypeAdapter(Correction)


def read_corrections(folder: str | Path) -> list[Correction]:
    """All corrections of a run, in the order they were made."""
    folder = Path(folder)
    path = folder / CORRECTIONS
    if not path.is_file():
        return []
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            correction = _correction.validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise DataError(f"not a correction: {where}: {expected(problem)}", path=path, line=number) from None
        if (correction.label is not None) != (correction.verdict in ("accepted", "corrected")):
            raise DataError("accepted and corrected units have a label, the others none", path=path, line=number)
        found.append(correction)
    return found


def save_correction(folder: str | Path, correction: Correction) -> None:
    """Add a correction to a run, whole or not at all, whoever else adds one at the same time."""
    folder = Path(folder)
    with one_at_a_time(folder / CORRECTIONS):
        lines = [json.dumps(asdict(c), ensure_ascii=False) + "\n" for c in [*read_corrections(folder), correction]]
        write_text(folder / CORRECTIONS, "".join(lines))


def standing(corrections: Iterable[Correction]) -> dict[tuple[str, str], Correction]:
    """The last word on each unit, by task and unit."""
    last = {(correction.task, correction.unit): correction for correction in corrections}
    return {key: correction for key, correction in last.items() if correction.verdict != "withdrawn"}


def rulings(folder: str | Path, label_types: Mapping[str, Any]) -> dict[str, dict[str, Ruling]]:
    """For each task of a run what people decided about its units, every label checked by the task's own type."""
    folder = Path(folder)
    found: dict[str, dict[str, Ruling]] = {task: {} for task in label_types}
    for (task, unit), correction in standing(read_corrections(folder)).items():
        where = f"{task} unit {unit!r}"
        if task not in label_types:
            raise DataError(f"{where}: no such task; there are {', '.join(label_types)}", path=folder / CORRECTIONS)
        label = None
        if correction.verdict != "rejected":
            adapter = TypeAdapter(label_types[task])
            try:
                label = adapter.dump_json(adapter.validate_json(json.dumps(correction.label))).decode()
            except ValidationError as error:
                message = f"{where}: not a label of this task: {expected(error.errors()[0])}"
                raise DataError(message, path=folder / CORRECTIONS) from None
        found[task][unit] = Ruling(_REASONS[correction.verdict], label)
    return found


def digest(by_task: Mapping[str, Mapping[str, Ruling]]) -> str:
    """What a selection went by, in 64 characters."""
    decided = sorted((task, unit, r.reason, r.label) for task, units in by_task.items() for unit, r in units.items())
    return hashlib.sha256(json.dumps(decided, ensure_ascii=False).encode()).hexdigest()


Places = Mapping[int, Ruling]
"""The rows of a batch of units that somebody has ruled on."""


def places_of(units: Sequence[str], by_unit: Mapping[str, Ruling]) -> Places:
    if not by_unit:
        return {}
    return {row: by_unit[unit] for row, unit in enumerate(units) if unit in by_unit}


def overruled(decisions: Decisions, places: Places) -> Decisions:
    """A person's word goes over the selector's; what is gold by hand weighs 1, and λ does not apply to it."""
    if not places:
        return decisions
    chosen, weight = decisions.chosen.copy(), decisions.weight.copy()
    longest = max(len(reason.value) for reason in Reason)
    reason = decisions.reason.astype(f"<U{longest}")
    for row, ruling in places.items():
        chosen[row] = ruling.label is not None
        weight[row] = float(chosen[row])
        reason[row] = ruling.reason.value
    return replace(decisions, chosen=chosen, weight=np.asarray(weight), reason=reason)


def with_labels_by_hand(rows: pa.Table, places: Places) -> pa.Table:
    """Put the right labels into the store's rows; whether they are right by hidden gold too, nobody has checked."""
    changed = {
        row: ruling.label
        for row, ruling in places.items()
        if ruling.label is not None and rows["label"][row].as_py() != ruling.label
    }
    if not changed:
        return rows
    labels, correct = rows["label"].to_pylist(), rows["correct"].to_pylist()
    for row, label in changed.items():
        labels[row], correct[row] = label, None
    for name, column in (("label", labels), ("correct", correct)):
        index = rows.schema.get_field_index(name)
        rows = rows.set_column(index, rows.schema.field(name), pa.array(column, rows.schema.field(name).type))
    return rows
