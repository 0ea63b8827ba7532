"""The steps of a run: each is done once, and its result is a file. This is the only place that knows their names."""

import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol


class Step(Protocol):
    """One step of a run. `name` is the name of its file below phases/; equal steps have equal names."""

    @property
    def name(self) -> str: ...


class _Filed:
    """A step whose name is its file's pattern, filled in; `parse_step` reads the same pattern back."""

    __slots__ = ()
    FILE: ClassVar[str]

    @property
    def name(self) -> str:
        return self.FILE.format(**{field.name: getattr(self, field.name) for field in fields(self)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make something that every method uses: the encoder, the bridge, what a task starts from."""

    name: str


@dataclass(frozen=True, slots=True)
class Train(_Filed):
    """Pre-train a task on its gold (iteration 0, Base), or update it with what was chosen (Eq. 1)."""

    FILE = "train-{task}-{iteration}"

    task: str
    iteration: int


@dataclass(frozen=True, slots=True)
class TrainTogether(_Filed):
    """Train all tasks on one encoder (Multitask-Base)."""

    FILE = "train-together"


@dataclass(frozen=True, slots=True)
class Evaluate(_Filed):
    """Score a task on dev after an iteration."""

    FILE = "evaluate-{task}-{iteration}"

    task: str
    iteration: int


@dataclass(frozen=True, slots=True)
class Label(_Filed):
    """Every task predicts and every friendship matches one shard of the pool (Eq. 4)."""

    FILE = "label-{iteration}-{shard:05d}"

    iteration: int
    shard: int


@dataclass(frozen=True, slots=True)
class MeasureAgreement(_Filed):
    """Measure on dev what the friends agree on, and whether to stop before this iteration."""

    FILE = "agreement-{iteration}"

    iteration: int


@dataclass(frozen=True, slots=True)
class WeighFriends(_Filed):
    """Find on dev what each friend's word weighs where labels are decided on together."""

    FILE = "weigh-{iteration}"

    iteration: int


@dataclass(frozen=True, slots=True)
class FindThresholds(_Filed):
    """Find on dev the thresholds that promise the precision aimed at."""

    FILE = "aim-{iteration}"

    iteration: int


@dataclass(frozen=True, slots=True)
class Select(_Filed):
    """Choose pseudo-labels over the whole iteration (Eq. 5)."""

    FILE = "select-{iteration}"

    iteration: int


@dataclass(frozen=True, slots=True)
class Tidy(_Filed):
    """Remove what selection was made from."""

    FILE = "tidy-{iteration}"

    iteration: int


@dataclass(frozen=True, slots=True)
class Test(_Filed):
    """Score the iteration of a task that was best on dev on its test sets."""

    FILE = "test-{task}"

    __test__ = False  # for pytest, which takes the name for its own

    task: str


@dataclass(frozen=True, slots=True)
class Count(_Filed):
    """Save what the reported models got right in each test example: a step of older runs, today part of `Test`."""

    FILE = "counts"


@dataclass(frozen=True, slots=True)
class MethodStep:
    """A step of one method of a study."""

    method: str
    step: Step

    @property
    def name(self) -> str:
        return f"{self.method}/{self.step.name}"


STEPS: tuple[Any, ...] = (
    TrainTogether,
    Train,
    Evaluate,
    Label,
    MeasureAgreement,
    WeighFriends,
    FindThresholds,
    Select,
    Tidy,
    Test,
    Count,
)


def parse_step(name: str) -> Step:
    """The step whose file has this name."""
    for kind in STEPS:
        pattern = re.sub(r"{(\w+)(:\w+)?}", lambda field: rf"(?P<{field[1]}>{_READ[field[1]]})", kind.FILE)
        if found := re.fullmatch(pattern, name):
            values = {key: value if key == "task" else int(value) for key, value in found.groupdict().items()}
            step: Step = kind(**values)
            return step
    return Prepare(name)


_READ = {"task": ".+", "iteration": r"\d+", "shard": r"\d+"}


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
