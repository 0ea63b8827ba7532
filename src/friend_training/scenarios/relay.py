"""Between what works (tasks, phases) and who watches: says which method a phase belongs to and how far it is."""

from collections.abc import Sequence

from friend_training.core.listener import Listener, Silence
from friend_training.core.pace import Pace, PaceListener


class Relay:
    """A listener that passes on what it hears, with phases named 'method/phase' while a method runs.

    Tasks report what they do without knowing why. `worked` gives their reports to the phase that is under way; a phase
    of several steps (to label a shard is one step per task and friendship) is as far as its steps and the part of the
    present one. Nobody sees a phase go backwards.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._prefix = ""
        self._label_steps = 1
        self._phase = ""
        self._steps = (0, 1)
        self._share = 0.0

    def __reduce__(self) -> tuple[type["Relay"], tuple[Listener]]:
        """Tasks that are sent to a worker report to nobody there: who watches is here."""
        return Relay, (Silence(),)

    def method(self, name: str, *, label_steps: int) -> "Relay":
        """From here on phases are those of this method."""
        self._prefix, self._label_steps = f"{name}/", label_steps
        return self

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        self._listener.planned([self._prefix + phase for phase in phases], [self._prefix + name for name in finished])

    def started(self, phase: str) -> None:
        self._phase = phase
        self._steps, self._share = (0, self._label_steps if phase.startswith("label-") else 1), 0.0
        self._listener.started(self._prefix + phase)

    def paced(self, phase: str, pace: Pace) -> None:
        if isinstance(self._listener, PaceListener):
            self._listener.paced(self._prefix + phase, pace)

    def advanced(self, phase: str, done: int, total: int) -> None:
        self._steps = (done, total)
        self._tell(done, total)

    def worked(self, done: int, total: int) -> None:
        """Some of the present step is done: training steps, or inputs labelled."""
        before, steps = self._steps
        self._tell(before * total + done, steps * total)

    def finished(self, phase: str) -> None:
        self._listener.finished(self._prefix + phase)
        self._phase = ""

    def _tell(self, done: int, total: int) -> None:
        if self._phase and total and done / total > self._share:
            self._share = done / total
            self._listener.advanced(self._prefix + self._phase, done, total)
