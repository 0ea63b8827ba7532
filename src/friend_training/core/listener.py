"""Who wants to know how far a run is: the command draws its progress from this."""

from collections.abc import Sequence
from typing import Protocol


class Listener(Protocol):
    """Hears of every phase of a run, in order."""

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        """The names of all phases to come, and of those that an earlier process finished."""
        ...

    def started(self, phase: str) -> None: ...

    def advanced(self, phase: str, done: int, total: int) -> None:
        """Within a phase: so many of its steps are done."""
        ...

    def finished(self, phase: str) -> None: ...


class Silence:
    """Listens to nothing."""

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        pass

    def started(self, phase: str) -> None:
        pass

    def advanced(self, phase: str, done: int, total: int) -> None:
        pass

    def finished(self, phase: str) -> None:
        pass
