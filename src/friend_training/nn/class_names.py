"""The names of a task's classes, in a fixed order: given when the task is made, saved and checked with its weights."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from friend_training.errors import ConfigError, DataError, RunError

NAMES = "names.json"

Names = Mapping[str, tuple[str, ...]]
"""For each kind of class (tags, phrases, relations) its names."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """The classes of one kind by number and by name."""

    kind: str
    names: tuple[str, ...]
    numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers = {name: number for number, name in enumerate(self.names)}
        if len(numbers) < len(self.names):
            raise ConfigError(f"{self.kind}: a name is given twice among {', '.join(self.names)}")
        object.__setattr__(self, "numbers", numbers)

    def number(self, name: str, sentence: str) -> int:
        known = self.numbers.get(name)
        if known is None:
            raise DataError(
                f"sentence {sentence}: {name!r} is none of the {len(self.names)} {self.kind} that the task knows"
            )
        return known


def save_names(folder: Path, names: Names) -> None:
    (folder / NAMES).write_text(json.dumps(names, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_names(folder: Path) -> dict[str, tuple[str, ...]]:
    """What a saved task was made with: `constituency_task(folder, settings, **read_names(folder))` makes it again."""
    kinds: dict[str, Sequence[str]] = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    return {kind: tuple(names) for kind, names in kinds.items()}


def check_names(folder: Path, names: Names) -> None:
    """Weights know classes by number only: those of other names must not be taken for ours."""
    saved = read_names(folder)
    for kind, ours in names.items():
        if saved.get(kind) != ours:
            raise RunError(f"{folder} was saved by a task with other {kind}: {saved.get(kind)}; this one has {ours}")
