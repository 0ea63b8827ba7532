"""Progress on its way from tasks to whoever watches."""

import pickle
from collections.abc import Sequence

from friend_training.runs.progress import Pace, Relay
from friend_training.runs.steps import Label, MethodStep, Prepare, Step

LABEL = Label(1, 0)


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []

    def planned(self, steps: Sequence[Step], finished: Sequence[Step]) -> None:
        self.heard.append((list(steps), list(finished)))

    def started(self, step: Step) -> None:
        self.heard.append((step, "started"))

    def advanced(self, step: Step, done: int, total: int) -> None:
        self.heard.append((step, done / total))

    def finished(self, step: Step) -> None:
        self.heard.append((step, "finished"))


def test_a_step_of_several_parts_never_goes_backwards() -> None:
    ear = Ear()
    relay = Relay(ear).method("fdt", label_parts=4)
    relay.planned([LABEL], [])
    relay.started(LABEL)
    relay.worked(1, 2)
    relay.worked(2, 2)
    relay.advanced(LABEL, 1, 4)
    relay.worked(1, 2)
    relay.finished(LABEL)
    step = MethodStep("fdt", LABEL)
    assert ear.heard == [
        ([step], []),
        (step, "started"),
        (step, 0.125),
        (step, 0.25),
        (step, 0.375),
        (step, "finished"),
    ]


def test_a_copy_for_a_worker_tells_nobody() -> None:
    ear = Ear()
    relay = Relay(ear).method("fdt", label_parts=1)
    relay.started(LABEL)
    worked = pickle.loads(pickle.dumps(relay.worked))
    worked(1, 2)
    assert ear.heard == [(MethodStep("fdt", LABEL), "started")]


def test_the_pace_goes_to_those_who_want_it() -> None:
    class Watch(Ear):
        def paced(self, step: Step, pace: Pace) -> None:
            self.heard.append((step, pace.units_per_second))

    pace = Pace(shards=4, shards_done=2, shards_before=1, units=30, seconds=2.0)
    for ear, heard in ((Ear(), []), (Watch(), [(MethodStep("fdt", Label(1, 1)), 15.0)])):
        Relay(ear).method("fdt", label_parts=1).paced(Label(1, 1), pace)
        assert ear.heard == heard


def test_work_between_steps_is_not_reported() -> None:
    ear = Ear()
    relay = Relay(ear)
    relay.worked(1, 2)
    relay.started(Prepare("bridge"))
    relay.worked(0, 0)
    relay.finished(Prepare("bridge"))
    relay.worked(1, 2)
    assert ear.heard == [(Prepare("bridge"), "started"), (Prepare("bridge"), "finished")]
