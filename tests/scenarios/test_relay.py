"""Progress on its way from tasks to whoever watches."""

import pickle
from collections.abc import Sequence

from friend_training.core.pace import Pace
from friend_training.scenarios.relay import Relay


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []

    def planned(self, phases: Sequence[str], finished: Sequence[str]) -> None:
        self.heard.append((list(phases), list(finished)))

    def started(self, phase: str) -> None:
        self.heard.append((phase, "started"))

    def advanced(self, phase: str, done: int, total: int) -> None:
        self.heard.append((phase, done / total))

    def finished(self, phase: str) -> None:
        self.heard.append((phase, "finished"))


def test_a_phase_of_several_steps_never_goes_backwards() -> None:
    ear = Ear()
    relay = Relay(ear).method("fdt", label_steps=4)
    relay.planned(["label-1-00000"], [])
    relay.started("label-1-00000")
    relay.worked(1, 2)
    relay.worked(2, 2)
    relay.advanced("label-1-00000", 1, 4)
    relay.worked(1, 2)
    relay.finished("label-1-00000")
    phase = "fdt/label-1-00000"
    assert ear.heard == [
        ([phase], []),
        (phase, "started"),
        (phase, 0.125),
        (phase, 0.25),
        (phase, 0.375),
        (phase, "finished"),
    ]


def test_a_copy_for_a_worker_tells_nobody() -> None:
    ear = Ear()
    relay = Relay(ear).method("fdt", label_steps=1)
    relay.started("label-1-00000")
    worked = pickle.loads(pickle.dumps(relay.worked))
    worked(1, 2)
    assert ear.heard == [("fdt/label-1-00000", "started")]


def test_the_pace_goes_to_those_who_want_it() -> None:
    class Watch(Ear):
        def paced(self, phase: str, pace: Pace) -> None:
            self.heard.append((phase, pace.units_per_second))

    pace = Pace(shards=4, shards_done=2, shards_before=1, units=30, seconds=2.0)
    for ear, heard in ((Ear(), []), (Watch(), [("fdt/label-1-00001", 15.0)])):
        Relay(ear).method("fdt", label_steps=1).paced("label-1-00001", pace)
        assert ear.heard == heard


def test_work_between_phases_is_not_reported() -> None:
    ear = Ear()
    relay = Relay(ear)
    relay.worked(1, 2)
    relay.started("bridge")
    relay.worked(0, 0)
    relay.finished("bridge")
    relay.worked(1, 2)
    assert ear.heard == [("bridge", "started"), ("bridge", "finished")]
