"""Who wants to know how far a run is: the command draws its progress from this."""

from collections.abc import Sequence
from typing import Protocol

from friend_training.runs.steps import Step


class Listener(Protocol):
    """Hears of every step of a run, in order."""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        """All steps to come, and those that an earlier process finished."""
        ...

    def started(self, step: Step) -> None: ...

    def advanced(self, step: Step, done: int, total: int) -> None:
        """Within a step: so many of its parts are done."""
        ...

    def finished(self, step: Step) -> None: ...


class Silence:
    """Listens to nothing."""

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        pass

    def started(self, step: Step) -> None:
        pass

    def advanced(self, step: Step, done: int, total: int) -> None:
        pass

    def finished(self, step: Step) -> None:
        pass
