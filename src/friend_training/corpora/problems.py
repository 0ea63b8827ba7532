"""What a reader does with a line that does not hold what it should: count it, name it and go on, or fail at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from friend_training.errors import DataError


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was skipped, and why."""

    line: int
    message: str


@dataclass
class Problems:
    """The lines of one file that were skipped; with `strict` the first of them is an error."""

    path: str | Path
    strict: bool = False
    found: list[Problem] = field(default_factory=list)

    def report(self, line: int, message: str) -> None:
        if self.strict:
            raise DataError(message, path=self.path, line=line)
        self.found.append(Problem(line, message))

    @contextmanager
    def skipping(self, line: int) -> Iterator[None]:
        """Within this block a DataError without a place is a report about this line."""
        try:
            yield
        except DataError as error:
            self.report(line, str(error))
