"""What a reader does with a line that does not hold what it should: count it, name it and go on, or fail at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from friend_training.core.limits import Limits
from friend_training.errors import DataError

_LONGEST_MESSAGE = 300
"""A message may quote what was found, and what was found may be a million characters long."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was skipped, and why."""

    line: int
    message: str


@dataclass
class Problems:
    """The lines of one file that were skipped; with `strict` the first of them is an error.

    `count` is how many there are. `found` are they themselves, with `most` only the first so many: whoever goes through
    a file of any size has no room for all. `limits` are those that the file is read with.
    """

    path: str | Path
    strict: bool = False
    most: int | None = None
    limits: Limits = field(default_factory=Limits.from_environment)
    found: list[Problem] = field(default_factory=list)
    count: int = 0

    def report(self, line: int, message: str) -> None:
        short = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
        if self.strict:
            raise DataError(short, path=self.path, line=line)
        self.count += 1
        if self.most is None or len(self.found) < self.most:
            self.found.append(Problem(line, short))

    @contextmanager
    def skipping(self, line: int) -> Iterator[None]:
        """Within this block a DataError without a place is a report about this line."""
        try:
            yield
        except DataError as error:
            self.report(line, str(error))
