"""The steps of a run: each is done once, and its result is a file. This is the only place that knows their names."""

import re
from dataclasses import dataclass
from typing import Protocol


class Step(Protocol):
    """One step of a run. `name` is the name of its file below phases/; equal steps have equal names."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make something that every method uses: the encoder, the bridge, what a task starts from."""

    name: str


@dataclass(frozen=True, slots=True)
class Train:
    """Pre-train a task on its gold (iteration 0, Base), or update it with what was chosen (Eq. 1)."""

    task: str
    iteration: int

    @property
    def name(self) -> str:
        return f"train-{self.task}-{self.iteration}"


@dataclass(frozen=True, slots=True)
class TrainTogether:
    """Train all tasks on one encoder (Multitask-Base)."""

    @property
    def name(self) -> str:
        return "train-together"


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Score a task on dev after an iteration."""

    task: str
    iteration: int

    @property
    def name(self) -> str:
        return f"evaluate-{self.task}-{self.iteration}"


@dataclass(frozen=True, slots=True)
class Label:
    """Every task predicts and every friendship matches one shard of the pool (Eq. 4)."""

    iteration: int
    shard: int

    @property
    def name(self) -> str:
        return f"label-{self.iteration}-{self.shard:05d}"


@dataclass(frozen=True, slots=True)
class MeasureAgreement:
    """Measure on dev what the friends agree on, and whether to stop before this iteration."""

    iteration: int

    @property
    def name(self) -> str:
        return f"agreement-{self.iteration}"


@dataclass(frozen=True, slots=True)
class WeighFriends:
    """Find on dev what each friend's word weighs where labels are decided on together."""

    iteration: int

    @property
    def name(self) -> str:
        return f"weigh-{self.iteration}"


@dataclass(frozen=True, slots=True)
class FindThresholds:
    """Find on dev the thresholds that promise the precision aimed at."""

    iteration: int

    @property
    def name(self) -> str:
        return f"aim-{self.iteration}"


@dataclass(frozen=True, slots=True)
class Select:
    """Choose pseudo-labels over the whole iteration (Eq. 5)."""

    iteration: int

    @property
    def name(self) -> str:
        return f"select-{self.iteration}"


@dataclass(frozen=True, slots=True)
class Tidy:
    """Remove what selection was made from."""

    iteration: int

    @property
    def name(self) -> str:
        return f"tidy-{self.iteration}"


@dataclass(frozen=True, slots=True)
class Test:
    """Score the iteration of a task that was best on dev on its test sets."""

    __test__ = False  # for pytest, which takes the name for its own

    task: str

    @property
    def name(self) -> str:
        return f"test-{self.task}"


@dataclass(frozen=True, slots=True)
class Count:
    """Save what the reported models got right in each test example: a step of older runs, today part of `Test`."""

    @property
    def name(self) -> str:
        return "counts"


@dataclass(frozen=True, slots=True)
class MethodStep:
    """A step of one method of a study."""

    method: str
    step: Step

    @property
    def name(self) -> str:
        return f"{self.method}/{self.step.name}"


def parse_step(name: str) -> Step:
    """The step whose file has this name."""
    if found := re.fullmatch(r"train-(.+)-(\d+)", name):
        return Train(found[1], int(found[2]))
    if found := re.fullmatch(r"evaluate-(.+)-(\d+)", name):
        return Evaluate(found[1], int(found[2]))
    if found := re.fullmatch(r"label-(\d+)-(\d+)", name):
        return Label(int(found[1]), int(found[2]))
    if found := re.fullmatch(r"agreement-(\d+)", name):
        return MeasureAgreement(int(found[1]))
    if found := re.fullmatch(r"weigh-(\d+)", name):
        return WeighFriends(int(found[1]))
    if found := re.fullmatch(r"aim-(\d+)", name):
        return FindThresholds(int(found[1]))
    if found := re.fullmatch(r"select-(\d+)", name):
        return Select(int(found[1]))
    if found := re.fullmatch(r"tidy-(\d+)", name):
        return Tidy(int(found[1]))
    if found := re.fullmatch(r"test-(.+)", name):
        return Test(found[1])
    only: tuple[Step, ...] = (TrainTogether(), Count())
    return next((step for step in only if step.name == name), Prepare(name))


def kind_of_work(step: Step) -> str:
    """What a step spends its time on: training, labelling, selecting or scoring."""
    match step:
        case Label():
            return "labelling"
        case MeasureAgreement() | WeighFriends() | FindThresholds() | Select() | Tidy():
            return "selecting"
        case Evaluate() | Test() | Count():
            return "scoring"
        case _:
            return "training"


KINDS_OF_WORK = ("training", "labelling", "selecting", "scoring")


def done_by_all(step: Step) -> bool:
    """Whether several processes do a step together; every other step is the first one's."""
    return isinstance(step, Train | TrainTogether)
