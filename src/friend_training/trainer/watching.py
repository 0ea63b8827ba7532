"""Watching FriendTrainer: progress where somebody looks on, and events for listeners, which may stop it.

A listener is a function of an `Event`; where it returns False, the run stops, and fit goes on with it later. A
TrainerCallback of transformers is one too: it is called when training begins, at every event as a log, and at the end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from friend_training.errors import ConfigError, RunStoppedError, naming_missing_packages
from friend_training.report.progress import draws, watching
from friend_training.runs.progress import Listener, Pace, PaceListener, Silence
from friend_training.runs.steps import Evaluate, MethodStep, Select, Step, Test, Train


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run.

    A `loss` has the training step as `number`; `metrics` are of dev or, in `split`, of a test set; a `selection` says
    how many units of a task there were and how many were chosen. `begin` and `end` are of a whole seed.
    """

    kind: Literal["begin", "loss", "selection", "metrics", "end"]
    seed: int
    method: str = ""
    task: str = ""
    iteration: int = 0
    split: str = ""
    number: int = 0
    values: Mapping[str, float] = field(default_factory=dict)

    def named_values(self) -> dict[str, float]:
        """The values by names that no other event has, such as fdt/polarity/dev/accuracy."""
        place = "/".join(part for part in (self.method, self.task, self.split) if part)
        return {f"{place}/{name}": value for name, value in self.values.items()}


EventListener = Callable[[Event], bool | None]


def as_listeners(given: Any) -> list[EventListener]:
    """One listener or several, callbacks of transformers among them."""
    several = list(given) if isinstance(given, Sequence) else [] if given is None else [given]
    found: list[EventListener] = []
    for one in several:
        if hasattr(one, "on_log") and hasattr(one, "on_train_begin"):
            found.append(CallbackListener(one))
        elif callable(one):
            found.append(one)
        else:
            raise ConfigError(f"listener: {one!r:.100}, expected a function of an event or a TrainerCallback")
    return found


@contextmanager
def watched(seed: int, listeners: Sequence[EventListener], *, progress: bool) -> Iterator["Teller"]:
    """A listener for the run of a seed: it draws progress, and tells the user's listeners."""
    console = Console(stderr=True)
    with _quiet_libraries():
        if progress and draws(console):
            with watching(console) as shown:
                yield Teller(seed, listeners, shown)
        else:
            yield Teller(seed, listeners, Silence())


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """transformers would draw bars of its own, one for each model that is written or read, between our lines."""
    with naming_missing_packages():
        from transformers.utils import logging as imported
    logging: Any = imported
    drawn, told = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(told)
        if drawn:
            logging.enable_progress_bar()


class Teller:
    """Passes on how far a run is, and makes events of losses and results."""

    def __init__(self, seed: int, listeners: Sequence[EventListener], shown: Listener) -> None:
        self._seed, self._listeners, self._shown = seed, listeners, shown

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self._shown.planned(steps, finished)

    def started(self, step: Step) -> None:
        self._shown.started(step)

    def advanced(self, step: Step, done: int, total: int) -> None:
        self._shown.advanced(step, done, total)

    def paced(self, step: Step, pace: Pace) -> None:
        if isinstance(self._shown, PaceListener):
            self._shown.paced(step, pace)

    def finished(self, step: Step) -> None:
        self._shown.finished(step)

    def lost(self, step: Step, number: int, loss: float) -> None:
        match step:
            case MethodStep(method, Train(task, iteration)):
                values = {"loss": loss}
                self.tell(Event("loss", self._seed, method, task, iteration, number=number, values=values))

    def recorded(self, step: Step, result: Mapping[str, Any]) -> None:
        if not isinstance(step, MethodStep):
            return
        for row in result.get("metrics", ()) if isinstance(step.step, Evaluate | Test) else ():
            place = (row["task"], row["iteration"], row["split"])
            self.tell(Event("metrics", self._seed, step.method, *place, values=row["metrics"]))
        if isinstance(step.step, Select):
            for task, counts in result["tasks"].items():
                numbers = {name: float(value) for name, value in counts.items() if isinstance(value, int | float)}
                self.tell(Event("selection", self._seed, step.method, task, step.step.iteration, values=numbers))

    def tell(self, event: Event) -> None:
        for listener in self._listeners:
            if listener(event) is False:
                raise RunStoppedError(
                    f"a listener stopped the run with seed {self._seed} at {event.kind} of {event.method}"
                    f" {event.task}; fit goes on with it"
                )


class CallbackListener:
    """A TrainerCallback of transformers as a listener; `control.should_training_stop` stops the run."""

    def __init__(self, callback: Any) -> None:
        with naming_missing_packages():
            from transformers import TrainerControl, TrainerState
        self._callback, self._state, self._control = callback, TrainerState(), TrainerControl()

    def __call__(self, event: Event) -> bool:
        asked = {"begin": self._callback.on_train_begin, "end": self._callback.on_train_end}
        if event.kind in asked:
            asked[event.kind](None, self._state, self._control)
        else:
            self._state.global_step += 1
            logs = event.named_values()
            self._state.log_history.append(logs | {"step": self._state.global_step})
            self._callback.on_log(None, self._state, self._control, logs=logs)
        return not self._control.should_training_stop


class TensorBoard:
    """A listener that writes everything to `folder`, for TensorBoard (the extra friend-training[tensorboard])."""

    def __init__(self, folder: str | Path) -> None:
        with naming_missing_packages():
            from torch.utils.tensorboard import SummaryWriter
        self._writer: Any = SummaryWriter(str(folder))

    def __call__(self, event: Event) -> None:
        for name, value in event.named_values().items():
            number = event.number if event.kind == "loss" else event.iteration
            where = f"/iteration-{event.iteration}" if event.kind == "loss" else ""
            self._writer.add_scalar(f"seed-{event.seed}/{name}{where}", value, number)
        if event.kind == "end":
            self._writer.flush()
