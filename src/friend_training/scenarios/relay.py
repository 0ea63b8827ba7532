"""Between what works (tasks, steps) and who watches: says which method a step belongs to and how far it is."""

from collections.abc import Sequence

from friend_training.core.listener import Listener, Silence
from friend_training.core.pace import Pace, PaceListener
from friend_training.runs.steps import Label, MethodStep, Step


class Relay:
    """A listener that passes on what it hears, as steps of the method that runs.

    Tasks report what they do without knowing why. `worked` gives their reports to the step that is under way; a step
    of several parts (to label a shard is one part per task and friendship) is as far as its parts and the share of the
    present one. Nobody sees a step go backwards.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._method: str | None = None
        self._label_parts = 1
        self._step: Step | None = None
        self._parts = (0, 1)
        self._share = 0.0

    def __reduce__(self) -> tuple[type["Relay"], tuple[Listener]]:
        """Tasks that are sent to a worker report to nobody there: who watches is here."""
        return Relay, (Silence(),)

    def method(self, name: str, *, label_parts: int) -> "Relay":
        """From here on steps are those of this method."""
        self._method, self._label_parts = name, label_parts
        return self

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self._listener.planned([self._of_method(step) for step in steps], [self._of_method(step) for step in finished])

    def started(self, step: Step) -> None:
        self._step = step
        self._parts, self._share = (0, self._label_parts if isinstance(step, Label) else 1), 0.0
        self._listener.started(self._of_method(step))

    def paced(self, step: Step, pace: Pace) -> None:
        if isinstance(self._listener, PaceListener):
            self._listener.paced(self._of_method(step), pace)

    def advanced(self, step: Step, done: int, total: int) -> None:
        self._parts = (done, total)
        self._tell(done, total)

    def worked(self, done: int, total: int) -> None:
        """Some of the present part is done: training steps, or inputs labelled."""
        before, parts = self._parts
        self._tell(before * total + done, parts * total)

    def finished(self, step: Step) -> None:
        self._listener.finished(self._of_method(step))
        self._step = None

    def _of_method(self, step: Step) -> Step:
        return step if self._method is None else MethodStep(self._method, step)

    def _tell(self, done: int, total: int) -> None:
        if self._step is not None and total and done / total > self._share:
            self._share = done / total
            self._listener.advanced(self._of_method(self._step), done, total)
